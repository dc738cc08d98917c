package derive

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
)

// Forecast is the expected error of an output, computed from public parameters. NaN stands for an error that is not
// known in advance.
type Forecast struct {
	StdDev, HalfWidth float64
	// For an average over n rows near the middle of its bounds: the errors times n, to first order in 1/n. They are
	// somewhat too small if n is small compared with the noise of the count. They omit the rounding to the grid,
	// which moves the average by at most half a grid unit.
	StdDevTimesN, HalfWidthTimesN float64
	N                             int64 // for an average: the number of rows for which StdDev and HalfWidth are given
}

// Forecast returns the error of an output at level alpha. rows is a public number of rows, or 0 if none is known.
func (a *Answer) Forecast(o plan.Output, alpha float64, rows int64) Forecast {
	none := math.NaN()
	f := Forecast{none, none, none, none, 0}
	if m := a.Single(o); m != nil {
		r := a.measures[m]
		f.StdDev, f.HalfWidth = r.stdDev(), r.float(r.reach(alpha))
		return f
	}
	if q, m := a.Ordered(o); q != nil || m != nil {
		return f // the error is in ranks: see plan.Quantile.RankError and plan.Mode.Shortfall
	}
	if o.Post.Op == plan.PostAggregate && a.plan.Aggregates[o.Post.Index].Func == plan.Average {
		if agg := a.plan.Aggregates[o.Post.Index]; agg.Rows > 0 {
			return meanForecast(a, agg, alpha)
		}
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
	f.StdDev, f.HalfWidth = form.stdDev(a), exact.FloatUp(a.reachOfOutput(o, form, a, alpha))
	return f
}

// reachOfOutput returns the half-width of an output's interval, where the output is a linear form.
func (a *Answer) reachOfOutput(o plan.Output, f form, of errorBars, alpha float64) *big.Rat {
	if o.Post.Op != plan.PostAggregate || !a.plan.Aggregates[o.Post.Index].Centred() {
		return f.apart(of, f.share(alpha, len(aggregates(o.Post))))
	}
	agg := a.plan.Aggregates[o.Post.Index]
	reach := a.reachOfSum(agg, f, of, alpha)
	fitted, _ := of.(*grid)
	if wholeSum(agg) && fitted.integers(agg) {
		return wholeReach(reach, agg)
	}
	return reach
}

// meanForecast returns the error of an average over a declared number of rows.
func meanForecast(of errorBars, agg plan.Aggregate, alpha float64) Forecast {
	none, rows := math.NaN(), new(big.Rat).SetInt64(agg.Rows)
	return Forecast{
		of.stdDevOf(agg.Sum) / float64(agg.Rows), exact.FloatUp(rows.Quo(of.reachOf(agg.Sum, alpha), rows)), none, none, 0,
	}
}
