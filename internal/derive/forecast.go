package derive

import (
	"math"

	"dither/internal/plan"
)

// Forecast is what an output's error will be, from public parameters. NaN stands for what is not known beforehand.
type Forecast struct {
	StdDev, HalfWidth             float64
	StdDevTimesN, HalfWidthTimesN float64 // of an average over n rows near the middle of its bounds
	N                             int64   // the number of rows that StdDev and HalfWidth of an average are given at
}

// Forecast tells an output's error at level alpha. rows is a public number of rows, or 0.
func (a *Answer) Forecast(o plan.Output, alpha float64, rows int64) Forecast {
	none := math.NaN()
	f := Forecast{none, none, none, none, 0}
	if m := a.Single(o); m != nil {
		r := a.measures[m]
		f.StdDev, f.HalfWidth = r.stdDev(), r.float(r.reach(alpha))
		return f
	}
	if o.Post.Op == plan.PostAggregate {
		avg := newAverage(a.plan.Aggregates[o.Post.Index], a.measures)
		f.StdDevTimesN, f.HalfWidthTimesN = avg.spread(0), avg.reach(alpha)
		if rows > 0 {
			f.StdDev, f.HalfWidth, f.N = f.StdDevTimesN/float64(rows), f.HalfWidthTimesN/float64(rows), rows
		}
		return f
	}
	form, ok := a.form(o.Post)
	if !ok {
		return f
	}
	// Each aggregate's interval holds at its share of alpha, as in cell.outputs.
	share := alpha / float64(max(len(aggregates(o.Post)), 1))
	f.StdDev, f.HalfWidth = form.stdDev(a), 0
	for m, x := range form.slope {
		f.HalfWidth += math.Abs(x) * a.measures[m].float(a.measures[m].reach(share))
	}
	return f
}
