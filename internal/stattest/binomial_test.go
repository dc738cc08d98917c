package stattest_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
)

// exactTail is P(X ≥ k) by rationals.
func exactTail(n, k int, p *big.Rat) float64 {
	power := func(r *big.Rat, e int) *big.Rat {
		out := big.NewRat(1, 1)
		for range e {
			out.Mul(out, r)
		}
		return out
	}
	q, sum := new(big.Rat).Sub(big.NewRat(1, 1), p), new(big.Rat)
	for j := k; j <= n; j++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(j)))
		sum.Add(sum, term.Mul(term, power(p, j)).Mul(term, power(q, n-j)))
	}
	f, _ := sum.Float64()
	return f
}

func TestBinomialTails(t *testing.T) {
	for _, n := range []int{1, 7, 30} {
		for _, p := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 100), big.NewRat(19, 20), new(big.Rat), big.NewRat(1, 1)} {
			f, _ := p.Float64()
			b := stattest.Binomial{Trials: n, Probability: f}
			for k := -1; k <= n+1; k++ {
				want := exactTail(n, max(k, 0), p)
				if got := b.AtLeast(k); math.Abs(got-want) > 1e-9*want+1e-15 {
					t.Errorf("P(Bin(%d, %s) ≥ %d) = %g, want %g", n, p, k, got, want)
				}
				if got := b.AtMost(k - 1); math.Abs(got-(1-want)) > 1e-12 {
					t.Errorf("P(Bin(%d, %s) ≤ %d) = %g, want %g", n, p, k-1, got, 1-want)
				}
			}
		}
	}
	deep := stattest.Binomial{Trials: 1_000_000, Probability: 0.95}
	if p := deep.AtMost(948_000); !(p > 1e-20 && p < 1e-18) {
		t.Errorf("a deep tail is %g", p)
	}
}

func TestProportionCatches(t *testing.T) {
	of := stattest.Binomial{Trials: 100_000, Probability: 0.95}
	for hits, fine := range map[int][2]bool{95_000: {true, true}, 95_250: {true, true}, 94_600: {false, false}, 95_400: {false, true}} {
		test := stattest.Proportion{Successes: hits, Of: of, FalseAlarm: 1e-6}
		if err := test.Check(); (err == nil) != fine[0] {
			t.Errorf("%d successes: %v", hits, err)
		}
		if err := test.CheckAtLeast(); (err == nil) != fine[1] {
			t.Errorf("%d successes, at least: %v", hits, err)
		}
	}
}
