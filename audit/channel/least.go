package channel

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"dither/internal/expsum"
)

// ErrDelta reports a δ that is not between 0 and 1.
var ErrDelta = errors.New("not a δ from 0 to 1")

// Relaxed is the smallest ε that a mechanism keeps at some δ, or the fact that it keeps none.
type Relaxed struct {
	Lower, Upper    float64 // ε lies in [Lower, Upper]; both are +Inf if there is no ε
	Exact           string  // ε as a formula, or "" if the formula would be long
	Input, Neighbor string  // inputs that rule out every smaller ε; "" if ε is 0
	Row, Beside     int     // rows of Input and Neighbor, from 0
	Outputs         []int   // the event that rules out every smaller ε, as columns from 0

	ratio *expsum.Number
}

// Private reports whether the mechanism keeps any ε at this δ.
func (r Relaxed) Private() bool { return r.ratio != nil }

// Exponent returns the exact ε. ok is false if there is no ε.
func (r Relaxed) Exponent() (e Exponent, ok bool) { return Exponent{r.ratio}, r.ratio != nil }

// Limits of the search: the number of steps, which is usually about ten, and the number of entries that all steps
// read.
const (
	mostSteps = 1000
	mostLeast = 8 * maxWork
)

// Least returns the smallest ε ≥ 0 for which m is (ε, δ)-differentially private under an adjacency, exactly. It
// returns ErrDelta if δ is not between 0 and 1.
//
// Claim: the search ends at the smallest ε. Proof: as a function of c = e^ε, the smallest δ is the maximum of 0 and
// finitely many lines P(S|x) − c·P(S|x′), over events S and adjacent x, x′. So it is convex, and does not increase.
// The search begins at c = 1. Each step takes the line that is the maximum at c, and moves c to where this line has
// the value δ. A maximum of lines lies above each of them, so a step never passes the c that is sought. If the
// maximum at c is at most δ, c is the result. Each line is used at most once, so the search ends. If the line does
// not fall, P(S|x′) = 0 and P(S|x) > δ, so there is no ε. ∎
//
// Errors are those of [Matrix.Delta]. Least also returns ErrWork if Delta finds only bounds.
func (m *Matrix) Least(a Adjacency, delta *big.Rat) (Relaxed, error) {
	if delta == nil || delta.Sign() < 0 || delta.Cmp(big.NewRat(1, 1)) > 0 {
		return Relaxed{}, ErrDelta
	}
	target := expsum.Rat(delta)
	r, work := Relaxed{ratio: one()}, question()
	entries := a.count(m) * len(m.outputs)
	for step := range mostSteps {
		if step*entries > mostLeast {
			return Relaxed{}, fmt.Errorf("%w: more than %d steps for this many pairs", ErrWork, step)
		}
		x, err := m.delta(work, a, Exponent{r.ratio})
		if err != nil {
			return Relaxed{}, err
		}
		if x.Upper > 0 && x.number == nil {
			return Relaxed{}, fmt.Errorf("%w: too many pairs of rows have the same difference to compare "+
				"exactly", ErrWork)
		}
		if order, err := work.Cmp(x.number, target); err != nil || order <= 0 {
			if err != nil {
				return Relaxed{}, err
			}
			return r.told(work)
		}
		r.Input, r.Neighbor, r.Row, r.Beside, r.Outputs = x.Input, x.Neighbor, x.Row, x.Beside, x.Outputs
		w, err := m.weigh(work, x.event)
		if err != nil {
			return Relaxed{}, err
		}
		if w.q.IsZero() {
			r.ratio = nil
			return r.told(work)
		}
		excess, err := work.Sub(w.p, target)
		if err != nil {
			return Relaxed{}, err
		}
		if r.ratio, err = work.Quo(excess, w.q); err != nil {
			return Relaxed{}, err
		}
	}
	return Relaxed{}, fmt.Errorf("%w: more than %d steps", ErrWork, mostSteps)
}

// told fills in Lower, Upper and Exact from the ratio.
func (r Relaxed) told(work *expsum.Work) (Relaxed, error) {
	if r.ratio == nil {
		r.Lower, r.Upper = math.Inf(1), math.Inf(1)
		return r, nil
	}
	var err error
	r.Lower, r.Upper, err = work.Log(r.ratio)
	r.Exact = logText(r.ratio)
	return r, err
}
