package hypothesis

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/noise"
)

// Whatever the numbers, a test is refused, or gives a p-value and an interval that are numbers.
func TestAnyNumbers(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-100, 1000), rapid.Float64(),
		rapid.SampledFrom([]float64{0, 1, -1, 5, 1e15, -1e15, 1e-300}))
	rapid.Check(t, func(t *rapid.T) {
		scale := big.NewRat(rapid.Int64Range(1, 1_000_000).Draw(t, "scale"), rapid.Int64Range(1, 1000).Draw(t, "over"))
		var d noise.Distribution
		var err error
		switch rapid.IntRange(0, 2).Draw(t, "noise") {
		case 0:
			d, err = noise.NewDiscreteLaplace(scale)
		case 1:
			d, err = noise.NewDiscreteGaussian(scale)
		}
		if err != nil {
			t.Fatal(err)
		}
		x := rapid.SliceOfN(number, 6, 6).Draw(t, "x")
		n := rapid.SampledFrom([]float64{0, 1, 100, 1e6, 1e15}).Draw(t, "n")
		how := How{
			Method: rapid.SampledFrom(Methods).Draw(t, "method"), Simulate: rapid.Bool().Draw(t, "simulate"),
			Simulations: 99,
		}
		sample := Sample{
			Count: Noisy{x[0], d, 0}, Sum: Noisy{x[1], d, 0.5}, Squares: Noisy{x[2], d, 2}, Low: x[3],
			High: x[4], Centre: x[5], HasSquares: x[2] > 5,
		}
		other := sample
		other.Sum.Value = x[5]
		tests := map[string]func() (*Test, error){
			"fit":          GoodnessOfFit{Counts: x, Noise: d, N: n, How: how}.Test,
			"independence": Table{Counts: [][]float64{x[:3], x[3:]}, Noise: d, N: n, How: how}.Independence,
			"proportions": Table{
				Counts: [][]float64{x[:3], x[3:]}, Noise: d, Sizes: []float64{max(1, n), 7},
				How: how,
			}.Proportions,
			"difference": func() (*Test, error) {
				return Table{Counts: [][]float64{x[:2], x[2:4]}, Noise: d, How: how}.Difference(.9)
			},
			"mean": func() (*Test, error) { return Mean(sample, Comparison{Null: x[5], Simulations: 99}) },
			"means": func() (*Test,
				error,
			) {
				return Means(sample, other, Comparison{Alternative: Greater, Simulations: 99})
			},
		}
		for name, test := range tests {
			r, err := test()
			if err != nil {
				if !errors.Is(err, ErrInput) {
					t.Fatalf("%s: %v", name, err)
				}
				continue
			}
			if !(r.P >= 0 && r.P <= 1) || math.IsNaN(r.Statistic) || math.IsInf(r.Statistic, 0) ||
				math.IsNaN(r.Interval.Low) || math.IsNaN(r.Interval.High) ||
				r.Interval.Low > r.Interval.High {
				t.Fatalf("%s: %+v", name, r)
			}
		}
		b := Binomial{Value: math.Round(x[0]), N: 1 + int(math.Mod(math.Abs(x[1]), 50)), Noise: d}
		if in, err := b.Interval(.9, TwoSided); err == nil && !(in.Low >= 0 && in.Low <= in.High && in.High <= 1) {
			t.Fatalf("%+v of %+v", in, b)
		} else if err != nil && !errors.Is(err, ErrInput) {
			t.Fatal(err)
		}
	})
}
