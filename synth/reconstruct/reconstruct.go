package reconstruct

import (
	"fmt"
	"math"

	"dither/synth/internal/layout"
	"dither/synth/model"
)

// MaxWays is the largest number of attributes of a marginal, which has 2^MaxWays residuals.
const MaxWays = 12

// key is a set of attributes.
type key [model.MaxAttributes / 64]uint64

// keyOf returns the set of these attributes.
func keyOf(attributes []int) (k key) {
	for _, a := range attributes {
		k[a/64] |= 1 << (a % 64)
	}
	return k
}

// residual is the estimated residual of a set of attributes: the part of its marginal that smaller sets do not
// determine. A sum over the values of any one attribute is 0.
type residual struct {
	values []float64
	weight float64 // the inverse of the variance factor: the covariance is ⊗(I − 11ᵀ/c) over the weight
}

// Estimate has the residuals that measurements determine.
type Estimate struct {
	domain    *model.Domain
	sizes     []int
	residuals map[key]*residual
}

// New returns an estimate without measurements.
func New(d *model.Domain) *Estimate {
	return &Estimate{d, d.Sizes(), map[key]*residual{}}
}

// check returns an error unless attributes are those of a marginal that the package can compute.
func (e *Estimate) check(attributes []int) error {
	if len(attributes) > MaxWays {
		return fmt.Errorf("reconstruct: a marginal has at most %d attributes, not %d", MaxWays, len(attributes))
	}
	for i, a := range attributes {
		if a < 0 || a >= len(e.sizes) || i > 0 && a <= attributes[i-1] {
			return fmt.Errorf(
				"reconstruct: the attributes %v of a marginal must be ascending, from 0 to %d", attributes, len(e.sizes)-1,
			)
		}
	}
	if cells := e.domain.Cells(attributes...); cells > model.MaxCells {
		return fmt.Errorf("reconstruct: the marginal of %v has %.0f cells, above %d", attributes, cells, model.MaxCells)
	}
	return nil
}

// subset returns the attributes of a mask, and the product of the sizes of the others.
func (e *Estimate) subset(attributes []int, mask int) (in []int, outside float64) {
	outside = 1
	for i, a := range attributes {
		if mask>>i&1 == 1 {
			in = append(in, a)
		} else {
			outside *= float64(e.sizes[a])
		}
	}
	return in, outside
}

// Add takes a measurement with independent noise. It measures the cells of a marginal (no matrices), or its residual
// (each matrix is [model.Centred]). It returns an error for other matrices, or if the measurement does not fit the
// domain, and is then without effect.
//
// Proof that the combination has the maximum likelihood. For a subset A of the marginal S, the residual of A in the
// measured table is ⊗_A P ⊗_(S∖A) 1ᵀ of it, with P = I − 11ᵀ/c. For independent noise of variance v, it has the noise
// covariance v·Π_(S∖A) c·⊗_A P. The residuals of two subsets have covariance 0, because P1 = 0. So the likelihood of
// all measurements is a product over residuals A. For each, the measurements of it have covariances that are multiples
// of the same matrix, so their best combination weighs them by the inverses of the multiples. A measurement
// (⊗(cI − 11ᵀ))x + noise has the residual ⊗P/c of it, with covariance v·Π c⁻²·⊗_S P. ∎
func (e *Estimate) Add(y model.Measurement) error {
	if err := e.check(y.Attributes); err != nil {
		return err
	}
	if float64(len(y.Values)) != e.domain.Cells(y.Attributes...) {
		return fmt.Errorf("reconstruct: the measurement of %v has %d values instead of %.0f",
			y.Attributes, len(y.Values), e.domain.Cells(y.Attributes...))
	}
	if !(y.Variance > 0) || math.IsInf(y.Variance, 0) {
		return fmt.Errorf(
			"reconstruct: the measurement of %v has variance %v: it must be above 0", y.Attributes, y.Variance,
		)
	}
	for _, v := range y.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("reconstruct: the measurement of %v has the value %v, which is not a number", y.Attributes, v)
		}
	}
	for i, m := range y.Matrices {
		if m == nil || !m.IsCentred() || len(y.Matrices) != len(y.Attributes) {
			return fmt.Errorf(
				"reconstruct: matrix %d of %v is not centred: measure cells or residuals", i, y.Attributes,
			)
		}
	}
	if len(y.Matrices) > 0 {
		values, cells := append([]float64{}, y.Values...), float64(len(y.Values))
		e.centre(values, y.Attributes)
		for i := range values {
			values[i] /= cells
		}
		e.combine(y.Attributes, values, cells*cells/y.Variance)
		return nil
	}
	for mask := range 1 << len(y.Attributes) {
		in, outside := e.subset(y.Attributes, mask)
		values := make([]float64, int(e.domain.Cells(in...)))
		walk := layout.New(e.sizes, y.Attributes, in)
		walk.Sum(values, y.Values)
		e.centre(values, in)
		e.combine(in, values, 1/(y.Variance*outside))
	}
	return nil
}

// centre subtracts the mean over each attribute.
func (e *Estimate) centre(values []float64, attributes []int) {
	step := 1
	for i := len(attributes) - 1; i >= 0; i-- {
		n := e.sizes[attributes[i]]
		for start := 0; start < len(values); start += n * step {
			block := values[start:][:n*step]
			for k := range step {
				mean := 0.0
				for j := k; j < len(block); j += step {
					mean += block[j]
				}
				mean /= float64(n)
				for j := k; j < len(block); j += step {
					block[j] -= mean
				}
			}
		}
		step *= n
	}
}

// combine adds a residual with its weight.
func (e *Estimate) combine(attributes []int, values []float64, weight float64) {
	k := keyOf(attributes)
	r := e.residuals[k]
	if r == nil {
		e.residuals[k] = &residual{values, weight}
		return
	}
	r.weight += weight
	share := weight / r.weight
	for i, v := range values {
		r.values[i] += share * (v - r.values[i])
	}
}

// Table is an estimated marginal.
type Table struct {
	Values   []float64 // by cell; the last attribute changes fastest
	Variance float64   // of each cell, +∞ if the measurements do not determine the marginal
}

// Marginal returns the estimate of a marginal, whose attributes are ascending. A residual that no measurement has is
// estimated as 0, and then the variance is +∞: the table is as even as the measurements allow.
func (e *Estimate) Marginal(attributes ...int) (*Table, error) {
	if err := e.check(attributes); err != nil {
		return nil, err
	}
	t := &Table{Values: make([]float64, int(e.domain.Cells(attributes...)))}
	var scaled []float64
	for mask := range 1 << len(attributes) {
		in, outside := e.subset(attributes, mask)
		spread := 1.0 // a diagonal entry of ⊗P
		for _, a := range in {
			spread *= 1 - 1/float64(e.sizes[a])
		}
		if spread == 0 { // an attribute of one value has no residual
			continue
		}
		r := e.residuals[keyOf(in)]
		if r == nil {
			t.Variance = math.Inf(1)
			continue
		}
		scaled = scaled[:0]
		for _, v := range r.values {
			scaled = append(scaled, v/outside)
		}
		walk := layout.New(e.sizes, attributes, in)
		walk.Add(t.Values, scaled)
		t.Variance += spread / (r.weight * outside * outside)
	}
	return t, nil
}
