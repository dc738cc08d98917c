package curator

import "fmt"

// sensible refuses a new question with a key each of whose groups belongs to one unit.
func (c *Session) sensible(a *asked) error {
	if a.plan.OneUnit == nil {
		return nil
	}
	if replayed, err := c.replays(a); err != nil || replayed {
		return err
	}
	return a.plan.OneUnit
}

// replays reports whether the question has a release that answers it again.
func (c *Session) replays(a *asked) (bool, error) {
	before, err := c.kernel.ReleasedBefore(a.look)
	return before && !a.Fresh, err
}

// deliberate refuses a question that only lists unknown values, unless it names a price or allows a selection. A tool
// that fills its filters would otherwise spend the budget without anybody's decision.
func (c *Session) deliberate(a *asked) error {
	listing := a.plan.Selection != nil && len(a.plan.Aggregates) == 0
	if !listing || a.plan.Priced || a.AllowSelection || a.Delta != "" || a.Within != "" || a.MinUnits > 0 || a.Other {
		return nil
	}
	if replayed, err := c.replays(a); err != nil || replayed {
		return err
	}
	return &Error{
		Code: CodeUsage,
		Message: fmt.Sprintf("the values of this list are unknown: a private selection lists them, at a price of %s, and the "+
			"question names no price", c.loss(a.plan.Price)),
		Hint: "say --allow-selection to pay this price, or name another with --epsilon; lists of declared values are free",
	}
}
