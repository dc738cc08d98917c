// Package survey contains the commands of the local model, in which people randomize their own values.
package survey

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/nearest"
	"dither/local"
	"dither/local/mean"
	"dither/privacy"
)

// Local is the command `dither local`.
var Local = console.Verb{
	Name:  "local",
	Args:  "randomize | estimate | variance | compare | simulate",
	About: "let people randomize their own values, and estimate from their reports, without a trusted curator",
	Run:   runLocal,
	More:  func(*console.Console) string { return localHelp() },
}

// options are the values of the flags of all subcommands.
type options struct {
	mechanism, epsilon, domain, in, out, seed string // of most
	bounds, at, k, n, frequency               string // variance
	delta, bits, plot                         string // compare
	confidence, runs, rounds, shape           string // estimate, simulate
	first, positions, devices                 string // randomize
	with                                      []string
	column                                    []string // randomize, estimate
	tables                                    string   // randomize
	batch, top, bins, quantiles               string   // estimate
	consistent, assigned                      bool
}

// task is a subcommand with its flags besides --format.
type task struct {
	name    string
	formats []string
	flags   []string
	run     func(*console.Console, *options) error
}

func tasks() []task {
	return []task{
		{
			"randomize",
			[]string{"table", "json"},
			[]string{
				"mechanism", "epsilon", "domain", "bits", "bounds", "bins", "seed", "first", "positions", "devices", "column",
				"tables", "in", "out",
			},
			randomize,
		},
		{
			"estimate", console.AnyFormat,
			[]string{
				"mechanism", "epsilon", "domain", "bounds", "seed", "in", "with", "assigned", "confidence", "consistent",
				"batch", "delta", "top", "quantiles", "column",
			},
			estimate,
		},
		{
			"variance",
			[]string{"table", "json"},
			[]string{"mechanism", "k", "epsilon", "n", "frequency", "first", "positions", "bounds", "at"},
			variance,
		},
		{
			"compare",
			[]string{"table", "json", "csv", "markdown"},
			[]string{"mechanism", "k", "epsilon", "n", "first", "positions", "delta", "bits", "plot"},
			compare,
		},
		{
			"simulate",
			[]string{"table", "json", "csv", "markdown"},
			[]string{"mechanism", "k", "epsilon", "n", "first", "positions", "rounds", "bins", "top", "runs", "shape", "confidence"},
			simulate,
		},
	}
}

// declare declares the named flags.
func (o *options) declare(s *console.Console, formats, names []string) {
	s.FormatFlag(formats...)
	for _, name := range names {
		switch name {
		case "mechanism":
			s.Flag(
				&o.mechanism,
				name,
				"NAME",
				"the randomizer, or best (see below); simulate takes a list with commas",
			)
		case "epsilon":
			s.Flag(&o.epsilon, name, "E", "the ε of one report; compare takes a list with commas (default there 1)")
		case "domain":
			s.Flag(
				&o.domain,
				name,
				"FILE|K",
				"the values: a FILE with one on each line, or K for the numbers 0 to K − 1",
			)
		case "bounds":
			s.Flag(
				&o.bounds,
				name,
				"LO,HI",
				"the values are numbers, clamped to these bounds, and the estimate is their mean",
			)
		case "column":
			s.Flag(&o.column, name, "NAME=…",
				"a column of a CSV file, with its values (FILE or K) or its bounds (LO,HI); may be repeated")
		case "tables":
			s.Flag(&o.tables, name, "A*B,…", "with --column: the tables of counts over the columns (default: each pair of columns)")
		case "at":
			s.Flag(
				&o.at,
				name,
				"X",
				"with --bounds: the number of all people (default: the one with the most variance)",
			)
		case "in":
			s.Flag(
				&o.in,
				name,
				"FILE|-",
				"the file with one value or report on each line; - is standard input (default -)",
			)
		case "out":
			s.Flag(&o.out, name, "FILE|-", "the file for the reports; - is standard output (default -)")
		case "seed":
			s.Flag(
				&o.seed,
				name,
				"S",
				"selects the public hash functions of flh, cms and hcms (default 0); it protects nobody",
			)
		case "k":
			s.Flag(&o.k, name, "K", "the number of values")
		case "n":
			s.Flag(&o.n, name, "N", "the number of people; compare takes a list with commas")
		case "frequency":
			s.Flag(&o.frequency, name, "F", "the share of people who have the value (default 0)")
		case "confidence":
			s.ConfidenceFlag(&o.confidence)
		case "consistent":
			s.Flag(
				&o.consistent,
				name,
				"",
				"move the estimates to the nearest counts that are not negative and sum up to n",
			)
		case "first":
			s.Flag(&o.first, name, "E", "with loloha: the ε of one report (default: half of --epsilon)")
		case "positions":
			s.Flag(&o.positions, name, "D", "with dbit: the number of positions of a device (default 1)")
		case "devices":
			s.Flag(&o.devices, name, "FILE", "with rappor, loloha and dbit: the file that keeps the memory of each line's device")
		case "with":
			s.Flag(&o.with, name, "FILE", "a further file of reports about the same values; may be repeated")
		case "assigned":
			s.Flag(&o.assigned, name, "",
				"with --with: people were assigned to the files at random, and did not choose their ε; pool the frequencies")
		case "batch":
			s.Flag(&o.batch, name, "N",
				"a separate shuffler forwarded batches with at least N honest reports: certify the ε after it")
		case "top":
			s.Flag(&o.top, name, "T", "with prefix: the number of values to find (default 10)")
		case "bins":
			s.Flag(&o.bins, name, "B", "with tree: the number of bins between the bounds (default 64)")
		case "quantiles":
			s.Flag(&o.quantiles, name, "P,…", "with tree: the ranks of the quantiles (default 0.25,0.5,0.75)")
		case "delta":
			s.Flag(&o.delta, name, "D", "the δ of shuffled reports (default 1e-6)")
		case "bits":
			s.Flag(&o.bits, name, "B", "the largest size of a report, in bits (default: any); randomize needs --mechanism best")
		case "plot":
			s.Flag(&o.plot, name, "FILE", "draw the errors against n as FILE.svg or FILE.png")
		case "runs":
			s.Flag(&o.runs, name, "R", "the number of simulated surveys (default 10)")
		case "rounds":
			s.Flag(&o.rounds, name, "R", "with rappor, loloha and dbit: the number of reports of each device (default 1)")
		case "shape":
			s.Flag(&o.shape, name, "SHAPE", "the made-up frequencies: zipf (1/rank), uniform or one (default zipf)")
		}
	}
}

