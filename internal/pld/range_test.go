package pld

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// One mechanism of bounded range has the curve of the proof; many lose no more than the upper bound whatever t each
// two-valued one takes, in every mixture that is tried.
func TestBoundedRange(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 9))
	for _, e := range []float64{0.01, 0.1, 1, 8} {
		pair, err := BoundedRange(new(big.Rat).SetFloat64(e))
		if err != nil {
			t.Fatal(err)
		}
		one, err := Compose([]Step{{pair, 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []float64{0, e / 4, e / 2, 0.9 * e} {
			want := math.Pow(math.Expm1((e-a)/2), 2) * math.Exp(a) / math.Expm1(e)
			if lower, upper := one.Delta(a); lower > want*(1+1e-9) || upper < want*(1-1e-9) || upper-lower > 1e-3*want {
				t.Errorf("ε = %v at %v: [%v, %v], want %v", e, a, lower, upper, want)
			}
		}
		const k = 12
		many, err := Compose([]Step{{pair, k}})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			a := random.Float64() * 4 * e
			first, second := random.Float64()*e, random.Float64()*e
			n := random.IntN(k + 1)
			exact := 0.0
			for i := range n + 1 {
				for j := range k - n + 1 {
					loss := float64(n)*(first-e) + float64(i)*e + float64(k-n)*(second-e) + float64(j)*e
					p := binomial(n, i, atTop(e, first)) * binomial(k-n, j, atTop(e, second))
					exact += p * max(0, -math.Expm1(a-loss))
				}
			}
			if _, upper := many.Delta(a); exact > upper*(1+1e-9) {
				t.Errorf("ε = %v: %d at t = %v and %d at %v have δ(%v) = %v, above %v",
					e, n, first, k-n, second, a, exact, upper)
			}
		}
	}
	if _, err := BoundedRange(new(big.Rat)); err == nil {
		t.Error("a range of 0")
	}
}

// atTop is the mass at loss t of the two-valued mechanism with losses t and t − e.
func atTop(e, t float64) float64 { return math.Exp(t) * math.Expm1(e-t) / math.Expm1(e) }

func binomial(n, i int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(i + 1))
	c, _ := math.Lgamma(float64(n - i + 1))
	return math.Exp(a-b-c) * math.Pow(p, float64(i)) * math.Pow(1-p, float64(n-i))
}
