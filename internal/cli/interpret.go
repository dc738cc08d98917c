package cli

import (
	"flag"
	"slices"

	"dither/account"
	"dither/audit/interpret"
	"dither/privacy"
)

// interpretFlags are the flags of interpret, as text.
type interpretFlags struct {
	epsilon, delta, prior, alpha, group, people, neighbours, example, picture string
}

func (f *interpretFlags) declare(s *session) {
	s.formatFlag("table", "json", "markdown")
	s.flag(&f.epsilon, "epsilon", "E", "the ε that is promised; of the example's study, from 0.1 to 5 (default 0.5)")
	s.flag(&f.delta, "delta", "D", "the δ that is promised; of a job, the one at which its ε is told (default 0)")
	s.flag(&f.prior, "prior", "P", "what an attacker believes beforehand (default 0.01)")
	s.flag(&f.alpha, "alpha", "A", "the level of an attacker's test: its rate of false alarms (default 0.05)")
	s.flag(&f.group, "group", "K", "how many people share a secret, as a family (default 4)")
	s.flag(&f.people, "n", "N", "how many people the data are of (default 10000)")
	s.flag(&f.neighbours, "neighbours", "N",
		"add-remove or change-one: what the promise holds between (default add-remove, or what a job needs)")
	s.flag(&f.example, "example", "NAME", "a worked example: smoking")
	s.flag(&f.picture, "plot", "FILE", "with --example: draw the beliefs as FILE.svg or FILE.png")
}

// scenario reads the flags that say what an attacker is up against.
func (f *interpretFlags) scenario() (where interpret.Scenario, err error) {
	if where.Prior, err = numberFlag("prior", f.prior); err != nil {
		return where, err
	}
	if where.Alpha, err = numberFlag("alpha", f.alpha); err != nil {
		return where, err
	}
	if where.Group, err = wholeFlag("group", f.group, 1, account.MostSteps); err != nil {
		return where, err
	}
	if where.People, err = wholeFlag("n", f.people, 1, account.MostSteps); err != nil {
		return where, err
	}
	if f.neighbours != "" {
		if where.Neighbours, err = privacy.ParseNeighbours(f.neighbours); err != nil {
			return where, usage("--%v", err)
		}
	}
	return where, nil
}

// interpretVerb is `dither interpret`.
var interpretVerb = verb{
	name:  "interpret",
	args:  "--epsilon E [--delta D] | [--delta D] MECHANISM … | --example smoking",
	about: "what a promise means to people: beliefs, tests, groups, free",
	run:   runInterpret,
	more:  func(*session) string { return mechanismsHelp("interpret") },
}

// runInterpret says what a promise means to people. It reads no home: it spends nothing.
func runInterpret(s *session, args []string) error {
	f := interpretFlags{delta: "0", prior: "0.01", alpha: "0.05", group: "4", people: "10000"}
	f.declare(s)
	specs, helped, err := s.parse(args)
	switch {
	case helped || err != nil:
		return err
	case f.example != "":
		return s.interpretExample(f.example, f.epsilon, specs, f.picture)
	case f.picture != "":
		return usage("--plot goes with --example smoking")
	case (f.epsilon == "") == (len(specs) == 0):
		return usage("interpret --epsilon E [--delta D], or a job as account takes it: interpret \"gaussian sigma=1\"; one of them")
	}
	i := interpreted{typed: map[string]string{"prior": f.prior, "alpha": f.alpha, "delta": f.delta}}
	s.flags.Visit(func(f *flag.Flag) { i.counted = i.counted || f.Name == "n" })
	where, err := f.scenario()
	if err != nil {
		return err
	}
	if i.delta, err = deltaFlag(f.delta); err != nil {
		return err
	}
	if f.epsilon != "" {
		e, err := anyEpsilon(f.epsilon)
		if err != nil {
			return err
		}
		i.Meaning, err = interpret.MeaningOf(account.Approximate{Epsilon: e, Delta: i.delta}, where)
		if err != nil {
			return usage("%s", plainly(err))
		}
		return s.showInterpreted(i)
	}
	if _, err := jobOf(specs); err != nil { // which says best what is wrong with a spec
		return err
	}
	i.job = true
	if obeys(s.stderr) {
		defer spin(s.stderr, "reading the job")()
	}
	if i.Meaning, err = interpret.MeaningOfJob(specs, i.delta, where); err != nil {
		return usage("%s", plainly(err))
	}
	return s.showInterpreted(i)
}

// anyEpsilon reads an ε of any size: what 0 and what a far too large one mean is a question too.
func anyEpsilon(text string) (privacy.Epsilon, error) {
	r, err := numberFlag("epsilon", text)
	if err != nil {
		return privacy.Epsilon{}, err
	}
	if r.Sign() < 0 {
		return privacy.Epsilon{}, usage("--epsilon must be at least 0")
	}
	return privacy.EpsilonOf(r)
}

// strayFlag is a flag that was given and is not among those allowed, or "".
func strayFlag(flags *flag.FlagSet, allowed ...string) (other string) {
	flags.Visit(func(f *flag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			other = f.Name
		}
	})
	return other
}
