package curator

import (
	"errors"
	"slices"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/reuse"
)

// asReleased returns a planned question with its sums measured in another way (plan.Sums), if earlier releases answer
// it so. The first of these ways counts:
//
//  1. The question has a release of its own, as it is planned.
//  2. It has one that measured each sum by itself, as every release did before sums shared the measures of averages.
//  3. It follows from releases with each sum measured by itself, as it did then.
//  4. It follows from releases as it is planned.
//  5. It follows from a release of AVG(x), whose sum and count determine SUM(x). A question with Combine does not.
//
// So an old release replays with its own numbers, and no later release changes them. asReleased reads plans and the
// ledger, so it depends on no row.
func (c *Session) asReleased(a *asked) (*asked, error) {
	if a.Fresh || a.sums != plan.SumsBeside {
		return a, nil
	}
	apart, average, err := c.otherSums(a)
	if err != nil || !apart && !average {
		return a, err
	}
	if own, err := c.hasOwn(a); own || err != nil {
		return a, err
	}
	if apart {
		if other := c.measuredAs(plan.SumsApart, a); other != nil {
			found, err := c.hasOwn(other)
			if err == nil && !found && a.priced == "" && other.plan.Caps == a.plan.Caps {
				found, err = c.follows(other)
			}
			if found || err != nil {
				other.derived.Forget()
				return other, err
			}
		}
	}
	if !average || a.Combine || a.priced != "" {
		return a, nil
	}
	given, err := c.follows(a)
	if a.derived.Forget(); given || err != nil {
		return a, err
	}
	other := c.measuredAs(plan.SumsCentred, a)
	if other == nil || other.plan.Caps != a.plan.Caps { // other rows of a unit would count
		return a, nil
	}
	own, err := c.hasOwn(other)
	if err != nil {
		return nil, err
	}
	if !own {
		if given, err = c.follows(other); err != nil {
			return nil, err
		}
	}
	free := (own || given) && (!a.namesPrice() || asExact(other, given, a))
	if other.derived.Forget(); free {
		return other, nil
	}
	return a, nil
}

// measuredAs plans a question again, with its sums measured in another way. It returns nil if that is not possible.
func (c *Session) measuredAs(way plan.Sums, a *asked) *asked {
	q := a.Question
	q.sums = way
	other, err := c.askUnder(a.policy, q, recalledAs)
	if err != nil {
		return nil
	}
	return other
}

// hasOwn reports whether a question is answered from a release of its own.
func (c *Session) hasOwn(a *asked) (bool, error) {
	if a.Combine { // a question with Combine combines all releases that determine it
		return false, nil
	}
	return c.kernel.ReleasedBefore(a.look)
}

// follows reports whether earlier releases answer a question. If they do, its derivation has their estimates.
func (c *Session) follows(a *asked) (bool, error) {
	found, err := c.reused(a)
	if e := (*Error)(nil); errors.As(err, &e) { // a refusal to combine
		return false, nil
	}
	return found != nil, err
}

// asExact reports whether the sums of an answer that is free are at least as exact as those that a question pays for.
// given says whether earlier releases determine the answer, which is a release of its own otherwise. Each of two
// measures may be as exact as a measure of it at half the price, and their sum less exact than one at the whole price.
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

// otherSums reports in which other ways some earlier release may have measured the question's sums: each by itself, or
// for an average.
func (c *Session) otherSums(a *asked) (apart, average bool, err error) {
	ofApart, ofAverages := reuse.ApartMarks(a.plan), reuse.CentredMarks(a.plan)
	if len(ofApart)+len(ofAverages) == 0 {
		return false, false, nil
	}
	sources, digest := a.look.Sources(), c.policy.Digest()
	measured := func(of *ledger.About, marks []string) bool {
		return slices.ContainsFunc(of.Subject.Measures, func(m string) bool { return slices.Contains(marks, m) })
	}
	_, err = c.ledger.Answers(func(of *ledger.About) bool {
		if of.Policy == digest && slices.Equal(of.Sources, sources) {
			// releases from which nothing follows have no marks of their measures
			unmarked := of.Subject == nil || len(of.Subject.Measures) == 0
			apart = apart || len(ofApart) > 0 && (unmarked || measured(of, ofApart))
			average = average || !unmarked && measured(of, ofAverages)
		}
		return false
	})
	return apart, average, err
}
