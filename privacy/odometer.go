package privacy

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// Odometer states the loss at the moment when somebody decides to stop, if that decision, the mechanisms and their
// losses may all depend on the answers so far. A Filter's budget is a promise from the start. The amount that a filter
// has spent is not a promise: ρ_spent is known only afterwards, and converting it as if it had been fixed in advance
// bounds nothing. (For pure losses the sum is a promise at any time [Rogers, Roth, Ullman & Vadhan 2016, Theorem 3.6].)
//
// The promise. Let the interaction stop by any rule that sees the answers alone, and let the reading at that moment be
// ε. It depends on the answers. Between neighbouring datasets, for every event S of transcripts,
//
//	P(S) ≤ E_Q[e^ε·1_S] + δ,
//
// with the δ that Delta returns. In particular P(S, and the reading is at most e) ≤ e^e·Q(S) + δ: what (ε,
// δ)-differential privacy says, with ε at the place where the interaction ended.
//
// How. There is a ladder of budgets ρ_j = First·(5/4)^(j−1), j = 1, 2, …, and δ_j = Conversion/(j(j+1)), which
// add up to Conversion. The rung is the first with ρ_spent ≤ ρ_j, and ε_j is the ε of ρ_j-zCDP at δ_j. The
// reading is ε_j, or the sum of the pure losses where all were pure and that is less.
//
// Proof. First let no loss have a δ. E_j is the event that the interaction ends on rung j with ε_j as its reading.
// Consider the same interaction under a filter of budget ρ_j, which ends it before the first mechanism that would
// exceed ρ_j: its transcript is ρ_j-zCDP [the proof at Filter], hence (ε_j, δ_j)-differentially private, and on E_j
// it is the transcript itself. So P(S ∩ E_j) ≤ e^ε_j·Q(S ∩ E_j) + δ_j. Let F be the event that the reading is
// the pure sum: at each transcript in F the ratio of P to Q is at most e to the reading, so P(S ∩ F) ≤
// E_Q[e^ε·1_{S∩F}]. These events are disjoint and one of them happens. Adding up gives P(S) ≤ E_Q[e^ε·1_S] +
// Σδ_j.
//
// In general the i-th answer comes, on either dataset, with weight 1−δ_i from a law P′_i or Q′_i that is within
// ρ_i. Let P̃ be the measure on transcripts with density ∏(1−δ_i)P′_i, and Q̃ likewise: P̃ ≤ P, and P −
// P̃ has mass at most Reserve, since Σδ_i ≤ Reserve on every path. The weights ∏(1−δ_i) are one function of
// the transcript, with values in [0, 1], and a promise of (ε_j, δ_j) holds for such functions as for events, hence
// P̃(S ∩ E_j) ≤ e^ε_j·Q̃(S ∩ E_j) + δ_j as before, and P(S) ≤ P̃(S) + Reserve. ∎
//
// Growing budgets with a union bound over them are Rogers et al.'s and Lécuyer's [2021]. They bound the ratio P/Q
// itself, except with probability δ; what is promised here, of events, follows from such a bound, and is what the
// conversion used here gives.
//
// An Odometer is not safe for concurrent use.
type Odometer struct {
	ladder Ladder
	spent  Loss // under zCDP
	pure   Epsilon
	mixed  bool // some loss was not pure
}

// Ladder has the parameters of an odometer's reading, all chosen before the first answer.
type Ladder struct {
	First      Rho   // the lowest rung: no reading after a zCDP loss is below its ε. At least 10⁻⁶⁴
	Conversion Delta // the δ of the conversions of all rungs. Above 0 and below 1
	Reserve    Delta // bounds the sum of the losses' own δ
}

// NewOdometer makes an odometer with nothing lost. A First below 10⁻⁶⁴ is ErrRho. A Conversion of 0 or 1, or a
// sum with Reserve of 1 or more, is ErrDelta.
func NewOdometer(l Ladder) (*Odometer, error) {
	switch {
	case l.First.rat().Cmp(exact.DecimalStep(64)) < 0:
		return nil, fmt.Errorf("%w: an odometer's first rung must be at least 1e-64", ErrRho)
	case l.Conversion.IsZero() || l.Conversion.Plus(l.Reserve).certain():
		return nil, fmt.Errorf("%w: an odometer needs one above 0 and, with its reserve, below 1", ErrDelta)
	}
	return &Odometer{ladder: l, spent: ZCDPLoss(Rho{}, Delta{})}, nil
}

// Record adds the loss of a mechanism that is about to run. If the losses' own δ would exceed the reserve, it changes
// nothing and returns an *OverdrawError: then the mechanism must not run, or no reading is valid any more. An Odometer
// without a ladder, not made by NewOdometer, refuses every loss in this way.
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

// Spent is the sum of the losses so far, as zCDP.
func (o *Odometer) Spent() Loss { return o.spent }

// Delta is the δ of every reading: Conversion + Reserve.
func (o *Odometer) Delta() Delta { return o.ladder.Conversion.Plus(o.ladder.Reserve) }

// Reading is the ε lost so far, rounded up: 0 if nothing was lost.
func (o *Odometer) Reading() Epsilon {
	if !o.mixed && o.pure.IsZero() {
		return Epsilon{}
	}
	rung, _ := o.rung() // its conversion has no error: δ_j is above 0
	if !o.mixed {
		return lesser(rung, o.pure)
	}
	return rung
}

// rung is the ε of the first budget that is not below what was spent.
func (o *Odometer) rung() (Epsilon, error) {
	budget, j := o.ladder.First, int64(1)
	for ; budget.Cmp(o.spent.rho) < 0; j++ {
		budget = Rho{amount{new(big.Rat).Mul(budget.rat(), growth)}}
	}
	return budget.EpsilonAt(o.ladder.Conversion.Share(1, j).Share(1, j+1))
}

// growth is from one rung to the next. Higher steps waste more of ρ, lower ones more of δ.
var growth = big.NewRat(5, 4) // never changed
