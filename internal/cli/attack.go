package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"dither/audit/attack"
	"dither/internal/nearest"
	"dither/internal/plot"
	"dither/privacy"
)

// classical is an attack that `dither attack` runs, with the flags that it takes besides --format, and the default number of people and of
// runs.
type classical struct {
	name         string
	flags        []string
	people, runs int
	run          func(*session, *attackOptions) error
}

// attacks lists them in the order of help.
func attacks() []classical {
	return []classical{
		{"reconstruct", []string{"people", "questions", "noise", "epsilon", "runs", "seed", "fit", "plot", "table", "truth"}, 64, 40, (*session).attackReconstruct},
		{"difference", []string{"noise", "epsilon", "runs", "seed", "plot", "k", "table", "about", "sensitive", "example"}, 0, 1000, (*session).attackDifference},
		{"membership", []string{"people", "attributes", "noise", "epsilon", "runs", "seed", "plot", "table", "about", "reference"}, 100, 10, (*session).attackMembership},
		{"name-and-shame", []string{"people", "delta", "runs", "seed"}, 10_000, 1000, (*session).attackShame},
	}
}

// attackOptions are the flags.
type attackOptions struct {
	tables                              []string
	truth, about, reference, sensitive  string
	epsilon, noise, delta, k, fit, plot string
	people, questions, attributes, runs int
	seed                                uint64
	example                             bool
	given                               map[string]bool
}

// declare declares one flag.
func (o *attackOptions) declare(f *flag.FlagSet, name string) {
	switch name {
	case "table":
		f.Func(name, "", func(file string) error { o.tables = append(o.tables, file); return nil })
	case "people":
		f.IntVar(&o.people, name, o.people, "")
	case "questions":
		f.IntVar(&o.questions, name, 320, "")
	case "attributes":
		f.IntVar(&o.attributes, name, 1000, "")
	case "runs":
		f.IntVar(&o.runs, name, o.runs, "")
	case "seed":
		f.Uint64Var(&o.seed, name, 1, "")
	case "example":
		f.BoolVar(&o.example, name, false, "")
	case "epsilon":
		f.StringVar(&o.epsilon, name, "1", "")
	case "fit":
		f.StringVar(&o.fit, name, "sum", "")
	default:
		f.StringVar(map[string]*string{
			"truth": &o.truth, "about": &o.about, "reference": &o.reference, "sensitive": &o.sensitive, "noise": &o.noise, "delta": &o.delta,
			"k": &o.k, "plot": &o.plot,
		}[name], name, "", "")
	}
}

// runAttack runs a classical attack, on made-up people or on a published table. It reads no home.
func runAttack(s *session, args []string) error {
	s.formatFlag()
	var names []string
	for _, a := range attacks() {
		names = append(names, a.name)
	}
	// The attack is the first argument; its flags depend on it.
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		at := slices.Index(names, args[0])
		if at < 0 {
			return usage("there is no attack %q%s; there are %s", args[0], didYouMean(nearest.Name(args[0], names)), strings.Join(names, ", "))
		}
		a := attacks()[at]
		o := &attackOptions{people: a.people, runs: a.runs, given: map[string]bool{}}
		for _, name := range a.flags {
			o.declare(s.flags, name)
		}
		rest, helped, err := s.parse(args[1:])
		if err != nil || helped {
			return err
		}
		s.flags.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
		switch {
		case len(rest) > 0:
			return usage("attack %s takes flags alone, not %q", a.name, rest[0])
		case s.format == "csv":
			return usage("attack --format is table, json or markdown")
		}
		if err := (&pictures{file: o.plot}).check(s); err != nil {
			return err
		}
		return attackError(a.run(s, o))
	}
	o := &attackOptions{}
	for _, a := range attacks() { // help and completion know all flags
		for _, name := range a.flags {
			if s.flags.Lookup(name) == nil {
				o.declare(s.flags, name)
			}
		}
	}
	if _, helped, err := s.parse(args); err != nil || helped {
		return err
	}
	return usage("attack is followed by %s", strings.Join(names, ", "))
}

// attackError makes what the library finds wrong with the arguments and the files a usage error.
func attackError(err error) error {
	for _, named := range []error{attack.ErrParameter, attack.ErrTable} {
		if errors.Is(err, named) {
			return usage("%s", strings.Replace(err.Error(), named.Error()+": ", "", 1))
		}
	}
	return err
}

