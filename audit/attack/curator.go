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

// Bounded adds noise that is uniform in [-bound, bound], drawn for each answer, however many there are. It promises
// nothing, and its noise comes from the simulation's seed. A bound outside (0, 10⁹] is ErrParameter.
func Bounded(bound float64) (Curator, error) {
	if !(bound > 0 && bound <= farOff) {
		return Curator{}, fmt.Errorf("%w: a bound of noise is above 0 and at most 1e9, not %g", ErrParameter, bound)
	}
	return Curator{kind: fixed, bound: bound}, nil
}

// Ours divides a budget of ε among all the answers of an attack, with discrete Laplace noise of package mechanism. The
// noise is real: it comes from the system, and no seed repeats it. ε is for a change of one person's bit or record
// with a known number of people (change-one), because the attacker asks for somebody's value. Under add/remove, which
// dither's own releases use by default, a promise of ε is one of 2ε for such a change. An ε of 0 is ErrParameter.
func Ours(e privacy.Epsilon) (Curator, error) {
	if e.IsZero() {
		return Curator{}, fmt.Errorf("%w: a budget is above 0", ErrParameter)
	}
	return Curator{kind: budgeted, epsilon: e}, nil
}

// Epsilon is the budget; ok is false for a curator that promises nothing.
func (c Curator) Epsilon() (e privacy.Epsilon, ok bool) { return c.epsilon, c.kind == budgeted }

// Noise is the bound of fixed noise; ok is false for other curators.
func (c Curator) Noise() (bound float64, ok bool) { return c.bound, c.kind == fixed }

// farOff bounds the distance of an answer from 0: beyond it, a float could not use the answer. Clamping is
// post-processing, so the promise holds.
const farOff = 1e9

// answer answers counts. One person changes them by at most sensitivity, in the sum of all. Fixed noise is drawn from
// s.
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

// Rate is a share measured over independent runs: its mean, and the standard deviation of one run, which is 0 for a
// single run.
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
