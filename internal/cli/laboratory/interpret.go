package laboratory

import (
	"flag"
	"slices"

	"dither/account"
	"dither/audit/interpret"
	"dither/internal/cli/console"
	"dither/privacy"
)

// interpretFlags are the values of the flags of `dither interpret`, as text.
type interpretFlags struct {
	epsilon, delta, prior, alpha, group, people, neighbours, example, picture string
}

func (f *interpretFlags) declare(s *console.Console) {
	s.FormatFlag("table", "json", "markdown")
	s.Flag(&f.epsilon, "epsilon", "E", "the ε that is promised; for the example's study, from 0.1 to 5 (default 0.5)")
	s.Flag(&f.delta, "delta", "D", "the δ that is promised; for a job, the δ at which its ε is reported (default 0)")
	s.Flag(&f.prior, "prior", "P", "an attacker's belief before the answer, as a probability (default 0.01)")
	s.Flag(&f.alpha, "alpha", "A", "the level of an attacker's test: its rate of false alarms (default 0.05)")
	s.Flag(&f.group, "group", "K", "the number of people who share a secret, such as a family (default 4)")
	s.Flag(&f.people, "n", "N", "the number of people in the data (default 10000)")
	s.Flag(&f.neighbours, "neighbours", "N",
		"add-remove or change-one: the neighbouring datasets of the promise (default add-remove, or what a job "+
			"needs)")
	s.Flag(&f.example, "example", "NAME", "a worked example: smoking")
	s.Flag(&f.picture, "plot", "FILE", "with --example: draw the beliefs as FILE.svg or FILE.png")
}

// scenario parses the flags that describe the attacker's situation.
func (f *interpretFlags) scenario() (where interpret.Scenario, err error) {
	if where.Prior, err = console.NumberFlag("prior", f.prior); err != nil {
		return where, err
	}
	if where.Alpha, err = console.NumberFlag("alpha", f.alpha); err != nil {
		return where, err
	}
	if where.Group, err = console.WholeFlag("group", f.group, 1, account.MostSteps); err != nil {
		return where, err
	}
	if where.People, err = console.WholeFlag("n", f.people, 1, account.MostSteps); err != nil {
		return where, err
	}
	if f.neighbours != "" {
		if where.Neighbours, err = privacy.ParseNeighbours(f.neighbours); err != nil {
			return where, console.Usage("--%v", err)
		}
	}
	return where, nil
}

// Interpret is the command `dither interpret`.
var Interpret = console.Verb{
	Name:  "interpret",
	Args:  "--epsilon E [--delta D] | [--delta D] MECHANISM … | --example smoking",
	About: "show what a promise means to people: beliefs, tests, groups, free",
	Run:   runInterpret,
	More:  func(*console.Console) string { return mechanismsHelp("interpret") },
}

// runInterpret explains what a promise means for people. It reads no home and spends nothing.
func runInterpret(s *console.Console, args []string) error {
	f := interpretFlags{delta: "0", prior: "0.01", alpha: "0.05", group: "4", people: "10000"}
	f.declare(s)
	specs, helped, err := s.Parse(args)
	switch {
	case helped || err != nil:
		return err
	case f.example != "":
		return interpretExample(s, f.example, f.epsilon, specs, f.picture)
	case f.picture != "":
		return console.Usage("--plot needs --example smoking")
	case (f.epsilon == "") == (len(specs) == 0):
		return console.Usage(
			"interpret needs either --epsilon E [--delta D], or a job as for dither account: " +
				"interpret \"gaussian sigma=1\"")
	}
	i := interpreted{typed: map[string]string{"prior": f.prior, "alpha": f.alpha, "delta": f.delta}}
	s.Flags.Visit(func(f *flag.Flag) { i.counted = i.counted || f.Name == "n" })
	where, err := f.scenario()
	if err != nil {
		return err
	}
	if i.delta, err = console.DeltaFlag(f.delta); err != nil {
		return err
	}
	if f.epsilon != "" {
		e, err := anyEpsilon(f.epsilon)
		if err != nil {
			return err
		}
		i.Meaning, err = interpret.MeaningOf(account.Approximate{Epsilon: e, Delta: i.delta}, where)
		if err != nil {
			return console.Usage("%s", console.AccountWords(err))
		}
		return showInterpreted(s, i)
	}
	if _, err := jobOf(specs); err != nil { // jobOf gives better error messages than MeaningOfJob
		return err
	}
	i.job = true
	if console.Obeys(s.Stderr) {
		defer console.Spin(s.Stderr, "reading the job")()
	}
	if i.Meaning, err = interpret.MeaningOfJob(specs, i.delta, where); err != nil {
		return console.Usage("%s", console.AccountWords(err))
	}
	return showInterpreted(s, i)
}

// anyEpsilon parses an ε of any size, because the meaning of 0 and of a far too large ε are valid questions too.
func anyEpsilon(text string) (privacy.Epsilon, error) {
	r, err := console.NumberFlag("epsilon", text)
	if err != nil {
		return privacy.Epsilon{}, err
	}
	if r.Sign() < 0 {
		return privacy.Epsilon{}, console.Usage("--epsilon must be at least 0")
	}
	return privacy.EpsilonOf(r)
}

// strayFlag returns the name of a given flag that is not among the allowed ones, or "".
func strayFlag(flags *flag.FlagSet, allowed ...string) (other string) {
	flags.Visit(func(f *flag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			other = f.Name
		}
	})
	return other
}
