// Package combine combines estimates over several synthetic tables into one estimate with an interval.
//
// The tables are draws from the posterior distribution of a model, given noisy measurements (package synth/posterior). The
// differences between the tables state the uncertainty of the model, with the noise and the sampling of people.
//
// Sources: Raghunathan, Reiter and Rubin, "Multiple imputation for statistical disclosure limitation", Journal of Official
// Statistics 2003. Reiter, "Satisfying disclosure requirements with synthetic data sets", Journal of Official Statistics 2002.
package combine

import (
	"errors"
	"math"

	"dither/stats/internal/student"
)

// MinSets is the least number of tables that have an interval.
const MinSets = 2

// ErrSets says that estimates cannot be combined.
var ErrSets = errors.New("combine: needs at least 2 finite estimates that vary, and a confidence between 0 and 1")

// Estimate is an estimate from one synthetic table.
type Estimate struct {
	Value    float64
	Variance float64 // of the value, as the usual formula computes it from the rows of this table
}

// Combined is an estimate with its interval.
type Combined struct {
	Value    float64
	Variance float64 // T
	Freedom  float64 // degrees of freedom of the t distribution
	Low      float64
	High     float64
	Between  float64 // b: the variance of the values
	Within   float64 // ū: the mean variance
	// Corrected says that T was not positive, so Variance is its replacement. More draws or more rows avoid this.
	Corrected bool
}

// Synthetic combines estimates by the rules for fully synthetic data. rows is the number of rows of each synthetic table,
// and people the number of real rows, possibly with noise. Of m values with mean q̄, variance b and mean variance ū, the
// variance is
//
//	T = (1 + 1/m)·b − ū.
//
// The synthetic rows are drawn from the posterior distribution, so b is about the posterior variance plus ū. If T is
// not positive, the variance is ū·rows/people: about the sampling variance of the real rows [Reiter 2002]. The interval
// uses the t distribution with (m − 1)(1 − 1/r)² degrees of freedom, with r = (1 + 1/m)·b/ū, and at least 1. A corrected
// variance uses m − 1.
func Synthetic(sets []Estimate, rows, people int64, confidence float64) (*Combined, error) {
	m := float64(len(sets))
	if len(sets) < MinSets || rows < 1 || people < 1 || !(confidence > 0 && confidence < 1) {
		return nil, ErrSets
	}
	out := &Combined{}
	for _, s := range sets {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || !(s.Variance >= 0) || math.IsInf(s.Variance, 0) {
			return nil, ErrSets
		}
		out.Value += s.Value / m
		out.Within += s.Variance / m
	}
	for _, s := range sets {
		out.Between += (s.Value - out.Value) * (s.Value - out.Value) / (m - 1)
	}
	spread := (1 + 1/m) * out.Between
	if out.Within <= 0 && spread <= 0 { // a constant: the draws cannot tell how wrong it is
		return nil, ErrSets
	}
	out.Variance, out.Freedom = spread-out.Within, m-1
	switch {
	case out.Variance > 0 && out.Within > 0:
		share := 1 - out.Within/spread
		out.Freedom = max(1, (m-1)*share*share)
	case out.Variance <= 0:
		out.Corrected = true
		out.Variance = out.Within * float64(rows) / float64(people)
	}
	margin := student.Quantile(1-confidence, out.Freedom) * math.Sqrt(out.Variance)
	out.Low, out.High = out.Value-margin, out.Value+margin
	return out, nil
}
