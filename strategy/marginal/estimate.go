package marginal

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"dither/curator"
	"dither/noise"
)

// Estimate has estimates of every marginal that a plan determines: those of the workload, and those of fewer
// attributes. They are sums of the same independent measurements. So a marginal summed over an attribute equals the
// marginal without it, up to the rounding of floating-point numbers. All estimates are unbiased.
type Estimate struct {
	// Releases are what was measured: one release, or several for a large plan. Several have no values, to save memory
	Releases []*curator.StrategyMeasurement
	plan     *Plan
	parts    map[subset]*part
	tables   []measuredTable // of a consistent plan
}

// part is the measured part of one subset of attributes, reconstructed: (⊗ R_k⁺)(⊗ R_k x + z).
type part struct {
	members  []int
	variance float64            // of each number that was measured
	noise    noise.Distribution // nil in a consistent plan
	unit     float64            // of the noise
	values   []float64          // by cell; the last of members changes fastest
}

// Table has the estimated cells of one marginal.
type Table struct {
	Attributes []string // in the order of the domain
	Sizes      []int
	// by cell, in the order of the values; the last of Attributes changes fastest
	Values    []float64
	Variances []float64
}

// solve applies ⊗ R_k⁺ to the numbers measured for a subset, attribute by attribute.
func (p *Plan) solve(members []int, values []float64) []float64 {
	after := 1
	for i := len(members) - 1; i >= 0; i-- {
		f := p.factors[members[i]]
		column, solved := mat.NewVecDense(f.size, nil), mat.NewVecDense(f.size, nil)
		for start := 0; start < len(values); start += f.size * after {
			for k := range after {
				mean := 0.0
				for j := range f.size {
					v := values[start+j*after+k]
					column.SetVec(j, v)
					mean += v / float64(f.size)
				}
				if f.inverse != nil {
					solved.MulVec(f.inverse, column)
				}
				for j := range f.size {
					if f.inverse != nil {
						values[start+j*after+k] = solved.AtVec(j)
					} else { // (c·I − 11ᵀ)⁺ = P/c
						values[start+j*after+k] = (column.AtVec(j) - mean) / float64(f.size)
					}
				}
			}
		}
		after *= f.size
	}
	return values
}

// noise returns R⁺R⁺ᵀ between two vectors: the covariance of what they read of the reconstruction.
func (f *factor) noise(q, r []float64) float64 {
	if f.inverse == nil { // P/c²
		dot, qs, rs, n := 0.0, 0.0, 0.0, float64(f.size)
		for i := range q {
			dot += q[i] * r[i]
			qs += q[i]
			rs += r[i]
		}
		return (dot - qs*rs/n) / (n * n)
	}
	var a, b mat.VecDense
	a.MulVec(f.inverse.T(), mat.NewVecDense(len(q), q))
	b.MulVec(f.inverse.T(), mat.NewVecDense(len(r), r))
	return mat.Dot(&a, &b)
}

// diagonal returns the diagonal of R⁺R⁺ᵀ.
func (f *factor) diagonal() []float64 {
	out := make([]float64, f.size)
	n := float64(f.size)
	for i := range out {
		if f.inverse == nil {
			out[i] = (n - 1) / (n * n * n)
			continue
		}
		row := f.inverse.RawRowView(i)
		for _, v := range row {
			out[i] += v * v
		}
	}
	return out
}

// Marginal returns the estimated cells of a marginal. The attributes must be among those of one marginal of the
// workload. Marginal may be called concurrently.
func (e *Estimate) Marginal(attributes ...string) (*Table, error) {
	members, err := e.plan.spanned(attributes)
	if err != nil {
		return nil, err
	}
	t := &Table{}
	cells := 1
	for _, m := range members {
		a := e.plan.Domain().attributes[m]
		t.Attributes, t.Sizes = append(t.Attributes, a.Name), append(t.Sizes, a.Size)
		cells *= a.Size
	}
	t.Values, t.Variances = make([]float64, cells), make([]float64, cells)
	e.within(members, func(part *part) {
		values := slices.Clone(part.values)
		variances := []float64{part.variance}
		for _, m := range part.members {
			variances = outer(variances, e.plan.factors[m].diagonal())
		}
		// The step of each attribute in the part's cells is 0 if the part does not have it.
		scale, steps, step := 1.0, make([]int, len(members)), 1
		for i := len(members) - 1; i >= 0; i-- {
			if slices.Contains(part.members, members[i]) {
				steps[i] = step
				step *= t.Sizes[i]
			} else {
				scale /= float64(t.Sizes[i])
			}
		}
		at, index := make([]int, len(members)), 0
		for cell := range cells {
			t.Values[cell] += values[index] * scale
			t.Variances[cell] += variances[index] * scale * scale
			for i := len(at) - 1; i >= 0; i-- {
				at[i]++
				index += steps[i]
				if at[i] < t.Sizes[i] {
					break
				}
				index -= steps[i] * t.Sizes[i]
				at[i] = 0
			}
		}
	})
	return t, nil
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

// within calls f for each part whose attributes are among members, in a fixed order.
func (e *Estimate) within(members []int, f func(*part)) {
	var split []int
	for _, m := range members {
		if e.plan.factors[m].size > 1 {
			split = append(split, m)
		}
	}
	subsets(split, func(s subset) { f(e.parts[s]) })
}
