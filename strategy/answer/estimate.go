package answer

import (
	"fmt"
	"math"
	"slices"

	"dither/curator"
	"dither/internal/parallel"
	"dither/noise"
	"dither/strategy"
)

// Estimate is the cells of a column, estimated from one release by least squares. All answers agree with each other. If the
// policy declares totals for the question, they are constants, and other answers have less noise.
type Estimate struct {
	ID               string
	Column           *Column
	Strategy         *strategy.Strategy
	Limits           *curator.Limits // what bounds the release
	Price, Remaining curator.Loss
	Replayed         bool

	given *strategy.Strategy // Strategy with the policy's totals as constants
	cells []float64          // in units of unit
	unit  float64
	noise noise.Distribution // of each measurement, in units of unit
}

// Answer is an estimated linear query.
type Answer struct {
	Value     float64
	Deviation float64 // the standard deviation of the noise
	Low, High float64 // a confidence interval around the bounded answer, for the noise alone
}

// Answer returns the estimate of Σ_j query[j]·x_j, with an interval of the given confidence, between 0 and 1. The
// interval is valid for every single query that does not depend on the release: its half-width bounds a quantile of
// the exact distribution of the noise (noise.Combination).
func (e *Estimate) Answer(query []float64, confidence float64) (Answer, error) {
	if !(confidence > 0 && confidence < 1) {
		return Answer{}, fmt.Errorf("%w: the confidence must be between 0 and 1", ErrColumn)
	}
	weights, err := e.weights(query)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	for j, v := range query {
		a.Value += v * e.cells[j]
	}
	var off noise.Combination
	times := map[float64]float64{}
	for _, w := range weights {
		times[math.Abs(w)]++
	}
	sizes := make([]float64, 0, len(times))
	for w := range times {
		sizes = append(sizes, w)
	}
	slices.Sort(sizes)
	for _, w := range sizes {
		off.Add(w, e.noise, times[w])
	}
	a.Value *= e.unit
	a.Deviation = off.StdDev() * e.unit
	half := off.Quantile(1-confidence) * e.unit
	a.Low, a.High = a.Value-half, a.Value+half
	return a, nil
}

// constant is the largest ratio of variances at which an answer counts as determined by totals. Rounding leaves such a ratio.
const constant = 1e-11

// weights returns the coefficients of the measurements in the answer to a query: none if the policy's totals determine it.
func (e *Estimate) weights(query []float64) ([]float64, error) {
	w, err := e.given.Weights(query)
	if err != nil || e.given == e.Strategy {
		return w, err
	}
	without, err := e.Strategy.Weights(query)
	if err != nil {
		return nil, err
	}
	if squares(w) <= constant*squares(without) {
		clear(w)
	}
	return w, nil
}

func squares(x []float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// Answers returns the answers of the strategy's workload, in the order of [strategy.Workload.All].
func (e *Estimate) Answers(confidence float64) ([]Answer, error) { return e.each(e.Answer, confidence) }

// each returns the answers of the strategy's workload.
func (e *Estimate) each(answer func([]float64, float64) (Answer, error), confidence float64) ([]Answer, error) {
	queries := slices.Collect(e.Strategy.Workload().All())
	out, failed := make([]Answer, len(queries)), make([]error, len(queries))
	parallel.Each(len(queries), func(i int) {
		out[i], failed[i] = answer(queries[i].Coefficients(len(e.cells)), confidence)
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Covariance returns the covariance of the noise of the answers to two queries. So the variance of a difference of
// answers is the sum of their variances less twice the covariance.
func (e *Estimate) Covariance(query, other []float64) (float64, error) {
	v, err := e.weights(query)
	if err != nil {
		return 0, err
	}
	w, err := e.weights(other)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i := range v {
		sum += v[i] * w[i]
	}
	return sum * e.noise.Variance() * e.unit * e.unit, nil
}
