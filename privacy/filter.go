package privacy

import "fmt"

// PureFilter holds a budget of pure ε. It admits a mechanism only if the sum of all admitted losses, that one's included,
// stays within the budget.
//
// Soundness for adaptive mechanisms and parameters [Rogers, Roth, Ullman & Vadhan 2016, Theorem 3.6 for pure losses]: the
// i-th mechanism and its ε_i may depend on all earlier answers. For any transcript o of answers a_1 … a_k, the losses are
// fixed by the earlier answers, so P(o|D)/P(o|D′) = ∏ P(a_i|a_<i, D)/P(a_i|a_<i, D′) ≤ exp(Σ ε_i(a_<i)) ≤ exp(budget),
// since the filter refuses whatever would take the sum beyond it on every path. A refusal depends on the budget and the
// prices alone, hence on the earlier answers alone, and so reveals nothing more.
//
// A PureFilter is not safe for concurrent use.
type PureFilter struct {
	budget, spent Epsilon
}

// NewPureFilter starts with nothing spent of budget.
func NewPureFilter(budget Epsilon) *PureFilter { return &PureFilter{budget: budget} }

// ExhaustedError is the filter's refusal: the price and what remains of the budget. It is a function of public prices only.
type ExhaustedError struct {
	Price, Remaining, Budget Epsilon
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("the budget is exhausted: the price is ε = %s, and %s of %s remains", e.Price, e.Remaining, e.Budget)
}

// Charge admits a loss, or returns an *ExhaustedError and changes nothing.
func (f *PureFilter) Charge(price Epsilon) error {
	if price.Cmp(f.Remaining()) > 0 {
		return &ExhaustedError{Price: price, Remaining: f.Remaining(), Budget: f.budget}
	}
	f.spent = f.spent.Plus(price)
	return nil
}

// Record adds a loss that has already happened, even beyond the budget: history is not refused.
func (f *PureFilter) Record(loss Epsilon) { f.spent = f.spent.Plus(loss) }

// Budget is the whole budget.
func (f *PureFilter) Budget() Epsilon { return f.budget }

// Spent is the sum of the losses so far.
func (f *PureFilter) Spent() Epsilon { return f.spent }

// Remaining is the largest price that Charge admits now.
func (f *PureFilter) Remaining() Epsilon { return f.budget.Minus(f.spent) }
