package cli

import (
	"flag"
	"slices"

	"dither/account"
	"dither/audit/interpret"
	"dither/privacy"
)

// runInterpret says what a promise means to people. It reads no home: it spends nothing.
func runInterpret(s *session, args []string) error {
	s.formatFlag()
	epsilon := s.flags.String("epsilon", "", "")
	delta := s.flags.String("delta", "0", "")
	prior := s.flags.String("prior", "0.01", "")
	alpha := s.flags.String("alpha", "0.05", "")
	group := s.flags.String("group", "4", "")
	people := s.flags.String("n", "10000", "")
	neighbours := s.flags.String("neighbours", "", "")
	example := s.flags.String("example", "", "")
	picture := s.flags.String("plot", "", "")
	specs, helped, err := s.parse(args)
	switch {
	case helped:
		return nil
	case !slices.Contains([]string{"table", "json", "markdown"}, s.format):
		return usage("interpret --format is table, json or markdown, not %q", s.format)
	case err != nil:
		return err
	case *example != "":
		return s.interpretExample(*example, *epsilon, specs, *picture)
	case *picture != "":
		return usage("--plot goes with --example smoking")
	case (*epsilon == "") == (len(specs) == 0):
		return usage("interpret --epsilon E [--delta D], or a job as account takes it: interpret \"gaussian sigma=1\"; one of them")
	}
	i := interpreted{typed: map[string]string{"prior": *prior, "alpha": *alpha, "delta": *delta}}
	s.flags.Visit(func(f *flag.Flag) { i.counted = i.counted || f.Name == "n" })
	var where interpret.Scenario
	if where.Prior, err = numberFlag("prior", *prior); err != nil {
		return err
	}
	if where.Alpha, err = numberFlag("alpha", *alpha); err != nil {
		return err
	}
	if where.Group, err = wholeFlag("group", *group, 1, account.MostSteps); err != nil {
		return err
	}
	if where.People, err = wholeFlag("n", *people, 1, account.MostSteps); err != nil {
		return err
	}
	if i.delta, err = deltaFlag(*delta); err != nil {
		return err
	}
	if *neighbours != "" {
		if where.Neighbours, err = privacy.ParseNeighbours(*neighbours); err != nil {
			return usage("--%v", err)
		}
	}
	if *epsilon != "" {
		e, err := anyEpsilon(*epsilon)
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
