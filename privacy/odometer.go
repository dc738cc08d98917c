package privacy

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Odometer states the loss so far when an analyst stops, even if the decision to stop, the mechanisms and their
// losses all depend on the answers. A Filter differs: its budget is a promise that is fixed at the start. The
// amount that a zCDP filter has spent is not a promise. It is known only afterwards, and converting it as if it had
// been fixed in advance bounds nothing. (For pure losses, the sum is a promise at any time [Rogers, Roth, Ullman &
// Vadhan 2016, Theorem 3.6].)
//
// Claim: let the interaction stop by any rule that depends only on the answers, and let ε be the reading at that
// time. The reading is a function of the answers. Then between neighbouring datasets, for every event S of
// transcripts,
//
//	P(S) ≤ E_Q[e^ε·1_S] + δ,
//
// with the δ that Delta returns. In particular, for every constant x, P(S, and the reading is at most x) ≤ e^x·Q(S)
// + δ. This is the inequality of (ε, δ)-differential privacy, with the reading in place of ε.
//
// Method. Take a ladder of budgets ρ_j = First·(5/4)^(j−1) for j = 1, 2, …, with δ_j = Conversion/(j(j+1)). The δ_j
// add up to Conversion. Let ε_j be the ε to which ρ_j-zCDP converts at δ_j. The rung is the first j with ρ_spent ≤
// ρ_j, and the reading is its ε_j. If all losses were pure and their sum is less than ε_j, the reading is that sum.
//
// Proof. First let no loss have a δ. Let E_j be the event that the interaction ends on rung j with the reading ε_j.
// Consider the same interaction under a filter of budget ρ_j, which ends it before the first mechanism that would
// exceed ρ_j. The transcript of this interaction is ρ_j-zCDP ([Filter] has the proof), and hence (ε_j,
// δ_j)-differentially private. On E_j it equals the original transcript. So P(S ∩ E_j) ≤ e^ε_j·Q(S ∩ E_j) + δ_j.
// Let F be the event that the reading is the pure sum. At each transcript in F, the ratio of P to Q is at most e to
// the power of the reading. So P(S ∩ F) ≤ E_Q[e^ε·1_{S∩F}]. The events E_j and F are disjoint, and one of them
// happens. Adding up gives P(S) ≤ E_Q[e^ε·1_S] + Σδ_j.
//
// In general, the i-th answer comes with weight 1−δ_i from a law P′_i on one dataset and Q′_i on the other, which
// are within ρ_i of each other. Let P̃ be the measure on transcripts with density ∏(1−δ_i)P′_i, and Q̃ that with
// density ∏(1−δ_i)Q′_i. Then P̃ ≤ P and Q̃ ≤ Q. The mass of P − P̃ is at most Reserve, since Σδ_i ≤ Reserve on
// every path. The weights ∏(1−δ_i) are one function of the transcript, with values in [0, 1]. A promise of (ε_j,
// δ_j) holds for such functions as it does for events. Hence P̃(S ∩ E_j) ≤ e^ε_j·Q̃(S ∩ E_j) + δ_j as before. With
// P(S) ≤ P̃(S) + Reserve, the claim follows. ∎
//
// Rogers et al. [2016] and Lécuyer [2021] introduced growing budgets with a union bound over them. They bound the
// ratio P/Q itself, except with probability δ. Their kind of bound implies the claim above about events, which is
// what the conversion used here gives.
//
// An Odometer is not safe for concurrent use.
type Odometer struct {
	ladder Ladder
	spent  Loss // in the terms of zCDP
	pure   Epsilon
	mixed  bool // at least one loss was not pure
}

// Ladder holds the parameters of an odometer. All are chosen before the first answer.
type Ladder struct {
	First      Rho   // the lowest budget, at least 10⁻⁶⁴. No reading after a zCDP loss is below its ε
	Conversion Delta // the δ of the conversions of all rungs together, above 0 and below 1
	Reserve    Delta // a bound on the sum of the losses' own δ
}

// NewOdometer returns an odometer with nothing lost. If First is below 10⁻⁶⁴, the error is ErrRho. If Conversion is
// 0, or Conversion and Reserve add up to 1 or more, the error is ErrDelta.
func NewOdometer(l Ladder) (*Odometer, error) {
	switch {
	case l.First.rat().Cmp(exact.DecimalStep(64)) < 0:
		return nil, fmt.Errorf("%w: an odometer's first rung must be at least 1e-64", ErrRho)
	case l.Conversion.IsZero() || l.Conversion.Plus(l.Reserve).certain():
		return nil, fmt.Errorf(
			"%w: an odometer's conversion delta must be above 0, and its sum with the reserve below 1",
			ErrDelta)
	}
	return &Odometer{ladder: l, spent: ZCDPLoss(Rho{}, Delta{})}, nil
}

// Record adds the loss of a mechanism that is about to run. If the losses' own δ would then exceed Reserve, it
// changes nothing and returns an *OverdrawError. In that case the mechanism must not run: otherwise no reading is
// valid. An Odometer that was not made by NewOdometer refuses every loss in this way.
func (o *Odometer) Record(loss Loss) error {
	if o.ladder.First.IsZero() {
		none := ZCDPLoss(Rho{}, Delta{})
		return &OverdrawError{Price: loss, Remaining: none, Budget: none}
	}
	_, d := loss.ZCDP()
	_, sum := o.spent.ZCDP()
	if sum.Plus(d).Cmp(o.ladder.Reserve) > 0 {
		left := ZCDPLoss(o.spent.rho, o.ladder.Reserve.Minus(sum))
		return &OverdrawError{Price: loss, Remaining: left, Budget: ZCDPLoss(o.spent.rho, o.ladder.Reserve)}
	}
	o.spent = o.spent.Plus(loss)
	if e, ok := loss.Pure(); ok {
		o.pure = o.pure.Plus(e)
	} else {
		o.mixed = true
	}
	return nil
}

// Spent returns the sum of the losses so far, in the terms of zCDP.
func (o *Odometer) Spent() Loss { return o.spent }

// Delta returns the δ of every reading: Conversion + Reserve.
func (o *Odometer) Delta() Delta { return o.ladder.Conversion.Plus(o.ladder.Reserve) }

// Reading returns the ε lost so far, rounded up. It is 0 if nothing was lost.
func (o *Odometer) Reading() Epsilon {
	if !o.mixed && o.pure.IsZero() {
		return Epsilon{}
	}
	rung, _ := o.rung() // the conversion cannot fail, because δ_j is above 0
	if !o.mixed {
		return lesser(rung, o.pure)
	}
	return rung
}

// rung returns the ε of the first budget of the ladder that is not below what was spent.
func (o *Odometer) rung() (Epsilon, error) {
	budget, j := o.ladder.First, int64(1)
	for ; budget.Cmp(o.spent.rho) < 0; j++ {
		budget = Rho{amount{new(big.Rat).Mul(budget.rat(), growth)}}
	}
	return budget.EpsilonAt(o.ladder.Conversion.Share(1, j).Share(1, j+1))
}

// growth is the ratio of consecutive budgets of the ladder. A larger ratio wastes more of ρ, and a smaller one more
// of δ.
var growth = big.NewRat(5, 4) // never changed
