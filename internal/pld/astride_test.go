package pld

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/exact"
)

// TestAstride holds each direction by itself against the sum over all outcomes at 400 bits, where a rate is so near 0
// or 1 that the losses of a sample are hard to know.
func TestAstride(t *testing.T) {
	number := func() *big.Float { return new(big.Float).SetPrec(400) }
	exp := func(r *big.Rat) *big.Float { return exact.IntervalOf(r, 400).Exp().Lo() }
	one := number().SetInt64(1)
	rat := func(text string) *big.Rat {
		r, _ := new(big.Rat).SetString(text)
		return r
	}
	// binary is the chance of the truth, and that of the other answer.
	binary := func(e *big.Rat) [2]*big.Float {
		odds := exp(new(big.Rat).Neg(e))
		truth := number().Quo(one, number().Add(one, odds))
		return [2]*big.Float{truth, number().Mul(truth, odds)}
	}
	other := rat("1/10")
	for _, strong := range []string{"1/2", "60", "500"} {
		for _, rate := range []string{"1e-15", "0.999999999999999", "0.9999999999999999", "0.99999999999999999999"} {
			q := rat(rate)
			a, b := binary(rat(strong)), binary(other)
			share := number().SetRat(q)
			rest := number().Sub(one, share)
			var mixed [2]*big.Float // (1−q)Q + qP
			for i := range mixed {
				mixed[i] = number().Add(number().Mul(rest, a[1-i]), number().Mul(share, a[i]))
			}
			pure, err := Pure(rat(strong))
			if err != nil {
				t.Fatal(err)
			}
			p, err := Subsample(pure, q)
			if err != nil {
				t.Fatal(err)
			}
			second, err := Pure(other)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Compose([]Step{{p, 1}, {second, 1}})
			if err != nil || len(c.chains) != 2 {
				t.Fatal(err, len(c.chains))
			}
			for _, epsilon := range []float64{0, 0.05, 1, 30, 34, 40, 60} {
				factor := exp(new(big.Rat).SetFloat64(epsilon))
				for direction, chain := range c.chains {
					truth := number()
					for i := range 2 {
						for j := range 2 {
							over, under := number().Mul(mixed[i], b[j]), number().Mul(a[1-i], b[1-j])
							if direction == 1 {
								over, under = number().Mul(a[1-i], b[j]), number().Mul(mixed[i], b[1-j])
							}
							if d := over.Sub(over, under.Mul(under, factor)); d.Sign() > 0 {
								truth.Add(truth, d)
							}
						}
					}
					w := chain.compose(chain.at(epsilon, fine))
					lower, upper := w.lower(epsilon), w.upper(epsilon)
					if big.NewFloat(lower).Cmp(truth) > 0 || big.NewFloat(upper).Cmp(truth) < 0 {
						t.Errorf("%s at %s, direction %d: δ(%g) is [%g, %g], not %.9g",
							strong, rate, direction, epsilon, lower, upper, truth)
					}
				}
			}
		}
	}
}

// TestAtomOverCells: what is known only to lie in an interval is above at its upper end, and below at its lower end.
func TestAtomOverCells(t *testing.T) {
	for _, c := range []struct {
		loss         bound
		above, below int // −1: nowhere
	}{
		{bound{1.2, 3.3}, 4, 1},
		{bound{0.9, 1.2}, 2, 0},
		{bound{-5, 1.2}, 2, -1},
		{bound{-5, -4}, 0, -1},
		{bound{3.5, 9}, -1, 3},
		{bound{math.Inf(-1), 0.5}, 1, -1},
		{bound{0.5, math.Inf(1)}, -1, 0},
		{bound{math.Inf(-1), math.Inf(1)}, -1, -1},
	} {
		l := newLattice(1, 0, 0, 4)
		l.atom(c.loss, point(0.5), point(0.25))
		for j := range l.above {
			if (l.above[j] > 0) != (j == c.above) || (l.below[j] > 0) != (j == c.below) {
				t.Errorf("%v: point %d has %g and %g", c.loss, j, l.above[j], l.below[j])
			}
		}
		if (l.infinite.hi > 0) != (c.above < 0) {
			t.Errorf("%v: %g at +∞", c.loss, l.infinite.hi)
		}
	}
}
