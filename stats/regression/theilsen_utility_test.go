package regression

import (
	"math"
	"slices"
	"testing"

	"dither/internal/splitmix"

	"gonum.org/v1/gonum/mat"
)

// What the two methods that measure sums make of slopes of few rows: medians and root mean squares over 400 made-up
// tables (errors above 4 counted as 4), where package mechanism's test of the same kind pins those of Theil and Sen's.
// Rows are those of its tables: scaled predictors from −1 to 1, even or about the middle, v = z/2 and residuals of
// 0.16, or a tenth of all v at 1. What this test holds is which method docs/reference/statistics.md recommends where.
func TestFewRowsUtility(t *testing.T) {
	const runs = 400
	for _, c := range []struct {
		name        string
		n           int
		epsilon     float64
		median, rms float64 // of Theil and Sen's, as pinned there
		better      bool    // than AdaSSP by both
	}{
		{"even", 30, 1, 0.21, 1.341, false},
		{"even", 30, 4, 0.039, 0.067, true},
		{"even", 100, 1, 0.039, 0.053, true},
		{"even", 100, 4, 0.028, 0.04, true},
		{"even", 300, 1, 0.025, 0.039, true},
		{"even", 300, 4, 0.0141, 0.019, true},
		{"middling", 300, 1, 0.056, 0.084, true},
		{"middling", 300, 4, 0.037, 0.056, true},
		{"outlying", 100, 4, 0.03, 0.05, true},
		{"outlying", 300, 1, 0.02, 0.042, true},
	} {
		words := splitmix.At(splitmix.Mix(uint64(c.n)))
		two := func(scale float64) float64 { return 2 * scale * scale }
		e := c.epsilon
		laws := [2]equationNoise{
			{diagonal: two(3 / (0.45 * e)), offDiagonal: two(3 / (0.45 * e)), b: two(2 / (0.45 * e)), c: two(1 / (0.1 * e)), laplace: true},
			{diagonal: two(3 / (0.5 * e)), offDiagonal: two(3 / (0.5 * e)), b: two(2 / (0.5 * e)), laplace: true},
		}
		var errors [2][]float64
		for range runs {
			var xx [3]float64
			var xy [2]float64
			yy := 0.0
			for range c.n {
				z := (float64(words.Word()>>11)+0.5)/(1<<52) - 1
				if c.name == "middling" {
					z = 0.2 * standardNoise(&words, false)
				}
				v := z/2 + 0.16*standardNoise(&words, false)
				if c.name == "outlying" && words.Below(10) == 0 {
					v = 1
				}
				z, v = math.Max(-1, math.Min(1, z)), math.Max(-1, math.Min(1, v))
				xx[0], xx[1], xx[2] = xx[0]+1, xx[1]+z, xx[2]+z*z
				xy[0], xy[1], yy = xy[0]+v, xy[1]+z*v, yy+v*v
			}
			for i, law := range laws {
				noise := func(variance float64) float64 { return math.Sqrt(variance) * standardNoise(&words, true) }
				q := &normalEquations{noise: law, squares: i == 0, intercept: true}
				q.a = mat.NewSymDense(2,
					[]float64{
						xx[0] + noise(law.diagonal), xx[1] + noise(law.offDiagonal), 0,
						xx[2] + noise(law.diagonal),
					})
				q.b = []float64{xy[0] + noise(law.b), xy[1] + noise(law.b)}
				q.c, q.rows, q.size = yy+noise(law.c), q.a.At(0, 0), law.norm(plain(2), 0)
				off := 4.0
				if s, ok := q.solve(i == 0); ok {
					off = math.Min(4, math.Abs(s.gamma[1]-0.5))
				}
				errors[i] = append(errors[i], off)
			}
		}
		var medians, rms [2]float64
		for i := range errors {
			slices.Sort(errors[i])
			medians[i] = errors[i][runs/2]
			for _, x := range errors[i] {
				rms[i] += x * x / runs
			}
			rms[i] = math.Sqrt(rms[i])
		}
		t.Logf("%-9s %d rows, ε = %g: adassp %.3f (%.3f), lecture %.3f (%.3f), theil-sen %.3f (%.3f)", c.name, c.n, e,
			medians[0], rms[0], medians[1], rms[1], c.median, c.rms)
		if better := c.median < medians[0] && c.rms < rms[0]; better != c.better {
			t.Errorf("%s, %d rows, ε = %g: better than AdaSSP: %t", c.name, c.n, e, better)
		}
	}
}
