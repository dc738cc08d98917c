package curator

import (
	"errors"
	"slices"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/reuse"
)

// asReleased returns a planned question with its counts, its variances or its sums measured in another way, if earlier
// releases answer it so.
func (c *Session) asReleased(a *asked) (*asked, error) {
	if a.Fresh || a.sums != plan.SumsBeside || a.variances != plan.VariancesAlone || a.counts != plan.CountsDeclared {
		return a, nil
	}
	if other, err := c.countsReleased(a); other != nil || err != nil {
		return other, err
	}
	if other, err := c.variancesReleased(a); other != nil || err != nil {
		return other, err
	}
	return c.sumsReleased(a)
}

// sumsReleased returns a planned question with its sums measured in another way (plan.Sums), if earlier releases answer
// it so. The first of these ways counts:
//
//  1. The question has a release of its own, as it is planned.
//  2. It has one that measured each sum by itself, as every release did before sums shared the measures of averages.
//  3. It follows from releases with each sum measured by itself, as it did then.
//  4. It follows from releases as it is planned.
//  5. It follows from a release of AVG(x), whose sum and count determine SUM(x). A question with Combine does not.
//
// So an old release replays with its own numbers, and no later release changes them. sumsReleased reads plans and the
// ledger, so it depends on no row.
func (c *Session) sumsReleased(a *asked) (*asked, error) {
	apart, average, err := c.otherSums(a)
	if err != nil || !apart && !average {
		return a, err
	}
	if own, err := c.hasOwn(a); own || err != nil {
		return a, err
	}
	if apart {
		if other := c.measuredAs(a, func(q *Question) { q.sums = plan.SumsApart }); other != nil {
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
	other := c.measuredAs(a, func(q *Question) { q.sums = plan.SumsCentred })
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

// measuredAs plans a question again, measured in the way that the function as sets. It returns nil if that is not possible.
func (c *Session) measuredAs(a *asked, as func(*Question)) *asked {
	q := a.Question
	as(&q)
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
	err = c.marked(a, func(measures []string) {
		// releases from which nothing follows have no marks of their measures
		apart = apart || len(ofApart) > 0 && (len(measures) == 0 || meet(measures, ofApart))
		average = average || meet(measures, ofAverages)
	})
	return apart, average, err
}

// marked calls the function each with the marks of the measures of every earlier release about the question's tables.
func (c *Session) marked(a *asked, each func(measures []string)) error {
	sources, digest := a.look.Sources(), c.policy.Digest()
	_, err := c.ledger.Answers(func(of *ledger.About) bool {
		if of.Policy == digest && slices.Equal(of.Sources, sources) {
			var measures []string
			if of.Subject != nil {
				measures = of.Subject.Measures
			}
			each(measures)
		}
		return false
	})
	return err
}

// meet reports whether two lists have an element in common.
func meet(x, y []string) bool {
	return slices.ContainsFunc(x, func(s string) bool { return slices.Contains(y, s) })
}
