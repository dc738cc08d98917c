package mean

import (
	"fmt"
	"math"
)

// Estimate is an estimated mean, with the standard deviation of the estimate and a confidence interval.
type Estimate struct {
	N                       int64
	Mean, Stddev, Low, High float64
}

// Tally averages reports of one randomizer. It is not safe for concurrent use.
type Tally struct {
	r            *Randomizer
	n            int64
	mean, square float64 // of the values: the mean, and the sum of squared deviations from it
}

// NewTally returns a tally without reports.
func (r *Randomizer) NewTally() *Tally { return &Tally{r: r} }

// Add adds a report, or returns ErrReport.
func (t *Tally) Add(report Report) error {
	x, err := t.r.Value(report)
	if err != nil {
		return err
	}
	t.n++ // Welford's recursion
	step := x - t.mean
	t.mean += step / float64(t.n)
	t.square += step * (x - t.mean)
	return nil
}

// few is the number of reports up to which the interval uses the largest variance.
const few = 200

// Estimate estimates the mean of the senders' numbers. It is unbiased, and may be outside −1 to 1. The variance is
// that of the reports, which includes the spread of the numbers. So the interval covers the mean of the population
// too, if the senders are a random sample of it. For up to 200 reports, the variance is the largest one for any
// numbers. The interval is normal. The error is ErrParameter unless the confidence is above 0 and below 1.
func (t *Tally) Estimate(confidence float64) (Estimate, error) {
	if !(confidence > 0 && confidence < 1) {
		return Estimate{}, fmt.Errorf("%w: the confidence is above 0 and below 1", ErrParameter)
	}
	if t.n == 0 {
		return Estimate{Low: -1, High: 1}, nil
	}
	n := float64(t.n)
	v := t.r.Worst() + 1 // at most 1 for the spread of the numbers
	if t.n > few {
		v = t.square / (n - 1)
	}
	e := Estimate{N: t.n, Mean: t.mean, Stddev: math.Sqrt(v / n)}
	z := math.Sqrt2 * math.Erfinv(confidence)
	e.Low, e.High = e.Mean-z*e.Stddev, e.Mean+z*e.Stddev
	return e, nil
}
