package strategy

import (
	"fmt"
	"math"
	"math/big"
)

// Unit is the currency in which the measurements are paid for, which decides their noise.
type Unit int

// The units. For a price in ρ the noise is Gaussian, and its deviation scales with the largest L2 norm of a column. For
// a price in ε the noise is Laplace, and scales with the largest L1 norm.
const (
	Rho Unit = iota
	Epsilon
)

// Strategy is a matrix of measurements with the expected errors of the workload that it was made for.
type Strategy struct {
	Name   string
	Unit   Unit
	Matrix Matrix
	Expected

	workload   Workload
	covariance *covariance
	scale2     float64   // the variance of a measurement's noise, in units of the variance of one count's noise
	known      []float64 // what known constants add to the estimates of the cells; nil for none ([Strategy.Given])
}

// New returns the strategy that measures the rows of a matrix, which must have full column rank. The expected errors
// are those of least squares.
func New(name string, w Workload, m Matrix, unit Unit) (*Strategy, error) {
	return newStrategy(name, w, m, unit, m.covariance)
}

// Of returns the strategy of a matrix as [New] does or, if centred, as [OptimalCentred] does: the matrix then has rows that
// add up to 0, and measures every difference of cells.
func Of(name string, w Workload, m Matrix, unit Unit, centred bool) (*Strategy, error) {
	if !centred || !m.centred() {
		return New(name, w, m, unit)
	}
	return newStrategy(name, w, m, unit, m.centredCovariance)
}

func newStrategy(
	name string, w Workload, m Matrix, unit Unit, covariance func(scale2 float64) (*covariance, error),
) (*Strategy, error) {
	if m.Columns != w.cells {
		return nil, fmt.Errorf("%w: %d columns for %d cells", ErrStrategy, m.Columns, w.cells)
	}
	scale2 := m.scale2(unit)
	c, err := covariance(scale2)
	if err != nil {
		return nil, err
	}
	return &Strategy{
		Name: name, Unit: unit, Matrix: m, Expected: c.expected(w), workload: w, covariance: c, scale2: scale2,
	}, nil
}

// scale2 returns the variance of a measurement's noise, in units of the variance of one count's noise.
func (m Matrix) scale2(unit Unit) float64 {
	l1, l2squared := m.Norms()
	f, _ := new(big.Float).SetInt(l2squared).Float64()
	if unit == Epsilon {
		f, _ = new(big.Float).SetInt(l1).Float64()
		f *= f
	}
	return f
}

// Deviation returns the standard deviation of the estimate of Σ_j query[j]·x_j, in units of the noise of one count.
func (s *Strategy) Deviation(query []float64) (float64, error) {
	if len(query) != s.Matrix.Columns {
		return 0, fmt.Errorf("%w: a query of %d numbers over %d cells", ErrWorkload, len(query), s.Matrix.Columns)
	}
	return math.Sqrt(max(s.covariance.query(query), 0)), nil
}

// Covariance returns the covariance of the estimates of two queries, in units of the variance of one count's noise.
func (s *Strategy) Covariance(a, b []float64) (float64, error) {
	if len(a) != s.Matrix.Columns || len(b) != s.Matrix.Columns {
		return 0, fmt.Errorf("%w: queries of %d and %d numbers over %d cells",
			ErrWorkload, len(a), len(b), s.Matrix.Columns)
	}
	total := 0.0
	for i, v := range a {
		if v == 0 {
			continue
		}
		for j, u := range b {
			total += v * u * s.covariance.cells.At(i, j)
		}
	}
	return total, nil
}

// Estimate returns the least squares estimate of the cells from noisy measurements, one for each row of the matrix. It
// is unbiased, and the best linear estimate. Every answer is a linear function of the cells, so answers agree.
func (s *Strategy) Estimate(measured []float64) ([]float64, error) {
	if len(measured) != len(s.Matrix.Rows) {
		return nil, fmt.Errorf("%w: %d measurements for %d rows", ErrStrategy, len(measured), len(s.Matrix.Rows))
	}
	right := s.Matrix.transposed(measured)
	out := make([]float64, len(right))
	copy(out, s.known)
	for i := range out {
		for j, v := range right {
			out[i] += s.covariance.cells.At(i, j) / s.scale2 * v
		}
	}
	return out, nil
}

// LengthError is the expected error of the workload's intervals of one length.
type LengthError struct {
	Length  int // in cells
	Queries int
	Expected
}

// ByLength returns the expected errors of the workload's intervals by length, ascending. It is empty for an explicit
// matrix. The errors are not weighted.
func (s *Strategy) ByLength() []LengthError {
	all := make([]LengthError, s.workload.cells+1)
	for _, p := range s.workload.parts {
		p.each(s.workload.cells, func(low, high int) {
			l, v := &all[high-low], s.covariance.interval(low, high)
			l.Queries, l.RMSE, l.Maximum = l.Queries+1, l.RMSE+v, max(l.Maximum, v)
		})
	}
	var out []LengthError
	for length, l := range all {
		if l.Queries > 0 {
			l.Length, l.RMSE, l.Maximum = length, math.Sqrt(l.RMSE/float64(l.Queries)), math.Sqrt(l.Maximum)
			out = append(out, l)
		}
	}
	return out
}

// Workload returns the workload that the strategy was made for.
func (s *Strategy) Workload() Workload { return s.workload }

// Weights returns the coefficients of the least squares estimate of Σ_j query[j]·x_j: one for each row of the matrix.
func (s *Strategy) Weights(query []float64) ([]float64, error) {
	if len(query) != s.Matrix.Columns {
		return nil, fmt.Errorf("%w: a query of %d numbers over %d cells", ErrWorkload, len(query), s.Matrix.Columns)
	}
	cells := s.covariance.times(query)
	for i := range cells {
		cells[i] /= s.scale2
	}
	return s.Matrix.Times(cells), nil
}

// Scale returns the standard deviation of a measurement's noise, in units of the noise of one count: the largest norm
// of a column.
func (s *Strategy) Scale() float64 { return math.Sqrt(s.scale2) }
