package privacy

import "fmt"

// Filter enforces a budget. It admits a mechanism only if the sum of all admitted losses, including that one, stays
// within the budget: in ε for a pure budget, in ρ and in δ for a zCDP one, under which a pure loss counts as
// (ε²/2, 0).
//
// Claim: all admitted mechanisms together keep the budget's promise, even if the mechanisms and their prices are chosen
// adaptively, each from all earlier answers. The i-th answer a_i is drawn, given the earlier ones, from P_i on one data
// set and Q_i on its neighbour, and a refusal depends on the budget and the prices alone, hence on the earlier answers
// alone, and so reveals nothing more.
//
// Soundness for a pure budget [Rogers, Roth, Ullman & Vadhan 2016, Theorem 3.6]: on every path of answers ∏
// P_i(a_i)/Q_i(a_i) ≤ exp(Σ ε_i) ≤ exp(budget), since the filter refuses whatever would take the sum beyond it.
//
// Soundness for a zCDP budget (ρ, δ) [Feldman & Zrnic 2021, the filter for Rényi losses; Whitehouse, Ramdas, Rogers
// & Wu 2023, the filter for approximate zCDP]: adaptivity is free. First let every δ_i be 0, and fix α > 1. Given the
// earlier answers, E exp((α−1)·ln P_i(a_i)/Q_i(a_i)) ≤ exp((α−1)αρ_i), where ρ_i is a function of them, so
// with Z_k = Σ_{i≤k} ln P_i(a_i)/Q_i(a_i) the process exp((α−1)(Z_k − αΣ_{i≤k} ρ_i)) is a supermartingale
// that starts at 1. On every path Σ ρ_i ≤ ρ, hence E exp((α−1)Z) ≤ exp((α−1)αρ), which is D_α ≤ αρ
// for the whole transcript. In general P_i = (1−δ_i)P′_i + δ_iP″_i, and so for Q. The law of transcripts has on
// each path a density of at least ∏(1−δ_i)·∏P′_i(a_i) ≥ (1−Σδ_i)·∏P′_i(a_i) ≥
// (1−δ)·∏P′_i(a_i), so it is a mixture of the law of the P′_i with weight 1−δ and of some remainder, and
// so for Q with the same weight; the first part shows the two laws to be within ρ. ∎
//
// A mechanism that answers one question after the other from hidden randomness of its own, as the sparse vector
// technique does, is charged once, before its first answer, with an ε that bounds its whole conversation whatever is
// asked. Its answers may stand between those of others, and no one of them has a loss of its own. Under a pure budget:
// given the transcript, the questions are fixed, and since the mechanisms' randomness is independent, the transcript's
// probability is a product of one factor for each mechanism, that of its conversation; each is within exp(ε_m) of its
// neighbour's. Under zCDP: such a mechanism is interactive post-processing of randomized response at ε, drawn at its
// start [Vadhan & Wang 2021, Theorem 1.4], which is ε²/2-zCDP: put that draw in the place of the charge, and the
// proof above applies. ∎
//
// A Filter is not safe for concurrent use.
type Filter struct {
	budget, spent Loss
}

// NewFilter makes a filter with nothing spent of budget.
func NewFilter(budget Loss) *Filter {
	return &Filter{budget: budget, spent: Loss{zcdp: budget.zcdp}} // so that pure losses are counted as zCDP one by one
}

// OverdrawError is the filter's refusal: the price and what remains of the budget. It is a function of public prices
// only.
type OverdrawError struct {
	Price, Remaining, Budget Loss
}

func (e *OverdrawError) Error() string {
	return fmt.Sprintf("the budget is exhausted: the price is %s, and what remains of %s is %s",
		e.Price, e.Budget, e.Remaining)
}

// Charge admits a loss, or returns an *OverdrawError and changes nothing.
func (f *Filter) Charge(price Loss) error {
	if left := f.Remaining(); !price.Within(left) {
		return &OverdrawError{Price: price, Remaining: left, Budget: f.budget}
	}
	f.Record(price)
	return nil
}

// Record adds a loss that has already happened, even beyond the budget, because history cannot be refused. A zCDP loss
// exceeds any pure budget.
func (f *Filter) Record(loss Loss) { f.spent = f.spent.Plus(loss) }

// Budget is the whole budget.
func (f *Filter) Budget() Loss { return f.budget }

// Spent is the sum of the losses so far, under the budget's accountant.
func (f *Filter) Spent() Loss { return f.spent }

// Remaining is the largest price that Charge admits now: none once any component of the budget is exceeded.
func (f *Filter) Remaining() Loss {
	if !f.spent.Within(f.budget) {
		return Loss{zcdp: f.budget.zcdp}
	}
	return f.budget.Minus(f.spent)
}
