package statstest

import (
	"math"
	"slices"
	"testing"

	"dither/curator"
	"dither/internal/stattest"
)

// Exact returns the exact statistics of two columns, by the names that estimates have.
func Exact(x, y []float64) map[string]float64 {
	mean := func(v []float64) float64 {
		sum := 0.0
		for _, a := range v {
			sum += a
		}
		return sum / float64(len(v))
	}
	mx, my := mean(x), mean(y)
	var xx, xy, yy float64
	for i := range x {
		xx, xy, yy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my), yy+(y[i]-my)*(y[i]-my)
	}
	n := float64(len(x) - 1)
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return map[string]float64{
		"mean(x)": mx, "mean(y)": my, "variance(x)": xx / n, "variance(y)": yy / n, "var(x)": xx / n, "var(y)": yy / n,
		"cov(x, y)":         xy / n,
		"corr(x, y)":        xy / math.Sqrt(xx*yy),
		"quantile(x, 0.25)": sorted[len(x)/4], "quantile(x, 0.5)": sorted[len(x)/2],
		"quantile(x, 0.75)": sorted[3*len(x)/4],
	}
}

// Covers counts intervals: Of in all, and Held that contain the true value.
type Covers struct{ Held, Of int }

// Add counts one interval. A nil end means that the interval is unbounded on that side.
func (c *Covers) Add(low, high *curator.Number, truth float64) {
	c.Of++
	if (low == nil || low.Real <= truth) && (high == nil || truth <= high.Real) {
		c.Held++
	}
}

// Check fails the test if significantly fewer than 95 % of the intervals contain the true value. Its false-alarm
// rate is at most one in a million.
func (c *Covers) Check(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %d of %d 95 %% intervals hold the truth", what, c.Held, c.Of)
	if err := (stattest.Proportion{
		Successes: c.Held, Of: stattest.Binomial{Trials: c.Of, Probability: 0.95},
		FalseAlarm: 1e-6,
	}).CheckAtLeast(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}
