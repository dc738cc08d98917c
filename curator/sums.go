package curator

import (
	"errors"
	"slices"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/reuse"
)

// asReleased returns a planned question with its sums measured in another way (plan.Sums), if earlier releases answer it
// so, and do not answer it as it is planned. So two kinds of releases keep answering:
//
//   - those of SUM(x) beside AVG(x) that measured the sum by itself, as every release did before they shared measures;
//   - those of AVG(x), whose sum and count determine SUM(x).
//
// It reads plans and the ledger. So it depends on no row.
func (c *Session) asReleased(a *asked) (*asked, error) {
	if a.Fresh || a.priced != "" || a.sums != plan.SumsBeside {
		return a, nil
	}
	ways, err := c.otherSums(a)
	if len(ways) == 0 || err != nil {
		return a, err
	}
	if free, err := c.answered(a); free || err != nil {
		return a, err
	}
	for _, way := range ways {
		q := a.Question
		q.sums = way
		other, err := c.askUnder(a.policy, q, recalledAs)
		if err != nil || other.plan.Caps != a.plan.Caps { // other rows of a unit would count
			continue
		}
		before, from, err := c.before(other)
		if err != nil {
			return nil, err
		}
		free := (before || from) && (way != plan.SumsCentred || !a.namesPrice() || asExact(other, from, a))
		if other.derived.Forget(); free {
			return other, nil
		}
	}
	return a, nil
}

// asExact reports whether the sums of an answer that is free are at least as exact as those that a question pays for. given
// says whether earlier releases determine the answer, which is a release of its own otherwise. Each of two measures may be
// as exact as a measure of it at half the price, and their sum less exact than one at the whole price.
func asExact(free *asked, given bool, a *asked) bool {
	return a.plan.Sets == nil && !slices.ContainsFunc(a.plan.Outputs, func(o plan.Output) bool {
		if a.derived.Terms(o) == nil {
			return false
		}
		f := free.derived.Forecast(o, a.alpha, 0)
		if given {
			f = free.derived.ForecastGiven(o, a.alpha)
		}
		return f.StdDev > a.derived.Forecast(o, a.alpha, 0).StdDev
	})
}

// otherSums returns the other ways to measure the question's sums in which some earlier release may have measured them.
func (c *Session) otherSums(a *asked) (ways []plan.Sums, err error) {
	apart, centred := reuse.ApartMarks(a.plan), reuse.CentredMarks(a.plan)
	if len(apart)+len(centred) == 0 {
		return nil, nil
	}
	sources, digest := a.look.Sources(), c.policy.Digest()
	measured := func(of *ledger.About, marks []string) bool {
		return slices.ContainsFunc(of.Subject.Measures, func(m string) bool { return slices.Contains(marks, m) })
	}
	old, average := false, false
	_, err = c.ledger.Answers(func(of *ledger.About) bool {
		if of.Policy == digest && slices.Equal(of.Sources, sources) {
			// releases from which nothing follows have no marks of their measures
			unmarked := of.Subject == nil || len(of.Subject.Measures) == 0
			old = old || len(apart) > 0 && (unmarked || measured(of, apart))
			average = average || !unmarked && measured(of, centred)
		}
		return false
	})
	if old {
		ways = append(ways, plan.SumsApart)
	}
	if average {
		ways = append(ways, plan.SumsCentred)
	}
	return ways, err
}

// answered reports whether the question has a release of its own, or follows from earlier releases.
func (c *Session) answered(a *asked) (bool, error) {
	before, from, err := c.before(a)
	a.derived.Forget()
	return before || from, err
}

// before reports whether the question has a release of its own, and whether earlier releases answer it. If they do, its
// derivation has their estimates.
func (c *Session) before(a *asked) (own, from bool, err error) {
	if own, err = c.kernel.ReleasedBefore(a.look); own || err != nil {
		return own, false, err
	}
	found, err := c.reused(a)
	if e := (*Error)(nil); errors.As(err, &e) { // a refusal to combine
		return false, false, nil
	}
	return false, found != nil, err
}
