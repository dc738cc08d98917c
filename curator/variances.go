package curator

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/reuse"
)

// variancesReleased returns a planned question with its variances computed from sums (plan.VariancesOfSums), if earlier
// releases answer it so, and nil otherwise. The question as it is planned comes first, if it has a release of its own. Then
// come releases of sums: one of the question itself, as every release was before spreads were measured, and then those from
// which the question follows, such as one of AVG and VAR_SAMP together. So an old release replays with its own numbers, and
// no later release changes them. variancesReleased reads plans and the ledger, so it depends on no row.
func (c *Session) variancesReleased(a *asked) (*asked, error) {
	if !slices.ContainsFunc(a.plan.Measures, spreads) {
		return nil, nil
	}
	other := c.measuredAs(a.sums, plan.VariancesOfSums, a)
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
	if err == nil && !found && a.priced == "" && other.plan.Caps == a.plan.Caps {
		found, err = c.follows(other)
	}
	if other.derived.Forget(); !found || err != nil {
		return nil, err
	}
	return other, nil
}

// spreads reports whether a measure is the spread of a variance.
func spreads(m *plan.Measure) bool { return m.Kind == bounded.Spread }
