package pld_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/pld"
)

// binaryDelta is δ(at) of n uses of Pure(ε) at 200 bits: Σ C(n, k)·pⁿ⁻ᵏ·(1−p)ᵏ·(1 − e^(at −
// (n−2k)ε))₊ [Kairouz, Oh & Viswanath 2015, Theorem 3.3].
func binaryDelta(epsilon *big.Rat, n int64, at *big.Rat) *big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(200) }
	one := number().SetInt64(1)
	odds := expOf(new(big.Rat).Neg(epsilon))
	p := number().Quo(one, number().Add(one, odds))
	term, sum := number().Set(one), number()
	for range n {
		term.Mul(term, p)
	}
	for k := int64(0); k <= n; k++ {
		gap := new(big.Rat).Sub(at, new(big.Rat).Mul(epsilon, big.NewRat(n-2*k, 1)))
		if gap.Sign() >= 0 {
			break
		}
		sum.Add(sum, number().Mul(term, number().Sub(one, expOf(gap))))
		term.Mul(term, odds).Mul(term, number().SetInt64(n-k)).Quo(term, number().SetInt64(k+1))
	}
	return sum
}

// TestRare asks for δ and at δ that floats hardly hold or do not hold.
func TestRare(t *testing.T) {
	number := func(x float64) *big.Float { return new(big.Float).SetFloat64(x) }
	ratOf := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	for _, c := range []struct {
		epsilon string
		n       int64
		at      []float64
	}{
		{"1", 10000, []float64{7000, 7748.49, 9999}},
		{"1/2", 3000, []float64{1200, 1250, 1272.9166, 1400}},
		{"1/10", 6000, []float64{250, 360, 599}},
	} {
		e := rat(t, c.epsilon)
		composed := compose(t, pld.Step{Pair: pair(t)(pld.Pure(e)), Count: c.n})
		for _, at := range c.at {
			truth := binaryDelta(e, c.n, ratOf(at))
			if lower, upper := composed.Delta(at); number(lower).Cmp(truth) > 0 || number(upper).Cmp(truth) < 0 {
				t.Errorf("%d of %s: δ(%g) is [%g, %g], not %.6g", c.n, c.epsilon, at, lower, upper, truth)
			}
		}
		for _, delta := range []float64{0, 5e-324, 1e-310, 1e-300, 1e-288, 1e-250} {
			lower, upper := composed.Epsilon(delta)
			if binaryDelta(e, c.n, ratOf(upper)).Cmp(number(delta)) > 0 {
				t.Errorf("%d of %s: ε(%g) ≤ %g is wrong", c.n, c.epsilon, delta, upper)
			}
			if lower > 0 && binaryDelta(e, c.n, ratOf(lower*(1-1e-9))).Cmp(number(delta)) < 0 {
				t.Errorf("%d of %s: ε(%g) ≥ %g is wrong", c.n, c.epsilon, delta, lower)
			}
		}
	}
	// The greatest loss has an atom of 2⁻ⁿ.
	if _, upper := compose(t, pld.Step{Pair: pair(t)(pld.Laplace(rat(t, "1"))), Count: 2000}).Epsilon(0); upper < 2000 {
		t.Errorf("2000 Laplace at δ = 0: %g", upper)
	}
}

// TestInfinite: what is at +∞ is in every δ(ε).
func TestInfinite(t *testing.T) {
	p := pair(t)(pld.Approximate(rat(t, "1"), rat(t, "1/8")))
	lower, upper := compose(t, pld.Step{Pair: p, Count: 2}).Delta(math.Inf(1))
	encloses(t, "δ(∞)", 15./64, lower, upper, 1e-9)
	if lower, upper = compose(t,
		pld.Step{Pair: pair(t)(pld.Pure(rat(t, "1"))), Count: 2}).Delta(math.Inf(1)); lower != 0 || upper != 0 {
		t.Errorf("pure: [%g, %g]", lower, upper)
	}
}
