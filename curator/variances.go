package curator

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/reuse"
)

// variancesReleased returns a planned question with its variances computed from sums (plan.VariancesOfSums), if earlier
// releases answer it so, and nil otherwise. The first of these counts:
//
//  1. The question has a release of its own, as it is planned: nil.
//  2. It has one that measured sums, as every release did before spreads were measured.
//  3. It names a price, or follows as it is planned: nil. How exact the sums make a variance depends on the rows, so they
//     might be less exact than what a price pays for, or has paid for.
//  4. It follows from releases of sums, such as one of AVG and VAR_SAMP together.
//
// So an old release replays with its own numbers, and no later release changes them. variancesReleased reads plans and
// the ledger, so it depends on no row.
func (c *Session) variancesReleased(a *asked) (*asked, error) {
	if !slices.ContainsFunc(a.plan.Measures, spreads) {
		return nil, nil
	}
	other := c.measuredAs(a, func(q *Question) { q.variances = plan.VariancesOfSums })
	if other == nil {
		return nil, nil
	}
	marks, _ := reuse.Marks(other.plan)
	some := false
	if err := c.marked(a, func(measures []string) { some = some || len(measures) == 0 || meet(measures, marks) }); !some || err != nil {
		return nil, err
	}
	if own, err := c.hasOwn(a); own || err != nil {
		return nil, err
	}
	other, err := c.sumsReleased(other)
	if err != nil {
		return nil, err
	}
	found, err := c.hasOwn(other)
	if err == nil && !found && a.priced == "" && !a.namesPrice() && other.plan.Caps == a.plan.Caps {
		found, err = c.followsOnly(other, a)
	}
	if other.derived.Forget(); !found || err != nil {
		return nil, err
	}
	return other, nil
}

// followsOnly reports whether earlier releases answer a question measured in another way, and not as it is planned.
func (c *Session) followsOnly(other, a *asked) (bool, error) {
	asPlanned, err := c.follows(a)
	if a.derived.Forget(); asPlanned || err != nil {
		return false, err
	}
	return c.follows(other)
}

// spreads reports whether a measure is the spread of a variance.
func spreads(m *plan.Measure) bool { return m.Kind == bounded.Spread }
