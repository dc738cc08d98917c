package privacy

import "fmt"

// Filter enforces a budget. It admits a mechanism only if the sum of all admitted losses, including this one, stays
// within the budget. For a pure budget the sum is in ε. For a zCDP budget the sums are in ρ and in δ, and a pure
// loss counts as (ε²/2, 0).
//
// Claim: all admitted mechanisms together keep the budget's promise, even if the mechanisms and their prices are
// chosen adaptively, each from all earlier answers. Given the earlier answers, the i-th answer a_i is drawn from a
// distribution P_i on one dataset, and from Q_i on its neighbour. A refusal depends only on the budget and the
// prices, and hence only on the earlier answers. So a refusal reveals nothing more.
//
// Proof for a pure budget [Rogers, Roth, Ullman & Vadhan 2016, Theorem 3.6]. On every path of answers, ∏
// P_i(a_i)/Q_i(a_i) ≤ exp(Σ ε_i) ≤ exp(budget), because the filter refuses a mechanism that would take the sum
// beyond the budget. ∎
//
// Proof for a zCDP budget (ρ, δ) [Feldman & Zrnic 2021, the filter for Rényi losses; Whitehouse, Ramdas, Rogers &
// Wu 2023, the filter for approximate zCDP]. First let every δ_i be 0, and fix α > 1. The earlier answers determine
// ρ_i. Given these answers, E exp((α−1)·ln P_i(a_i)/Q_i(a_i)) ≤ exp((α−1)αρ_i). Let Z_k = Σ_{i≤k} ln
// P_i(a_i)/Q_i(a_i), and let Z be the sum over all answers. Then the process exp((α−1)(Z_k − αΣ_{i≤k} ρ_i)) is a
// supermartingale that starts at 1. On every path Σ ρ_i ≤ ρ. Hence E exp((α−1)Z) ≤ exp((α−1)αρ), which is D_α ≤ αρ
// for the whole transcript.
//
// In general P_i = (1−δ_i)P′_i + δ_iP″_i, and Q_i is a mixture of Q′_i and Q″_i with the same weights. On each
// path, the law of transcripts under the P_i has a density of at least ∏(1−δ_i)·∏P′_i(a_i) ≥ (1−Σδ_i)·∏P′_i(a_i) ≥
// (1−δ)·∏P′_i(a_i). So this law is a mixture: it is the law under the P′_i with weight 1−δ, and some remainder. The
// same holds for the Q_i and Q′_i, with the same weight. By the first part, the laws under the P′_i and the Q′_i
// are within ρ of each other. ∎
//
// Some mechanisms answer one question after the other from hidden randomness of their own, as the sparse vector
// technique does. Such a mechanism is charged once, before its first answer. Its ε bounds its whole conversation,
// whatever questions it gets. Its answers may come between those of other mechanisms, and no single answer has a
// loss of its own.
//
// Claim: the filter is sound for these mechanisms too. Under a pure budget, fix the transcript, which fixes all
// questions. The mechanisms' randomness is independent. So the transcript's probability is a product with one
// factor for each mechanism: the probability of that mechanism's conversation. Each factor is within exp(ε_m) of
// its neighbour's. Under zCDP, such a mechanism is interactive post-processing of randomized response at ε, drawn
// at its start [Vadhan & Wang 2021, Theorem 1.4]. That draw is ε²/2-zCDP. Replace the charge by that draw, and the
// proof above applies. ∎
//
// A Filter is not safe for concurrent use.
type Filter struct {
	budget, spent Loss
}

// NewFilter returns a filter for a budget, with nothing spent.
func NewFilter(budget Loss) *Filter {
	// the sum starts as a loss of the budget's kind, so that each pure loss is converted to zCDP by itself
	return &Filter{budget: budget, spent: Loss{zcdp: budget.zcdp}}
}

// OverdrawError is the filter's refusal: the price, and what remains of the budget. It is a function of public
// prices only.
type OverdrawError struct {
	Price, Remaining, Budget Loss
}

func (e *OverdrawError) Error() string {
	return fmt.Sprintf("the budget is exhausted: the price is %s, but only %s of %s remains",
		e.Price, e.Remaining, e.Budget)
}

// Charge admits a loss. If the loss exceeds what remains, Charge returns an *OverdrawError and changes nothing.
func (f *Filter) Charge(price Loss) error {
	if left := f.Remaining(); !price.Within(left) {
		return &OverdrawError{Price: price, Remaining: left, Budget: f.budget}
	}
	f.Record(price)
	return nil
}

// Record adds a loss that has already happened, even beyond the budget. A zCDP loss exceeds every pure budget.
func (f *Filter) Record(loss Loss) { f.spent = f.spent.Plus(loss) }

// Budget returns the whole budget.
func (f *Filter) Budget() Loss { return f.budget }

// Spent returns the sum of the losses so far, in the terms of the budget's accountant.
func (f *Filter) Spent() Loss { return f.spent }

// Remaining returns the largest price that Charge admits now. It is zero once any component of the budget is
// exceeded.
func (f *Filter) Remaining() Loss {
	if !f.spent.Within(f.budget) {
		return Loss{zcdp: f.budget.zcdp}
	}
	return f.budget.Minus(f.spent)
}
