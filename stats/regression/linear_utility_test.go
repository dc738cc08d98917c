package regression

import (
	"math"
	"testing"

	"dither/internal/splitmix"
)

// The errors that regressions had when they were last looked at, on made-up rows and noise from seeds, so that they are
// the same at every run: root mean squares over coefficients, of the estimate with its ridge and of the equations
// solved as they are (errors above 10 counted as 10). A change for the better lowers them here.
func TestLinearUtility(t *testing.T) {
	const runs = 100
	for _, c := range []struct {
		world
		ridged, plain float64
	}{
		{world{1000, 5, 0.3, 0.3, 0.5, false}, 0.0535, 0.0625},
		{world{1000, 5, 0.3, 0.3, 0.02, false}, 0.097, 2.3},
		{world{300, 3, 0.3, 0.3, 0.005, false}, 0.43, 2.3},
		{world{1000, 2, 0.3, 0.3, 1, true}, 0.055, 0.055},
		{world{1000, 5, 0.3, 0.3, 1, true}, 0.081, 1.75},
		{world{5000, 5, 0.3, 0.3, 1, true}, 0.044, 0.069},
	} {
		words, size := splitmix.At(splitmix.Mix(11)), c.law().norm(plain(c.p), 0)
		ridged, solved := 0.0, 0.0
		for range runs {
			q, gamma := c.draw(&words, size)
			for i, target := range []*float64{&solved, &ridged} {
				s, ok := q.solve(i == 1)
				if !ok {
					t.Fatal("singular")
				}
				for k := range gamma {
					*target += math.Pow(math.Min(10, math.Abs(s.gamma[k]-gamma[k])), 2) / float64(runs*c.p)
				}
			}
		}
		ridged, solved = math.Sqrt(ridged), math.Sqrt(solved)
		if ridged > c.ridged || solved > c.plain {
			t.Errorf("%+v: %.4f and %.4f, were %g and %g", c.world, ridged, solved, c.ridged, c.plain)
		}
		t.Logf("%+v: %.4f and %.4f", c.world, ridged, solved)
	}
}
