package derive

import (
	"math/big"

	"dither/internal/plan"
	"dither/internal/truncation"
)

// FalseAlarm is the largest probability that an estimate of what bounds cut warns although nothing is cut. Missed is
// the largest probability that it does not warn although as many units are cut as Visible returns.
const (
	FalseAlarm = 0.01
	Missed     = 0.05
)

// Truncated is an estimate of what a question's bounds cut, computed from its release.
//
// Claim: Cuts is true with probability at most FalseAlarm if no unit is cut, and with probability at least 1 −
// Missed if Visible units or more are cut.
//
// Proof. Let u be the number of units that are cut, and z = u + x the released number, with noise x. Let a be the
// noise's quantile of level 2·FalseAlarm, and b that of level 2·Missed: |x| exceeds them with at most these
// probabilities. The noise is symmetric, so x > a has probability at most FalseAlarm, and x < −b at most Missed. Cuts
// is z > a. If u = 0, that is x > a. If u ≥ Visible = a + b + 1, then x ≥ −b implies z ≥ a + 1. ∎
type Truncated struct {
	Units   Estimate
	Clamped []Estimate // for each clamp that the plan counts, the rows whose value it changes
	Rows    *Estimate  // the rows that are left out, of as many rows of each unit as the plan reads; nil if not asked for
	Cuts    bool       // whether the released number is larger than noise explains
}

// TruncationOf returns what a released estimate says. Intervals have the level alpha, and do not go below 0,
// because a number of units or rows does not.
func TruncationOf(t *plan.Truncation, numbers []*big.Int, alpha float64) (out Truncated, err error) {
	var n noises
	of := func(i int) (Estimate, error) {
		r, err := n.released(t.Measures[i])
		if err != nil {
			return Estimate{}, err
		}
		r.Measure = counting(r.Measure)
		e := r.estimate(numbers[i], alpha)
		zero := new(big.Int)
		if e.WholeLow.Sign() < 0 {
			e.WholeLow, e.Low = zero, 0
		}
		if e.WholeHigh.Sign() < 0 {
			e.WholeHigh, e.High = zero, 0
		}
		return e, nil
	}
	if out.Units, err = of(truncation.Units); err != nil {
		return out, err
	}
	alarm, err := alarmOf(t)
	if err != nil {
		return out, err
	}
	out.Cuts = numbers[truncation.Units].Cmp(alarm) > 0
	if i := t.Asked.Rows(t.Bounds); i > 0 {
		rows, err := of(i)
		if err != nil {
			return out, err
		}
		out.Rows = &rows
	}
	for i := len(t.Measures) - len(t.Clamped); i < len(t.Measures); i++ {
		e, err := of(i)
		if err != nil {
			return out, err
		}
		out.Clamped = append(out.Clamped, e)
	}
	return out, nil
}

// counting returns a copy of m without its centre: the released number of lost rows is the sum itself, and no average
// adds the centre back.
func counting(m *plan.Measure) *plan.Measure {
	out := *m
	out.Centre = 0
	return &out
}

// alarmOf returns the largest number that does not warn.
func alarmOf(t *plan.Truncation) (*big.Int, error) {
	d, err := NoiseOf(t.Measures[truncation.Units])
	if err != nil {
		return nil, err
	}
	return d.Quantile(2 * FalseAlarm), nil
}

// TruncationVisible returns the standard deviation of the noise on the number of units that are cut, and a number of
// units: if as many are cut, or more, the estimate warns with probability at least 1 − Missed.
func TruncationVisible(t *plan.Truncation) (stdDev float64, visible *big.Int, err error) {
	d, err := NoiseOf(t.Measures[truncation.Units])
	if err != nil {
		return 0, nil, err
	}
	alarm, err := alarmOf(t)
	if err != nil {
		return 0, nil, err
	}
	visible = new(big.Int).Add(alarm, d.Quantile(2*Missed))
	return d.StdDev(), visible.Add(visible, big.NewInt(1)), nil
}
