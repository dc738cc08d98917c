package derive

import (
	"math"

	"dither/internal/exact"
	"dither/internal/plan"
)

// Forecast is the expected error of an output, from public parameters. NaN stands for an error that is not known
// beforehand.
type Forecast struct {
	StdDev, HalfWidth float64
	// For an average over n rows near the middle of its bounds, to first order in 1/n: somewhat too small if n is small
	// compared with the count's noise. It omits the rounding to the grid, which is at most half a grid unit of the
	// average.
	StdDevTimesN, HalfWidthTimesN float64
	N                             int64 // the number of rows that StdDev and HalfWidth of an average are given at
}

// Forecast returns an output's error at level alpha. rows is a public number of rows, or 0.
func (a *Answer) Forecast(o plan.Output, alpha float64, rows int64) Forecast {
	none := math.NaN()
	f := Forecast{none, none, none, none, 0}
	if m := a.Single(o); m != nil {
		r := a.measures[m]
		f.StdDev, f.HalfWidth = r.stdDev(), r.float(r.reach(alpha))
		return f
	}
	if q, m := a.Ordered(o); q != nil || m != nil {
		return f // an error in ranks: plan.Quantile.RankError and plan.Mode.Shortfall tell it
	}
	if o.Post.Op == plan.PostAggregate {
		avg := newAverage(a.plan.Aggregates[o.Post.Index], a.measures)
		f.StdDevTimesN, f.HalfWidthTimesN = avg.spread(0), avg.reach(alpha)
		if rows > 0 {
			f.StdDev, f.HalfWidth, f.N = f.StdDevTimesN/float64(rows), f.HalfWidthTimesN/float64(rows), rows
		}
		return f
	}
	form, ok := a.formOf(o.Post)
	if !ok {
		return f
	}
	// At each aggregate's share of alpha, as in cell.outputs.
	f.StdDev = form.stdDev(a)
	f.HalfWidth = exact.FloatUp(form.reach(a, alpha/float64(max(len(aggregates(o.Post)), 1))))
	return f
}
