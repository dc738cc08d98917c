package selection

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
)

// flipLaw is that of permute-and-flip by its definition: over all orders, the first heads.
func flipLaw(u []float64) []float64 {
	top := slices.Max(u)
	out := make([]float64, len(u))
	var visit func(left []int, p float64)
	visit = func(left []int, p float64) {
		for k, i := range left {
			heads, next := math.Exp(u[i]-top), p/float64(len(left))
			out[i] += next * heads
			if heads < 1 {
				visit(slices.Delete(slices.Clone(left), k, k+1), next*(1-heads))
			}
		}
	}
	all := make([]int, len(u))
	for i := range all {
		all[i] = i
	}
	visit(all, 1)
	return out
}

// TestFlipIsNeverWorse: for all lists of four scores in 0…4 and three rates, the expected error of permute-and-flip
// is at most the exponential mechanism's, and so is the chance of each shortfall.
func TestFlipIsNeverWorse(t *testing.T) {
	for _, c := range []float64{0.1, 0.5, 2} {
		for code := range 625 {
			scores := []int64{int64(code % 5), int64(code / 5 % 5), int64(code / 25 % 5), int64(code / 125)}
			em, pf := exponentialLaw(times(c, scores)), flipLaw(times(c, scores))
			top := slices.Max(scores)
			expected := 0.0
			for fall := int64(1); fall <= 4; fall++ {
				tail := 0.0
				for i, s := range scores {
					if top-s >= fall {
						tail += pf[i] - em[i]
					}
				}
				if tail > 1e-12 {
					t.Errorf("%v at %g: a shortfall of %d or more is likelier by %g", scores, c, fall, tail)
				}
				expected += tail
			}
			if expected > 1e-12 {
				t.Errorf("%v at %g: the expected error is greater by %g", scores, c, expected)
			}
		}
	}
}

// flipFormula is the law of permute-and-flip by the integral in its doc comment, exactly summed as a polynomial's.
func flipFormula(u []float64) []float64 {
	top, out := slices.Max(u), make([]float64, len(u))
	for i := range u {
		polynomial := []float64{1}
		for j := range u {
			if j == i {
				continue
			}
			p := math.Exp(u[j] - top)
			polynomial = append(polynomial, 0)
			for k := len(polynomial) - 1; k > 0; k-- {
				polynomial[k] -= p * polynomial[k-1]
			}
		}
		for k, a := range polynomial {
			out[i] += a / float64(k+1)
		}
		out[i] *= math.Exp(u[i] - top)
	}
	return out
}

func TestFlipFormula(t *testing.T) {
	for _, u := range [][]float64{{0}, {0, 0}, {1, .5, -2}, {3, 3, 1, -1, 0}} {
		a, b := flipLaw(u), flipFormula(u)
		for i := range u {
			if math.Abs(a[i]-b[i]) > 1e-12 {
				t.Errorf("%v: %v by orders, %v by the integral", u, a, b)
			}
		}
	}
}

// TestFlipTies: with all scores equal, the first in the random order is taken, and each equally often.
func TestFlipTies(t *testing.T) {
	observed := make([]int, 5)
	m, source := PermuteAndFlip{big.NewInt(1), false, mechtest.EpsilonRatio(t, 1, 1)}, entropy.System()
	for range 10_000 {
		s, err := m.choose(source, make([]mechanism.Exact, 5))
		if err != nil {
			t.Fatal(err)
		}
		observed[s.Index]++
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: []float64{.2, .2, .2, .2, .2},
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}
