package model

import (
	"fmt"
	"math"
	"slices"
)

// Measurement has noisy linear queries of one marginal.
type Measurement struct {
	Attributes []int // ascending; none: the number of rows
	// Matrices has one matrix for each attribute, and their Kronecker product Q is applied to the marginal. A nil entry
	// is the identity, and a nil slice measures each cell.
	Matrices []*Matrix
	Values   []float64 // Q times the marginal, with noise; of Attributes the last changes fastest
	Variance float64   // of the noise of each value; above 0
}

// Constraint says which cells of a marginal can have rows. The others are 0 in every model.
type Constraint struct {
	Attributes []int  // ascending
	Allowed    []bool // by cell; of Attributes the last changes fastest
}

// measure is a checked measurement.
type measure struct {
	factor   *factor
	product  *product
	values   []float64
	weight   float64   // 1/variance
	residual []float64 // the values of the model minus those measured
}

// check returns a measurement's set, or an error that names what is wrong with it.
func (y *Measurement) check(d *Domain) (s set, p *product, err error) {
	if s, err = d.read(y.Attributes); err != nil {
		return s, nil, err
	}
	if cells := d.Cells(y.Attributes...); cells > MaxCells {
		return s, nil, fmt.Errorf(
			"model: the marginal of %v has %.0f cells: at most %d can be measured", y.Attributes, cells, MaxCells,
		)
	}
	sizes, rows := make([]int, len(y.Attributes)), 1
	for i, a := range y.Attributes {
		sizes[i] = d.sizes[a]
		rows *= sizes[i]
	}
	if p, err = newProduct(y.Matrices, sizes); err != nil {
		return s, nil, err
	}
	if p != nil {
		rows = p.rows()
	}
	if len(y.Values) != rows {
		return s, nil, fmt.Errorf(
			"model: the measurement of %v has %d values instead of %d", y.Attributes, len(y.Values), rows,
		)
	}
	for _, v := range y.Values {
		if math.IsNaN(v) || math.Abs(v) > 1e100 {
			return s, nil, fmt.Errorf(
				"model: the measurement of %v has the value %v: values are within ±1e100", y.Attributes, v,
			)
		}
	}
	if !(y.Variance >= 1e-100 && y.Variance <= 1e100) {
		return s, nil, fmt.Errorf(
			"model: the measurement of %v has the variance %v: it must be from 1e-100 to 1e100", y.Attributes, y.Variance,
		)
	}
	return s, p, nil
}

// Total estimates the number of rows from the measurements: the mean of the totals that they determine, each weighted
// by its inverse variance. It returns the variance of the estimate, +∞ if no measurement determines the total. The
// estimate is unbiased, and may be negative.
func Total(d *Domain, measurements []Measurement) (total, variance float64, err error) {
	weights := 0.0
	for i := range measurements {
		y := &measurements[i]
		if _, _, err := y.check(d); err != nil {
			return 0, 0, err
		}
		coefficients := []float64{1}
		for k, a := range y.Attributes {
			var factor []float64
			if y.Matrices != nil && y.Matrices[k] != nil {
				factor = y.Matrices[k].total()
			} else {
				factor = slices.Repeat([]float64{1}, d.sizes[a])
			}
			coefficients = outer(coefficients, factor)
		}
		if len(coefficients) == 0 {
			continue
		}
		sum, squares := 0.0, 0.0
		for j, c := range coefficients {
			sum += c * y.Values[j]
			squares += c * c
		}
		weight := 1 / (y.Variance * squares)
		total += weight * sum
		weights += weight
	}
	if weights == 0 {
		return 0, math.Inf(1), nil
	}
	return total / weights, 1 / weights, nil
}

// outer returns the Kronecker product of two vectors.
func outer(a, b []float64) []float64 {
	out := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x*y)
		}
	}
	return out
}
