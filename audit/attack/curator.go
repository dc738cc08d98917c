package attack

import (
	"fmt"
	"math"
	"math/big"

	"dither/mechanism"
	"dither/privacy"
)

// Curator is a simulated curator that answers counts about made-up people.
type Curator struct {
	kind    kind
	bound   float64         // of the noise of a [Bounded] curator
	epsilon privacy.Epsilon // the budget of a curator made by [Ours]
}

type kind int

const (
	truthful kind = iota
	fixed
	budgeted
)

// Truthful returns a curator that answers exactly.
func Truthful() Curator { return Curator{} }

// Bounded returns a curator that adds noise uniform in [-bound, bound]. The bound is the same however many answers
// it gives. The curator keeps no privacy promise, and its noise comes from the seed of the simulation. A bound
// outside (0, 10⁹] is ErrParameter.
func Bounded(bound float64) (Curator, error) {
	if !(bound > 0 && bound <= farOff) {
		return Curator{}, fmt.Errorf("%w: the bound of the noise must be above 0 and at most 1e9, not "+
			"%g", ErrParameter, bound)
	}
	return Curator{kind: fixed, bound: bound}, nil
}

// Ours returns a curator that divides a budget of ε among all answers of an attack, with the discrete Laplace noise
// of package mechanism. The noise comes from the system's randomness, so no seed repeats it. An ε of 0 is
// ErrParameter.
//
// ε is for changing one person's bit or record among a known number of people (change-one), because the attacker
// asks for a person's value. dither's own releases use add/remove by default. A promise of ε under add/remove is a
// promise of 2ε for such a change.
func Ours(e privacy.Epsilon) (Curator, error) {
	if e.IsZero() {
		return Curator{}, fmt.Errorf("%w: the budget must be above 0", ErrParameter)
	}
	return Curator{kind: budgeted, epsilon: e}, nil
}

// Epsilon returns the budget. ok is false for a curator without a privacy promise.
func (c Curator) Epsilon() (e privacy.Epsilon, ok bool) { return c.epsilon, c.kind == budgeted }

// Noise returns the bound of a [Bounded] curator. ok is false for other curators.
func (c Curator) Noise() (bound float64, ok bool) { return c.bound, c.kind == fixed }

// farOff is the largest absolute value of an answer. Larger answers are clamped, because floats could not compute
// with them. Clamping is post-processing, so a promise still holds.
const farOff = 1e9

// answer returns the curator's answers to counts. One person changes the counts by at most sensitivity, in the sum
// of all absolute changes. The noise of a [Bounded] curator is drawn from s.
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

// Rate is a share measured in independent runs: the mean over the runs, and the standard deviation of one run.
// StdDev is 0 for a single run.
type Rate struct {
	Mean, StdDev float64
	Runs         int
}

// rateOf returns the mean and the standard deviation of the shares of several runs.
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
