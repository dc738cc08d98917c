package sample_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/internal/stattest"
)

// roundedCDF is P(X ≤ x) = Φ((x + ½)/σ).
func roundedCDF(sigma2 *big.Rat) func(*big.Int) float64 {
	s2, _ := sigma2.Float64()
	return func(x *big.Int) float64 {
		f, _ := new(big.Float).SetInt(x).Float64()
		return math.Erfc(-(f+0.5)/math.Sqrt(2*s2)) / 2
	}
}

// TestRoundedGaussianDistribution compares whole samples with Φ at cells' ends: of single integers where there are
// few, and of sixteenths of σ where there are many.
func TestRoundedGaussianDistribution(t *testing.T) {
	for name, sigma2 := range map[string]*big.Rat{
		"0.05": ratio(1, 400), "0.3": ratio(9, 100), "0.5": ratio(1, 4), "1": ratio(1, 1), "√2": ratio(2, 1),
		"17.3": ratio(29929, 100),
		"1000": ratio(1_000_000, 1), "2^31.5": shifted(1, 63, big.NewInt(1)), "2^32": shifted(1, 64, big.NewInt(1)),
		"2^40":      shifted(1, 80, big.NewInt(1)),
		"2^99.5/√3": shifted(1, 199, big.NewInt(3)), "2^200": shifted(1, 400, big.NewInt(1)), "1/√7": ratio(1, 7),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := draws() / 3
			if sigma2.Num().BitLen() > 64 {
				n /= 4
			}
			sampled, f := drawn(sample.NewRoundedGaussian(sigma2), n), roundedCDF(sigma2)
			if err := (stattest.KolmogorovIntegers{
				Sample: sampled, CDF: f,
				FalseAlarm: falseAlarm,
			}).Check(); err != nil {
				t.Error(err)
			}
			width := new(big.Int).Sqrt(new(big.Int).Quo(sigma2.Num(), sigma2.Denom()))
			width.Rsh(width, 4)
			width.Add(width, big.NewInt(1))
			const k = 100                  // cells j: those x with ⌊x/width⌋ = j
			edge := func(j int) *big.Int { // the last integer below cell j
				e := new(big.Int).Mul(width, big.NewInt(int64(j)))
				return e.Sub(e, big.NewInt(1))
			}
			expected, observed := make([]float64, 2*k+1), make([]int, 2*k+1)
			below := 0.0
			for j := -k; j < k; j++ {
				p := f(edge(j + 1))
				expected[j+k], below = p-below, p
			}
			expected[2*k] = 1 - below
			for _, x := range sampled {
				j := new(big.Int).Div(x, width)
				observed[max(-k, min(k, int(j.Int64())))+k]++
			}
			if s2, _ := sigma2.Float64(); s2 > 0.01 { // at .05 all but 1e-23 is in one cell
				if err := (stattest.ChiSquared{
					Observed: observed, Expected: expected,
					FalseAlarm: falseAlarm,
				}).Check(); err != nil {
					t.Error(err)
				}
			} else if observed[k] != n {
				t.Errorf("%d of %d are 0", observed[k], n)
			}
		})
	}
}

// TestRoundedGaussianReplays: the same bytes make the same integers, and σ on words those of σ of any size.
func TestRoundedGaussianReplays(t *testing.T) {
	for _, sigma2 := range []*big.Rat{
		ratio(1, 7), ratio(1, 1), ratio(1_000_000, 1), shifted(1, 63, big.NewInt(3)),
		shifted(1, 400, big.NewInt(1)),
	} {
		g := sample.NewRoundedGaussian(sigma2)
		a, b, x, y := entropy.Recorded(recording(1<<16)), entropy.Recorded(recording(1<<16)), new(big.Int), new(big.Int)
		for range 200 {
			if g.Draw(a, x).Cmp(g.DrawAnySize(b, y)) != 0 || a.Consumed() != b.Consumed() {
				t.Fatalf("σ² = %s: %s and %s, from %d and %d bytes", sigma2, x, y, a.Consumed(), b.Consumed())
			}
		}
	}
}