// without refuses flags that do not go with what was asked for.
func (o *attackOptions) without(why string, flags ...string) error {
	for _, name := range flags {
		if o.given[name] {
			return usage("%s does not go with %s", dashed(name), why)
		}
	}
	return nil
}

// only refuses all flags but these.
func (o *attackOptions) only(why string, flags ...string) error {
	for _, a := range attacks() {
		for _, name := range a.flags {
			if !slices.Contains(flags, name) {
				if err := o.without(why, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readFile reads a file by a function of the library, whose errors are told with its name.
func readFile[T any](name string, read func(io.Reader) (T, error)) (out T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return out, usage("%v", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if out, err = read(f); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return out, err
}

// simulated is a curator with how the tables name it.
type simulated struct {
	attack.Curator
	name    string
	epsilon privacy.Epsilon // of ours, else 0
}

// mostBounds leaves room in a picture for the exact curator, ours, and a bound.
const mostBounds = plot.MaxSeries - 3

// curators are the simulated ones: exact, with fixed noise of such bounds (or those that --noise says), and ours.
func (o *attackOptions) curators(bounds ...float64) ([]simulated, error) {
	if o.noise != "" {
		bounds = nil
		for text := range strings.SplitSeq(o.noise, ",") {
			b, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return nil, usage("--noise is a list of bounds, as 2,4,8, not %q", o.noise)
			}
			bounds = append(bounds, b)
		}
		if len(bounds) > mostBounds {
			return nil, usage("--noise takes at most %d bounds", mostBounds)
		}
	}
	out := []simulated{{Curator: attack.Truthful(), name: "exact"}}
	for _, b := range bounds {
		c, err := attack.Bounded(b)
		if err != nil {
			return nil, usage("--noise: each bound is above 0 and at most 1e9, not %g", b)
		}
		out = append(out, simulated{Curator: c, name: "noise within ±" + strconv.FormatFloat(b, 'g', 4, 64)})
	}
	e, err := epsilonFlag(o.epsilon)
	if err != nil {
		return nil, err
	}
	c, err := attack.Ours(e)
	return append(out, simulated{Curator: c, name: "ours, ε = " + given(e.Rat()) + " in all", epsilon: e}), err
}

// described is a curator in JSON.
type described struct {
	Curator string   `json:"curator"`
	Noise   *float64 `json:"noise"`
	Epsilon *float64 `json:"epsilon"`
}

func (c simulated) described() described {
	d := described{Curator: "exact"}
	if bound, ok := c.Noise(); ok {
		d.Curator, d.Noise = "bounded", &bound
	}
	if !c.epsilon.IsZero() {
		f, _ := c.epsilon.Rat().Float64()
		d.Curator, d.Epsilon = "ours", &f
	}
	return d
}

// attackReport is what an attack shows.
type attackReport struct {
	intro, words string
	header       []string
	right        []bool
	rows         [][]string
	value        any // as JSON
	picture      func() (plot.Lines, error)
}

// MarshalJSON writes the value.
func (r attackReport) MarshalJSON() ([]byte, error) { return json.Marshal(r.value) }

// showAttack prints a report, and draws its picture.
func (s *session) showAttack(o *attackOptions, r attackReport) error {
	switch s.format {
	case "json":
		if err := s.json(r); err != nil {
			return err
		}
	case "markdown":
		s.print("%s\n\n%s\n%s\n", markdownParagraphs(printableLines(r.intro)), markdownTable(r.header, r.right, r.rows), markdownParagraphs(printableLines(r.words)))
	default:
		g := grid{right: r.right}
		g.add(r.header...)
		for _, row := range r.rows {
			g.add(row...)
		}
		s.print("%s\n\n%s\n%s\n", printableLines(r.intro), g.text("  "), printableLines(r.words))
	}
	if o.plot == "" {
		return nil
	}
	lines, err := r.picture()
	if err != nil {
		return err
	}
	format, _ := plotFormat(o.plot)
	if err := replaceFile(o.plot, func(w io.Writer) error { return plot.WriteLines(w, format, lines) }); err != nil {
		return fmt.Errorf("the picture could not be written: %w", err)
	}
	return nil
}

// share writes a share in per cent, with one decimal.
func share(x float64) string {
	if x == 0 || x == 1 {
		return strconv.FormatFloat(100*x, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
}

// mostShare writes a bound on a share, rounded up.
func mostShare(x float64) string { return share(math.Min(1, math.Ceil(x*1000*(1+1e-15))/1000)) }

func persons(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}
