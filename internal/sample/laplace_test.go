package sample_test

import (
	"math"
	"math/big"
	"os"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/internal/stattest"
)

const falseAlarm = 1e-6

// draws is the size of a sample: enough to see a scale that is 5 % wrong; with DITHER_LONG=1, 1 %.
func draws() int {
	if os.Getenv("DITHER_LONG") != "" {
		return 5_000_000
	}
	return 150_000
}

func ratio(num, den int64) *big.Rat { return big.NewRat(num, den) }

func shifted(num int64, shift uint, den *big.Int) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(num), shift), den)
}

// cdf is the distribution function of the discrete Laplace, written apart from package noise: P(X ≤ x) = 1 −
// p^(x+1)/(1+p) for x ≥ 0 and p^|x|/(1+p) for x < 0.
func cdf(scale *big.Rat) func(*big.Int) float64 {
	b, _ := scale.Float64()
	p := math.Exp(-1 / b)
	return func(x *big.Int) float64 {
		f, _ := new(big.Float).SetInt(x).Float64()
		if x.Sign() < 0 {
			return math.Exp(f/b) / (1 + p)
		}
		return 1 - math.Exp(-(f+1)/b)/(1+p)
	}
}

// cells are the probabilities of x ≤ −k, −k+1, …, k−1, ≥ k.
func cells(scale *big.Rat, k int) []float64 {
	f := cdf(scale)
	at := func(x int) float64 { return f(big.NewInt(int64(x))) }
	out := []float64{at(-k)}
	for x := -k + 1; x < k; x++ {
		out = append(out, at(x)-at(x-1))
	}
	return append(out, 1-at(k-1))
}

// counts sorts a sample into the same cells.
func counts(sampled []*big.Int, k int) []int {
	out := make([]int, 2*k+1)
	for _, x := range sampled {
		i := k * x.Sign()
		if x.IsInt64() {
			i = int(max(int64(-k), min(int64(k), x.Int64())))
		}
		out[i+k]++
	}
	return out
}

func TestDiscreteLaplaceDistribution(t *testing.T) {
	scales := map[string]*big.Rat{
		"0.05": ratio(1, 20), "0.3": ratio(3, 10), "1": ratio(1, 1), "7/3": ratio(7, 3), "100": ratio(100, 1),
		"12345.678": ratio(12345678, 1000), "1e9": ratio(1_000_000_000, 1), "2^45/3": shifted(1, 45, big.NewInt(3)),
	}
	for name, scale := range scales {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			follows(t, scale, draws())
		})
	}
}

// TestDiscreteLaplaceBorder is about scales at the borders between words, pairs and big integers, on either side of the
// fraction, and beyond them. TestLaplacePathsAgree has the codes agree below them, so that fewer draws will do.
func TestDiscreteLaplaceBorder(t *testing.T) {
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1)) // a denominator of 127 bits
	scales := map[string]*big.Rat{
		"2^60": shifted(1, 60, big.NewInt(1)), "2^64-1": new(big.Rat).SetInt(new(big.Int).SetUint64(math.MaxUint64)),
		"2^64": shifted(1, 64, big.NewInt(1)), "2^128": shifted(1, 128, big.NewInt(1)),
		"2^63/(2^64-1)":     shifted(1, 63, new(big.Int).SetUint64(math.MaxUint64)),
		"5·2^128/prime":     shifted(5, 128, prime),
		"7·2^125/(3·prime)": shifted(7, 125, new(big.Int).Mul(big.NewInt(3), prime)),
		"2^200":             shifted(1, 200, big.NewInt(1)),
	}
	for name, scale := range scales {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			follows(t, scale, draws()/10)
		})
	}
}

// follows tests n fresh draws against the distribution function and the masses, and their last digits.
func follows(t *testing.T, scale *big.Rat, n int) {
	t.Helper()
	sampled := drawn(sample.NewLaplace(scale), n)
	if err := (stattest.KolmogorovIntegers{
		Sample: sampled, CDF: cdf(scale),
		FalseAlarm: falseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
	if b, _ := scale.Float64(); 0.1 < b && b <= 200 { // at .05 two in 10⁹ differ from 0
		const k = 2000
		if err := (stattest.ChiSquared{
			Observed: counts(sampled, k), Expected: cells(scale, k),
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Error(err)
		}
	}
	lowBit(t, scale, sampled)
}

// drawn is a sample of n, each from a fresh integer.
func drawn(s interface {
	Fill(src *entropy.Source, dst []*big.Int)
}, n int,
) []*big.Int {
	sampled, room := make([]*big.Int, n), make([]big.Int, n)
	for i := range sampled {
		sampled[i] = &room[i]
	}
	s.Fill(entropy.System(), sampled)
	return sampled
}

// lowBit checks the parity of a large sample: an odd or even bias of the last digit is invisible to the distribution
// function. The discrete Laplace is even with probability (1 + p²)/(1 + p)².
func lowBit(t *testing.T, scale *big.Rat, sampled []*big.Int) {
	b, _ := scale.Float64()
	p := math.Exp(-1 / b)
	even := 0
	for _, x := range sampled {
		even += 1 - int(x.Bit(0))
	}
	of := stattest.Binomial{Trials: len(sampled), Probability: (1 + p*p) / (1 + p) / (1 + p)}
	if err := (stattest.Proportion{Successes: even, Of: of, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Errorf("even integers: %v", err)
	}
}

func TestBernoulliExp(t *testing.T) {
	source := entropy.System()
	large := shifted(1, 130, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 131), big.NewInt(1)))
	for _, x := range []*big.Rat{
		ratio(0, 1), ratio(1, 1000), ratio(1, 2), ratio(999, 1000), ratio(1, 1), ratio(4, 3),
		ratio(3, 1), ratio(15, 2), large,
	} {
		of := stattest.Binomial{Trials: 40_000}
		f, _ := x.Float64()
		of.Probability = math.Exp(-f)
		hits := 0
		for range of.Trials {
			if sample.BernoulliExp(source, x) {
				hits++
			}
		}
		if err := (stattest.Proportion{Successes: hits, Of: of, FalseAlarm: falseAlarm}).Check(); err != nil {
			t.Errorf("exp(−%s): %v", x.FloatString(6), err)
		}
	}
	if sample.BernoulliExp(source, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100))) {
		t.Error("exp(−2¹⁰⁰) came true")
	}
}

func TestBadParametersPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"zero scale":     func() { sample.DiscreteLaplace(entropy.System(), ratio(0, 1)) },
		"negative scale": func() { sample.DiscreteLaplace(entropy.System(), ratio(-1, 2)) },
		"zero σ²":        func() { sample.DiscreteGaussian(entropy.System(), ratio(0, 1)) },
		"negative σ²":    func() { sample.DiscreteGaussian(entropy.System(), ratio(-1, 2)) },
		"negative x":     func() { sample.BernoulliExp(entropy.System(), ratio(-1, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