// TestRoundedGaussianGolden pins which integers which bytes make.
func TestRoundedGaussianGolden(t *testing.T) {
	for _, golden := range []struct {
		sigma2   *big.Rat
		want     string
		consumed int64
	}{
		{ratio(1, 1), "0 -1 1 1 -1 0 ", 299},
		{ratio(2_000_000, 1), "-627 -1979 1226 1999 -1249 201 ", 299},
		{shifted(1, 200, big.NewInt(3)), "-324497970838800817379708712894 -292155043473985788804974365931 -540186165708498698922283918476 389409584311511207196467112150 2192689987807878958790323743583 -832399113482166407825294189022 ", 462},
	} {
		g, source, z, got := sample.NewRoundedGaussian(golden.sigma2), entropy.Recorded(recording(4096)),
			new(big.Int), ""
		for range 6 {
			got += g.Draw(source, z).String() + " "
		}
		if got != golden.want || source.Consumed() != golden.consumed {
			t.Errorf("σ² = %s: got %q from %d bytes; want %q from %d",
				golden.sigma2, got, source.Consumed(), golden.want, golden.consumed)
		}
	}
}

// TestRoundedGaussianEndsWithItsBytes: zeros make a k without end, ones an x whose comparison with another does not
// end.
func TestRoundedGaussianEndsWithItsBytes(t *testing.T) {
	for _, b := range []byte{0, 0xff} {
		err := entropy.Replay(bytes.Repeat([]byte{b}, 4000), func(src *entropy.Source) {
			sample.NewRoundedGaussian(ratio(1, 1)).Draw(src, new(big.Int))
		})
		if !errors.Is(err, entropy.ErrExhausted) {
			t.Errorf("bytes of %#x: %v", b, err)
		}
	}
}

// TestRoundedGaussianAllocatesNothing is about σ on words.
func TestRoundedGaussianAllocatesNothing(t *testing.T) {
	source, z := entropy.System(), new(big.Int).SetBits(make([]big.Word, 0, 8))
	for range 100 {
		source.Uint64()
	}
	for _, sigma2 := range []*big.Rat{ratio(1, 400), ratio(1_000_000, 1), shifted(1, 60, big.NewInt(1))} {
		g := sample.NewRoundedGaussian(sigma2)
		if n := testing.AllocsPerRun(1000, func() { g.Draw(source, z) }); n != 0 {
			t.Errorf("σ² = %s: %g allocations", sigma2, n)
		}
	}
}

func BenchmarkRoundedGaussian(b *testing.B) {
	for name, sigma2 := range map[string]*big.Rat{
		"1": ratio(1, 1), "10^6": ratio(1_000_000, 1),
		"2^80": shifted(1, 80, big.NewInt(1)), "2^400": shifted(1, 400, big.NewInt(1)),
	} {
		b.Run("rounded/"+name, func(b *testing.B) { drawAll(b, sample.NewRoundedGaussian(sigma2)) })
		b.Run("discrete/"+name, func(b *testing.B) { drawAll(b, sample.NewGaussian(sigma2)) })
	}
}

func drawAll(b *testing.B, s sampler) {
	source, z := entropy.System(), new(big.Int)
	b.ReportAllocs()
	for b.Loop() {
		s.Draw(source, z)
	}
	b.ReportMetric(float64(source.Consumed())/float64(b.N), "bytes/draw")
}

// BenchmarkOthers is a draw of each kind that other mechanisms add.
func BenchmarkOthers(b *testing.B) {
	b.Run("Tulap", func(b *testing.B) { drawAll(b, sample.NewTulap(ratio(1, 2), ratio(1, 1000))) })
	b.Run("truncated", func(b *testing.B) { drawAll(b, sample.NewTruncated(ratio(1, 2), big.NewInt(20))) })
	b.Run(
		"staircase", func(b *testing.B) { drawAll(b, sample.NewStaircase(big.NewInt(10), big.NewInt(2), ratio(4, 1))) })
}
