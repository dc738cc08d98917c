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

// Reports returns the number of added reports.
func (t *Tally) Reports() int64 { return t.n }

// Folded is what remains of reports that were averaged and deleted: their number, the mean of their values, and the sum
// of the squared deviations from it.
type Folded struct {
	Reports       int64
	Mean, Squares float64
}

// Fold returns the averages of all reports of the tally.
func (t *Tally) Fold() Folded { return Folded{t.n, t.mean, t.square} }

// AddFolded adds folded reports of a randomizer with the same parameters. The error is ErrParameter if there are no such
// reports; then nothing is added.
func (t *Tally) AddFolded(f Folded) error {
	if f.Reports == 0 {
		return nil
	}
	most := t.r.Largest() * (1 + 1e-9) // of rounding
	if f.Reports < 0 || f.Reports > 1<<40-t.n || !(math.Abs(f.Mean) <= most) ||
		!(f.Squares >= 0 && f.Squares <= float64(f.Reports)*4*most*most) {
		return fmt.Errorf("%w: they are no averages of reports", ErrParameter)
	}
	n, m := float64(t.n), float64(f.Reports) // Chan, Golub & LeVeque 1979
	step := f.Mean - t.mean
	t.mean += step * m / (n + m)
	t.square += f.Squares + step*step*n*m/(n+m)
	t.n += f.Reports
	return nil
}

// Merge adds the reports of another tally, whose randomizer has the same parameters.
func (t *Tally) Merge(other *Tally) error {
	if t.r.params.Mechanism != other.r.params.Mechanism || t.r.params.Epsilon.Cmp(other.r.params.Epsilon) != 0 {
		return fmt.Errorf("%w: the tallies have reports of different randomizers", ErrParameter)
	}
	return t.AddFolded(other.Fold())
}

// Suspect widens the interval of an estimate of this tally: it covers the mean of the honest senders' numbers, at the
// confidence, if at most m of the reports are malicious. The error is ErrParameter.
//
// Proof. Let m' ≤ m of n reports be malicious, with the values v, let x be the mean of all values, and x' that of the
// honest ones. No value exceeds B = Largest in size. Then n·x = (n − m')x' + Σv, so |x' − x| = |Σ(x − v)|/(n − m') ≤
// m(|x| + B)/(n − m). The deviation of x' is at most √((Worst + 1)/(n − m)). ∎ The mean of numbers is from −1 to 1.
func (t *Tally) Suspect(m int64, confidence float64, e Estimate) (Estimate, error) {
	if m < 0 || !(confidence > 0 && confidence < 1) {
		return e, fmt.Errorf("%w: the number of malicious reports is at least 0, and the confidence in (0, 1)", ErrParameter)
	}
	switch {
	case m >= t.n:
		e.Low, e.High = -1, 1
	case m > 0:
		n, k := float64(t.n), float64(m)
		half := k*(math.Abs(e.Mean)+t.r.Largest())/(n-k) +
			math.Sqrt2*math.Erfinv(confidence)*math.Sqrt((t.r.Worst()+1)/(n-k))
		e.Low, e.High = max(min(e.Low, e.Mean-half), -1), min(max(e.High, e.Mean+half), 1)
	}
	return e, nil
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
