package attack

import (
	"fmt"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
	"dither/mechanism"
	"dither/privacy"
)

// Curator is a simulated curator, who answers counts about made-up people.
type Curator struct {
	kind    kind
	bound   float64         // of fixed noise
	epsilon privacy.Epsilon // of a budget
}

type kind int

const (
	truthful kind = iota
	fixed
	budgeted
)

// Truthful answers exactly.
func Truthful() Curator { return Curator{} }

// Bounded adds noise that is uniform in [-bound, bound], afresh to each answer, however many there are. It promises nothing, and its
// noise comes from the simulation's seed. A bound that is not in (0, 10⁹] is ErrParameter.
func Bounded(bound float64) (Curator, error) {
	if !(bound > 0 && bound <= farOff) {
		return Curator{}, fmt.Errorf("%w: a bound of noise is above 0 and at most 1e9, not %g", ErrParameter, bound)
	}
	return Curator{kind: fixed, bound: bound}, nil
}

// Ours divides a budget of ε over all the answers of an attack, with discrete Laplace noise of package mechanism. The noise is real:
// it comes from the system, and no seed repeats it. An ε of 0 is ErrParameter.
func Ours(e privacy.Epsilon) (Curator, error) {
	if e.IsZero() {
		return Curator{}, fmt.Errorf("%w: a budget is above 0", ErrParameter)
	}
	return Curator{kind: budgeted, epsilon: e}, nil
}

// Epsilon is the budget; ok is false for a curator who promises nothing.
func (c Curator) Epsilon() (e privacy.Epsilon, ok bool) { return c.epsilon, c.kind == budgeted }

// Noise is the bound of fixed noise; ok is false for the others.
func (c Curator) Noise() (bound float64, ok bool) { return c.bound, c.kind == fixed }

// farOff is how far an answer is kept from 0: beyond, it says nothing that a float could use. What is computed from a released
// number promises what that did.
const farOff = 1e9

// answer answers counts. One person changes them by at most sensitivity, in the sum of all. Fixed noise is drawn from s.
func (c Curator) answer(counts []int64, sensitivity int64, s *stream) ([]float64, error) {
	out := make([]float64, len(counts))
	if c.kind == budgeted {
		sealed := make([]mechanism.Exact, len(counts))
		for i, n := range counts {
			sealed[i] = mechanism.NewExact(big.NewInt(n))
		}
		measured, err := mechanism.Laplace{Sensitivity: big.NewInt(sensitivity), Epsilon: c.epsilon}.Measure(sealed)
		if err != nil {
			return nil, err
		}
		for i, v := range measured.Values {
			f, _ := new(big.Float).SetInt(v).Float64()
			out[i] = math.Min(farOff, math.Max(-farOff, f))
		}
		return out, nil
	}
	for i, n := range counts {
		out[i] = float64(n)
		if c.kind == fixed {
			out[i] += s.within(c.bound)
		}
	}
	return out, nil
}

// MostGuessed is the most that any attacker can achieve on average, rounded up, at guessing a secret bit that is 0 or 1 with equal
// probability, from an answer that is ε-differentially private in that bit, whatever else the attacker knows: e^ε/(1+e^ε). Proof: let p
// and q be the probabilities of guessing 1 under 1 and under 0. The success is s = (p + 1−q)/2, where p ≤ e^ε·q and
// 1−q ≤ e^ε·(1−p). As 1−s = (1−p + q)/2, their sum says s ≤ e^ε·(1−s). [Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2017.]
func MostGuessed(e privacy.Epsilon) float64 {
	return math.Min(1, exact.DivUp(1, exact.AddDown(1, exact.ExpDown(-exact.FloatUp(e.Rat())))))
}

// MostTraced is the highest rate of true positives, rounded up, of any test between two neighbouring data sets whose rate of false positives
// is at most alpha, under ε-differential privacy: min(e^ε·α, 1 − e^(−ε)(1−α)) [Wasserman & Zhou 2010, and account.TradeOff].
func MostTraced(e privacy.Epsilon, alpha float64) float64 {
	return exact.SubUp(1, account.TradeOff(e, privacy.Delta{}, alpha))
}

// Rate is a share that was measured over independent runs: its mean, and the standard deviation of one run.
type Rate struct {
	Mean, StdDev float64
	Runs         int
}

// rateOf summarises runs.
func rateOf(shares []float64) Rate {
	r := Rate{Runs: len(shares)}
	for _, x := range shares {
		r.Mean += x
	}
	r.Mean /= float64(len(shares))
	if len(shares) > 1 {
		for _, x := range shares {
			r.StdDev += (x - r.Mean) * (x - r.Mean) / float64(len(shares)-1)
		}
		r.StdDev = math.Sqrt(r.StdDev)
	}
	return r
}