// runLocal runs a subcommand. It reads no home and spends nothing.
func runLocal(s *console.Console, args []string) error {
	var names []string
	for _, t := range tasks() {
		names = append(names, t.name)
	}
	o := &options{
		confidence: "0.95",
		runs:       "10",
		rounds:     "1",
		shape:      "zipf",
		frequency:  "0",
		delta:      "1e-6",
		seed:       "0",
		in:         "-",
		out:        "-",
		top:        "10",
		bins:       "64",
		quantiles:  "0.25,0.5,0.75",
	}
	return s.Kinds("local", names, args,
		func(kind int) {
			if kind >= 0 {
				o.declare(s, tasks()[kind].formats, tasks()[kind].flags)
				return
			}
			var all []string
			for _, t := range tasks() {
				for _, f := range t.flags {
					if !strings.Contains(" "+strings.Join(all, " ")+" ", " "+f+" ") {
						all = append(all, f)
					}
				}
			}
			o.declare(s, console.AnyFormat, all)
		},
		func(kind int) error { return localError(tasks()[kind].run(s, o)) })
}

// localError turns the library's errors about arguments and files into usage errors.
func localError(err error) error {
	for _, named := range []error{local.ErrParameter, local.ErrFile, local.ErrWork, local.ErrValue, mean.ErrParameter} {
		if errors.Is(err, named) && !errors.Is(err, console.ErrUsage) {
			return console.Usage("%s", strings.Replace(err.Error(), named.Error()+": ", "", 1))
		}
	}
	return err
}

// oracleOf returns the oracle of the flags --mechanism and --epsilon for k values. For "best", it chooses for n
// reports, and says its choice on stderr.
func (o *options) oracleOf(s *console.Console, mechanism string, k uint64, n int64) (*local.Oracle, error) {
	e, err := o.epsilonOf(mechanism)
	if err != nil {
		return nil, err
	}
	bits, err := o.mostBits()
	if err != nil {
		return nil, err
	}
	if mechanism == "best" {
		best, _, err := local.Choose(k, e, n, bits)
		if err != nil {
			return nil, err
		}
		name := best.Params().Mechanism
		s.Note("best for %s values, ε = %s and %s reports: %s (%s), %s a report\n", render.ShortInt(int64(k)), e,
			render.ShortInt(n), name, local.About(name), render.Plural(best.Bits(), "bit"))
		return best, nil
	}
	if err := known(mechanism); err != nil {
		return nil, err
	}
	if bits > 0 {
		return nil, console.Usage("--bits is for --mechanism best, which chooses a mechanism with such reports")
	}
	seed, err := console.WholeFlag("seed", o.seed, 0, 1<<62)
	if err != nil {
		return nil, err
	}
	p := local.Params{Mechanism: mechanism, Values: k, Epsilon: e, Seed: uint64(seed)}
	if err := o.memoised(&p); err != nil {
		return nil, err
	}
	return local.New(p)
}

