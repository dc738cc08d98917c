package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dither/audit/attack"
	"dither/internal/nearest"
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
