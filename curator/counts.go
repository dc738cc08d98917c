package curator

import "dither/internal/plan"

// countsReleased returns a planned question with its counts measured (plan.CountsMeasured), if it has a release of its own so,
// and none as it is planned. It returns nil otherwise. So an old release replays with its own numbers.
func (c *Session) countsReleased(a *asked) (*asked, error) {
	if !a.plan.Constants {
		return nil, nil
	}
	if own, err := c.hasOwn(a); own || err != nil {
		return nil, err
	}
	other := c.measuredAs(a, func(q *Question) { q.counts = plan.CountsMeasured })
	if other == nil {
		return nil, nil
	}
	if own, err := c.hasOwn(other); !own || err != nil {
		return nil, err
	}
	return other, nil
}
