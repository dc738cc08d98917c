// Package mean estimates means of numbers in the local model: each person randomizes the own number, and nobody has
// to be trusted (see package local).
//
// Numbers are from −1 to 1. [New] creates a [Randomizer] from its [Params]. A report determines an unbiased estimate
// of its sender's number, [Randomizer.Value], and a [Tally] averages these. [Vector] is about several numbers of each
// person.
//
// As in package local, the randomizers are exact, and their ε is at most the declared one and within 10⁻⁹ of it.
package mean

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"dither/internal/entropy"
	"dither/local/internal/coin"
	"dither/privacy"
)

var (
	// ErrParameter reports parameters for which there is no randomizer.
	ErrParameter = errors.New("invalid parameter of a local randomizer")
	// ErrValue reports a number that is not from −1 to 1.
	ErrValue = errors.New("number outside -1 to 1")
	// ErrReport reports a number that the randomizer never sends.
	ErrReport = errors.New("invalid report")
)

// Mechanism is the name of a randomizer.
type Mechanism string

// The randomizers. Best chooses the one with the least largest variance.
const (
	Duchi     Mechanism = "duchi"     // one bit [Duchi, Jordan & Wainwright 2018]
	Piecewise Mechanism = "piecewise" // a number near the true one [Wang et al. 2019]
	Hybrid    Mechanism = "hybrid"    // one of the two, at random [Wang et al. 2019]
	Best      Mechanism = "best"
)

// Mechanisms lists the randomizers.
var Mechanisms = []Mechanism{Duchi, Piecewise, Hybrid}

// Params describe a randomizer.
type Params struct {
	Mechanism Mechanism
	Epsilon   privacy.Epsilon // of one report, from 10⁻⁶ to 40
}

// Randomizer randomizes numbers from −1 to 1. It is immutable.
type Randomizer struct {
	params Params
	sign   sign
	window *window    // nil for Duchi
	pick   *coin.Coin // of the hybrid: heads means the window; nil if there is no choice
}

// New returns a randomizer, or ErrParameter.
func New(p Params) (*Randomizer, error) {
	if err := coin.Check(p.Epsilon, ErrParameter); err != nil {
		return nil, err
	}
	r := &Randomizer{params: p, sign: newSign(p.Epsilon)}
	switch p.Mechanism {
	case Duchi:
	case Piecewise:
		r.window = newWindow(p.Epsilon, inputs, steps)
	case Hybrid:
		// for small ε, Duchi alone has the least largest variance [Wang et al. 2019, Lemma 3]
		if p.Epsilon.Rat().Cmp(big.NewRat(61, 100)) > 0 {
			r.window = newWindow(p.Epsilon, inputs, steps)
			one := coin.Whole(1)
			share := coin.Down(one.Sub(one.Quo(coin.Exp(p.Epsilon, 1, 2))))
			r.pick = &share
		}
	case Best:
		var best *Randomizer
		for _, m := range Mechanisms {
			o, err := New(Params{m, p.Epsilon})
			if err != nil {
				return nil, err
			}
			if best == nil || o.Worst() < best.Worst() {
				best = o
			}
		}
		return best, nil
	default:
		return nil, fmt.Errorf("%w: there is no mechanism %q of means", ErrParameter, p.Mechanism)
	}
	return r, nil
}

// Params returns the parameters. For Best, they have the chosen mechanism.
func (r *Randomizer) Params() Params { return r.params }

// Report is a report about one number. Sign reports are −1 or 1, and window reports are points of a grid.
type Report struct {
	Window bool
	Point  int32
}

// Randomize returns an independent report about each number, with fresh randomness of the operating system. A number
// that is NaN, below −1 or above 1 is ErrValue; then there are no reports.
func (r *Randomizer) Randomize(numbers []float64) ([]Report, error) {
	for _, x := range numbers {
		if !(x >= -1 && x <= 1) {
			return nil, fmt.Errorf("%w: %v", ErrValue, x)
		}
	}
	source := entropy.System()
	defer source.Wipe()
	out := make([]Report, len(numbers))
	for i, x := range numbers {
		out[i] = r.randomize(coin.Random{Source: source}, x)
	}
	return out, nil
}