// mostBits parses --bits. It returns 0 for any size.
func (o *options) mostBits() (int, error) {
	if o.bits == "" {
		return 0, nil
	}
	bits, err := console.WholeFlag("bits", o.bits, 1, 1<<40)
	return int(bits), err
}

// memoised parses --first and --positions.
func (o *options) memoised(p *local.Params) (err error) {
	for flag, of := range map[string][2]string{"first": {o.first, "loloha"}, "positions": {o.positions, "dbit"}} {
		if of[0] != "" && !slices.Contains(strings.Split(o.mechanism, ","), of[1]) {
			return console.Usage("--%s is for --mechanism %s", flag, of[1])
		}
	}
	if o.first != "" && p.Mechanism == "loloha" {
		if p.First, err = console.EpsilonFlag(o.first); err != nil {
			return err
		}
	}
	if o.positions != "" && p.Mechanism == "dbit" {
		d, err := console.WholeFlag("positions", o.positions, 1, 1<<12)
		if err != nil {
			return err
		}
		p.Positions = uint64(d)
	}
	return nil
}

// epsilonOf parses --epsilon, which "coin" does not need.
func (o *options) epsilonOf(mechanism string) (e privacy.Epsilon, err error) {
	if mechanism == "coin" {
		if o.epsilon != "" {
			return e, console.Usage("coin has ε = ln 3: leave --epsilon out")
		}
		return e, nil
	}
	if o.epsilon == "" {
		return e, console.Usage("--epsilon is missing: the ε of one report, such as --epsilon 1")
	}
	return console.EpsilonFlag(o.epsilon)
}

// known returns an error unless there is a mechanism of this name.
func known(mechanism string) error {
	switch {
	case mechanism == "":
		return console.Usage("--mechanism is missing: %s", strings.Join(local.Mechanisms(), ", "))
	case slices.Contains(mean.Mechanisms, mean.Mechanism(mechanism)):
		return console.Usage("%s is for numbers: this command takes the mechanisms of values", mechanism)
	case mechanism == marginals:
		return console.Usage("%s is for several columns of a CSV file: --column NAME=FILE for each", mechanism)
	case mechanism == prefix || mechanism == tree:
		return console.Usage("%s is for randomize, estimate, and simulate and compare with it alone: this command takes the mechanisms of values", mechanism)
	case local.About(mechanism) == "":
		return console.Usage("there is no mechanism %q%s", mechanism,
			console.DidYouMean(nearest.Name(mechanism, local.Mechanisms())))
	}
	return nil
}

// peopleOf parses a number of people.
func peopleOf(text string) (int64, error) {
	if text == "" {
		return 0, console.Usage("--n is missing: the number of people")
	}
	return console.WholeFlag("n", text, 1, local.MostReports)
}

// valuesOf parses --k.
func (o *options) valuesOf() (uint64, error) {
	if o.k == "" {
		return 0, console.Usage("--k is missing: the number of values")
	}
	k, err := console.WholeFlag("k", o.k, 2, local.MaxHashedValues)
	return uint64(k), err
}

func localHelp() string {
	var g render.Grid
	for _, name := range local.Mechanisms() {
		g.Add("  "+name, local.About(name))
	}
	return fmt.Sprintf(`
Each person sends a report, which is ε-differentially private by itself. randomize makes the reports of a column,
estimate counts from them, variance and simulate state the error, and compare sets it beside that of a trusted curator.

Mechanisms, or best for the one with the least error:

%s
and for means of numbers, with --bounds: duchi, piecewise, hybrid, or best. tree, with --bounds, is for quantiles of
numbers. prefix finds the most frequent of up to 2^60 values. marginals, with several --column, counts combinations of
values of several columns. With several --column of numbers, the estimate is the mean of each.

  dither local randomize --mechanism krr --epsilon 1 --domain colours.txt --in answers.txt --out reports.txt
  dither local estimate --domain colours.txt --in reports.txt
  dither local estimate --domain colours.txt --in first.txt --with second.txt --assigned
  dither local randomize --mechanism marginals --epsilon 2 --column sex=sex.txt --column age=5 --in people.csv --out reports.txt
  dither local compare --k 10 --epsilon 0.5,1,2 --n 1e4,1e6
`, g.Text("   "))
}
