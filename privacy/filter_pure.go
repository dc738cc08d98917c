package privacy

import "fmt"

// PureFilter is a Filter with a pure budget, for callers that have no other losses.
//
// A PureFilter is not safe for concurrent use.
type PureFilter struct{ f Filter }

// NewPureFilter starts with nothing spent of budget.
func NewPureFilter(budget Epsilon) *PureFilter { return &PureFilter{*NewFilter(PureLoss(budget))} }

// ExhaustedError is the pure filter's refusal: the price and what remains of the budget. It is a function of public prices
// only.
type ExhaustedError struct {
	Price, Remaining, Budget Epsilon
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("the budget is exhausted: the price is ε = %s, and %s of %s remains", e.Price, e.Remaining, e.Budget)
}

// Charge admits a loss, or returns an *ExhaustedError and changes nothing.
func (p *PureFilter) Charge(price Epsilon) error {
	if p.f.Charge(PureLoss(price)) != nil {
		return &ExhaustedError{Price: price, Remaining: p.Remaining(), Budget: p.Budget()}
	}
	return nil
}

// Record adds a loss that has already happened, even beyond the budget: history is not refused.
func (p *PureFilter) Record(loss Epsilon) { p.f.Record(PureLoss(loss)) }

// Budget is the whole budget.
func (p *PureFilter) Budget() Epsilon { return p.f.Budget().epsilon }

// Spent is the sum of the losses so far.
func (p *PureFilter) Spent() Epsilon { return p.f.Spent().epsilon }

// Remaining is the largest price that Charge admits now.
func (p *PureFilter) Remaining() Epsilon { return p.f.Remaining().epsilon }
