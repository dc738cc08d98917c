package channel

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"dither/internal/expsum"
)

// ErrDelta reports a number that is not a δ from 0 to 1.
var ErrDelta = errors.New("no δ from 0 to 1")

// Relaxed is the smallest ε that a mechanism keeps at some δ, if it keeps one.
type Relaxed struct {
	Lower, Upper    float64 // ε is between them, ends included; both +Inf where there is none
	Exact           string  // ε in words of algebra, if they are short
	Input, Neighbor string  // two inputs for which no smaller one would do; "" if ε is 0
	Row, Beside     int     // their places, from 0
	Outputs         []int   // an event for which no smaller one would do, as places from 0

	ratio *expsum.Number
}

// Private reports whether there is such an ε.
func (r Relaxed) Private() bool { return r.ratio != nil }

// Exponent is the exact ε. ok is false if there is none.
func (r Relaxed) Exponent() (e Exponent, ok bool) { return Exponent{r.ratio}, r.ratio != nil }

// Limits of the search: the number of its steps, usually about ten, and the number of entries of pairs that they read.
const (
	mostSteps = 1000
	mostLeast = 8 * maxWork
)

// Least is the smallest ε ≥ 0 for which m is (ε, δ)-differentially private under an adjacency, exactly. δ is from
// 0 to 1, else ErrDelta.
//
// As a function of c = e^ε, δ is the largest of finitely many lines P(S|x) − c·P(S|x′), over events S and
// adjacent x, x′: it is convex, and falls. So from c = 1, the step to where the line that is the largest at c takes
// the value δ never passes the c that is sought, and is exact; a step that goes nowhere has found it. Each line is met
// once at most, so this ends. Where the line does not fall, P(S|x′) = 0 and P(S|x) > δ: there is no ε.
//
// Errors are those of Delta, and ErrWork where Delta tells bounds alone.
func (m *Matrix) Least(a Adjacency, delta *big.Rat) (Relaxed, error) {
	if delta == nil || delta.Sign() < 0 || delta.Cmp(big.NewRat(1, 1)) > 0 {
		return Relaxed{}, ErrDelta
	}
	target := expsum.Rat(delta)
	r, work := Relaxed{ratio: one()}, question()
	entries := a.count(m) * len(m.outputs)
	for step := range mostSteps {
		if step*entries > mostLeast {
			return Relaxed{}, fmt.Errorf("%w: more than %d steps for so many pairs", ErrWork, step)
		}
		x, err := m.delta(work, a, Exponent{r.ratio})
		if err != nil {
			return Relaxed{}, err
		}
		if x.Upper > 0 && x.number == nil {
			return Relaxed{}, fmt.Errorf("%w: more pairs of rows differ alike than can be compared exactly", ErrWork)
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

// told adds the numbers to what was found.
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