// randomize returns a report about x.
//
// Claim: it is ε-differentially private between any two numbers. Proof: the hybrid's choice does not depend on the
// number, and the report includes it. Given the choice, the number is rounded at random, and a grid point is
// randomized. The law of a report is thus a mixture of the laws given the points. These are within e^ε of each other
// by the claims of sign and window, and so are their mixtures. ∎
func (r *Randomizer) randomize(c coin.Chooser, x float64) Report {
	if r.window != nil && (r.pick == nil || c.Toss(*r.pick)) {
		return Report{true, int32(r.window.draw(c, round(c, x, r.window.m)))}
	}
	return Report{false, int32(r.sign.draw(c, round(c, x, 1)))}
}

// round rounds x·m to one of the two integers around it, so that the mean is x·m: the greater one has the fraction as
// its probability, up to 2⁻¹²⁸. For m = 1, the grid is −1 and 1 alone, without 0.
func round(c coin.Chooser, x float64, m int64) int64 {
	exact := new(big.Rat).SetFloat64(x)
	step := int64(1)
	if m == 1 { // from −1 to 1 in one step of 2: (x + 1)/2
		exact.Add(exact, big.NewRat(1, 1)).Quo(exact, big.NewRat(2, 1))
		step = 2
	} else {
		exact.Mul(exact, new(big.Rat).SetInt64(m))
	}
	low := new(big.Int).Div(exact.Num(), exact.Denom()) // rounds down, since the denominator is positive
	at := low.Int64()
	if fraction := exact.Sub(exact, new(big.Rat).SetInt(low)); fraction.Sign() > 0 {
		if p, ok := coin.Near(fraction); ok && c.Toss(p) {
			at++
		}
	}
	if m == 1 {
		return at*step - 1
	}
	return at
}

// Value returns an unbiased estimate of the sender's number. The error is ErrReport.
func (r *Randomizer) Value(report Report) (float64, error) {
	switch {
	case report.Window && r.window != nil && int64(report.Point) >= -r.window.l && int64(report.Point) <= r.window.l:
		return float64(report.Point) * r.window.unit, nil
	case !report.Window && (r.window == nil || r.pick != nil) && (report.Point == 1 || report.Point == -1):
		return float64(report.Point) * r.sign.unit, nil
	}
	return 0, fmt.Errorf("%w: %s never sends it", ErrReport, r.params.Mechanism)
}

// Variance returns the variance of Value for a number.
func (r *Randomizer) Variance(x float64) float64 {
	sign := r.sign.unit*r.sign.unit - x*x
	if r.window == nil {
		return sign
	}
	window := r.window.variance(x)
	if r.pick == nil {
		return window
	}
	share, _ := r.pick.Rat().Float64()
	return share*window + (1-share)*sign
}

// Worst returns an upper bound of the variance for any number. At grid points the variance is a + b·x², so the largest
// is at 0 or at ±1. Between them, the rounding adds at most 1/4 of the squared step.
func (r *Randomizer) Worst() float64 {
	worst := math.Max(r.Variance(0), r.Variance(1))
	if r.window != nil {
		worst += .25 / float64(r.window.m) / float64(r.window.m)
	}
	return worst
}

// Largest returns the largest size of Value. So one report changes the mean of n values by at most twice this number
// divided by n.
func (r *Randomizer) Largest() float64 {
	if r.window == nil {
		return r.sign.unit
	}
	most := float64(r.window.l) * r.window.unit
	if r.pick != nil {
		most = max(most, r.sign.unit)
	}
	return most
}

// Bits returns the size of a report in bits.
func (r *Randomizer) Bits() int {
	switch {
	case r.window == nil:
		return 1
	case r.pick == nil:
		return bits.Len64(uint64(2 * r.window.l))
	}
	return 1 + bits.Len64(uint64(2*r.window.l))
}
