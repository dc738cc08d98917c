package hypothesis

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"dither/noise"
)

// Tables of several shapes: even, with rows and columns that few are in, and larger; sparse ones, in which less than
// five are expected somewhere. Whether totals are known or not, and by Pearson's statistic too, what is true is
// rejected at .05 no more often.
func TestTablesOfAllShapesKeepTheirLevel(t *testing.T) {
	trials, sizes := 100, []int{300}
	if long() {
		trials, sizes = 2000, []int{100, 300, 1000, 10_000, 100_000}
	}
	shapes := []struct {
		name    string
		pi, tau []float64
	}{
		{"2×2", []float64{.5, .5}, []float64{.5, .5}},
		{"skewed 2×2", []float64{.9, .1}, []float64{.85, .15}},
		{"3×4", []float64{.5, .3, .2}, []float64{.4, .3, .2, .1}},
		{"sparse 5×6", []float64{.6, .2, .1, .06, .04}, []float64{.5, .2, .1, .1, .06, .04}},
	}
	noises := map[string]noise.Distribution{"σ² = 800": published(t), "scale 10": laplaceOf(t, big.NewRat(10, 1))}
	for _, shape := range shapes {
		rows, columns := len(shape.pi), len(shape.tau)
		var q []float64
		for _, a := range shape.pi {
			for _, b := range shape.tau {
				q = append(q, a*b)
			}
		}
		for kind, d := range noises {
			for i, n := range sizes {
				if !gaussian(d) && n > 1000 && rows*columns > 12 {
					continue // simulation takes long
				}
				for _, samples := range []bool{true, false} {
					for _, method := range []Method{Projected, Corrected} {
						for _, known := range []bool{true, false} {
							if method == Corrected && (known || n > 1000) {
								continue
							}
							s, l, x, got := newStream(130+uint64(i)), newLaw(d), make([]float64, len(q)), 0
							sizes := make([]float64, rows)
							for i, p := range shape.pi {
								sizes[i] = math.Max(1, math.Round(p*float64(n)))
							}
							for range trials {
								if samples {
									for i := range rows {
										draw(s, l, x[i*columns:(i+1)*columns], int64(sizes[i]), shape.tau)
									}
								} else {
									draw(s, l, x, int64(n), q)
								}
								table := Table{
									Noise: d,
									How:   How{Method: method, Simulations: 99, Seed: s.words.Word()},
								}
								for i := range rows {
									table.Counts = append(table.Counts, x[i*columns:(i+1)*columns])
								}
								switch {
								case samples && known:
									table.Sizes = sizes
								case known:
									table.N = float64(n)
								}
								test := table.Independence
								if samples {
									test = table.Proportions
								}
								r, err := test()
								if err != nil {
									t.Fatal(err)
								}
								if r.P <= .05 {
									got++
								}
							}
							what := fmt.Sprintf("%s, %s, %s, n = %d, known %t, samples %t: %.4f",
								shape.name, method, kind, n, known, samples, float64(got)/float64(trials))
							t.Log(what)
							if err := level(got, trials, .053); err != nil {
								t.Errorf("%s: %v", what, err)
							}
						}
					}
				}
			}
		}
	}
}

// The other statistics of goodness of fit keep their level too: the unprojected one, and Pearson's with its true null
// distribution.
func TestOtherFitsKeepTheirLevel(t *testing.T) {
	trials, sizes := 150, []int{300}
	if long() {
		trials, sizes = 4000, []int{100, 300, 1000, 10_000, 100_000}
	}
	null := []float64{.5, .3, .15, .05}
	for kind, d := range map[string]noise.Distribution{
		"σ² = 800": published(t),
		"scale 10": laplaceOf(t, big.NewRat(10, 1)),
	} {
		for i, n := range sizes {
			for _, method := range []Method{Unprojected, Corrected} {
				for _, known := range []float64{float64(n), 0} {
					if method == Unprojected && known == 0 {
						continue
					}
					seed := uint64(0)
					got := rate(t, trials, n, null, d, 150+uint64(i), func(x []float64) (*Test, error) {
						seed++
						return GoodnessOfFit{
							Counts: x, Noise: d, Null: null, N: known,
							How: How{Method: method, Simulations: 99, Seed: seed},
						}.Test()
					})
					what := fmt.Sprintf("%s, %s, n = %d, known %t: %.4f",
						method, kind, n, known > 0, float64(got)/float64(trials))
					t.Log(what)
					if err := level(got, trials, .053); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		}
	}
}
