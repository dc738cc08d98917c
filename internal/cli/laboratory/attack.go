package laboratory

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dither/audit/attack"
	"dither/internal/cli/console"
)

// classical is an attack of `dither attack`: its flags besides --format, and its default numbers of people and
// runs.
type classical struct {
	name         string
	flags        []string
	people, runs int
	run          func(*console.Console, *attackOptions) error
}

// attacks returns the attacks in the order of the help text.
func attacks() []classical {
	return []classical{
		{"reconstruct", []string{
			"people", "questions", "noise", "epsilon", "runs", "seed", "fit", "plot", "table",
			"truth",
		}, 64, 40, attackReconstruct},
		{"difference", []string{
			"noise", "epsilon", "runs", "seed", "plot", "k", "table", "about", "sensitive",
			"example",
		}, 0, 1000, attackDifference},
		{"membership", []string{
			"people", "attributes", "noise", "epsilon", "runs", "seed", "plot", "table", "about",
			"reference",
		}, 100, 10, attackMembership},
		{"name-and-shame", []string{"people", "delta", "runs", "seed"}, 10_000, 1000, attackShame},
	}
}

// attackOptions are the values of the flags of all attacks.
type attackOptions struct {
	tables                              []string
	truth, about, reference, sensitive  string
	epsilon, noise, delta, k, fit, plot string
	people, questions, attributes, runs int
	seed                                uint64
	example                             bool
	given                               map[string]bool
}

// flags returns the flags of all attacks, without duplicates.
func (o *attackOptions) flags() []attackFlag {
	return []attackFlag{
		{&o.people, "people", "N", "the number of made-up people (default 64; membership 100; name-and-shame 10000)"},
		{&o.questions, "questions", "N", "the number of counts that are published (default 320)"},
		{&o.attributes, "attributes", "N", "the number of means that are published (default 1000)"},
		{&o.noise, "noise", "LIST", "the noise bounds of the curators without a privacy promise, such as 2,4,8"},
		{
			&o.epsilon, "epsilon", "E",
			"the ε that ours, the differentially private curator, divides over all its answers (default 1)",
		},
		{&o.delta, "delta", "LIST", "the δ of name-and-shame (default 1e-4,1e-6)"},
		{&o.runs, "runs", "N", "the number of simulations"},
		{
			&o.seed, "seed", "S",
			"the seed of people, questions, and the noise of curators without a promise (default 1); ours has " +
				"fresh noise",
		},
		{
			&o.fit, "fit", "NORM",
			"sum or max: minimise the sum of the absolute residuals, or the largest one, for noise with a known bound " +
				"(default sum)",
		},
		{
			&o.k, "k", "LIST",
			"simulate two k-anonymous tables, with k such as 2,5,10; with --table: the k that each table should have",
		},
		{
			func(file string) error { o.tables = append(o.tables, file); return nil },
			"table", "FILE", "attack this published CSV table instead of made-up people; for difference, repeat " +
				"the flag for each table",
		},
		{&o.truth, "truth", "FILE", "with --table: each person's true bit, to count how many guesses are right"},
		{
			&o.about,
			"about",
			"WHAT",
			"difference: what is known about the person, such as age=34,zip=48213; membership: a FILE of one person's " +
				"attributes",
		},
		{&o.sensitive, "sensitive", "COLUMN", "the column to infer"},
		{&o.reference, "reference", "FILE", "attributes of other people of the same population"},
		{&o.example, "example", "", "difference: attack two small tables of made-up hospitals"},
		{&o.plot, "plot", "FILE", "draw the result as FILE.svg or FILE.png"},
	}
}

// attackFlag is a flag of one or more attacks.
type attackFlag struct {
	into               any
	name, value, about string
}

// declare declares the flags of the given attacks.
func (o *attackOptions) declare(s *console.Console, attacks ...classical) {
	s.FormatFlag("table", "json", "markdown")
	for _, f := range o.flags() {
		if slices.ContainsFunc(attacks, func(a classical) bool { return slices.Contains(a.flags, f.name) }) {
			s.Flag(f.into, f.name, f.value, f.about)
		}
	}
}

func newAttackOptions(a classical) *attackOptions {
	return &attackOptions{
		people: a.people, runs: a.runs, questions: 320, attributes: 1000, seed: 1, epsilon: "1", fit: "sum",
		given: map[string]bool{},
	}
}

// Attack is the command `dither attack`.
var Attack = console.Verb{
	Name:  "attack",
	Args:  "reconstruct | difference | membership | name-and-shame",
	About: "run classical attacks on published statistics of made-up people, or on a published table, free",
	Run:   runAttack,
	More:  func(*console.Console) string { return attackHelp },
}

// runAttack runs a classical attack, on made-up people or on a published table. It reads no home.
func runAttack(s *console.Console, args []string) error {
	var names []string
	for _, a := range attacks() {
		names = append(names, a.name)
	}
	var o *attackOptions
	return s.Kinds("attack", names, args,
		func(kind int) {
			if kind < 0 {
				newAttackOptions(classical{}).declare(s, attacks()...)
				return
			}
			a := attacks()[kind]
			o = newAttackOptions(a)
			o.declare(s, a)
		},
		func(kind int) error {
			s.Flags.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
			if err := (&console.Picture{File: o.plot}).Check(s); err != nil {
				return err
			}
			return attackError(attacks()[kind].run(s, o))
		})
}

// attackError turns the library's errors about arguments and files into usage errors.
func attackError(err error) error {
	for _, named := range []error{attack.ErrParameter, attack.ErrTable} {
		if errors.Is(err, named) {
			return console.Usage("%s", strings.Replace(err.Error(), named.Error()+": ", "", 1))
		}
	}
	return err
}

// without returns an error if one of the flags is given. The text `why` is the rest of the message.
func (o *attackOptions) without(why string, flags ...string) error {
	for _, name := range flags {
		if o.given[name] {
			return console.Usage("%s %s", console.Dashed(name), why)
		}
	}
	return nil
}

// only returns an error if a flag is given that is not among flags. The text `why` is the rest of the message.
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

// readFile reads a file with a function of package attack, and adds the file's name to errors.
func readFile[T any](name string, read func(io.Reader) (T, error)) (out T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return out, console.Usage("%v", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if out, err = read(f); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return out, err
}

const attackHelp = `
The attacks on made-up people and simulated curators. One curator answers exactly. Some add the same noise to any number
of answers. One, called ours, divides an ε over all its answers. dither help attack ATTACK shows the flags of one attack.

  reconstruct      a secret bit of each person, from counts of random groups
  difference       one person's secret, from two counts; or, with -k or --table, from two k-anonymous tables
  membership       who is in a group, from the means of many attributes
  name-and-shame   what is possible if δ is not far below 1/(number of people)

Attacks on published data:

  dither attack reconstruct --table answers.csv --truth truth.csv
  dither attack difference --table east.csv --table west.csv --about age=34,zip=48213 --sensitive disease
  dither attack membership --table means.csv --about person.csv --reference others.csv
`
