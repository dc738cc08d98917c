package stream

import (
	"fmt"
	"math"
	"math/big"

	"dither/mechanism"
)

// solved computes with the inverse of a Factor C, which depends on public parameters alone.
type solved struct {
	of      *Factor
	inverse [][]float64 // C⁻¹ by row; for a Toeplitz matrix only its first column, as one row
}

const (
	// factorDigits is the number of binary digits after the point of counts: see counts.
	factorDigits = 64
	// mostAmplified limits the sums of the absolute values of C⁻¹'s rows, times the largest entry on C's diagonal. An
	// error in a release grows by at most this factor.
	mostAmplified = 1 << 10
	// spare is the relative error by which stated deviations are enlarged. An entry of C⁻¹ that is computed in floats by
	// substitution has a relative error below 2⁻²⁰ of its row's largest: at most 2·MaxPeriods roundings of 2⁻⁵³, enlarged
	// by mostAmplified for the sums in C and once more for their propagation.
	spare = 1e-5
)

// newSolved inverts a factor. It returns ErrParameter if the counts would be computed too badly.
func newSolved(f *Factor) (*solved, error) {
	s := &solved{of: f}
	n := f.Periods()
	if f.rows == nil {
		d := make([]float64, n)
		d[0] = 1 / float64(f.column[0])
		for t := 1; t < n; t++ {
			sum := 0.0
			for j := range t {
				sum += float64(f.column[t-j]) * d[j]
			}
			d[t] = -sum / float64(f.column[0])
		}
		s.inverse = [][]float64{d}
	} else {
		s.inverse = make([][]float64, n)
		for t := range n {
			row := make([]float64, t+1)
			for i := range t {
				if c := float64(f.rows[t][i]); c != 0 {
					for j, v := range s.inverse[i] {
						row[j] -= c * v
					}
				}
			}
			diagonal := float64(f.rows[t][t])
			for j := range t {
				row[j] /= diagonal
			}
			row[t] = 1 / diagonal
			s.inverse[t] = row
		}
	}
	largest, most := 0.0, 0.0
	for t := range n {
		largest = max(largest, float64(f.Entry(t, t)))
	}
	for _, row := range s.inverse {
		sum := 0.0
		for _, v := range row {
			sum += math.Abs(v)
		}
		most = max(most, sum)
	}
	if !(most*largest <= mostAmplified) {
		return nil, fmt.Errorf("%w: the factor hardly determines the counts of the periods", mechanism.ErrParameter)
	}
	return s, nil
}

// at returns the entry of C⁻¹ in row t and column j ≤ t.
func (s *solved) at(t, j int) float64 {
	if s.of.rows == nil {
		return s.inverse[0][t-j]
	}
	return s.inverse[t][j]
}

// counts returns the counts x̂ = C⁻¹y of one cell, in units of 2^−factorDigits. It solves Cx̂ = y by substitution. Each step
// rounds by at most half a unit times C's diagonal entry, so a count has an error of at most mostAmplified units.
func (s *solved) counts(y [][]*big.Int, cell int) []*big.Int {
	out := make([]*big.Int, len(y))
	term, entry := new(big.Int), new(big.Int)
	for t := range y {
		sum := new(big.Int).Lsh(y[t][cell], factorDigits)
		for j, count := range out[:t] {
			sum.Sub(sum, term.Mul(count, entry.SetInt64(s.of.Entry(t, j))))
		}
		diagonal := big.NewInt(s.of.Entry(t, t))
		sum.Lsh(sum, 1).Add(sum, diagonal)
		out[t] = sum.Div(sum, diagonal.Lsh(diagonal, 1)) // rounded to the nearest
	}
	return out
}

// deviations returns the standard deviations of the sums of windows, by their last period.
func (s *solved) deviations(width int, variance float64) []float64 {
	n := s.of.Periods()
	out, row := make([]float64, n), make([]float64, n)
	for t := range n {
		for j := 0; j <= t; j++ {
			row[j] += s.at(t, j)
		}
		if left := t - width; left >= 0 {
			for j := 0; j <= left; j++ {
				row[j] -= s.at(left, j)
			}
		}
		squares := 0.0
		for _, v := range row[:t+1] {
			squares += v * v
		}
		out[t] = math.Sqrt(squares*variance) * (1 + spare)
	}
	return out
}

// fading returns the standard deviations of the sums in which a period of age k has the weight decay^k, by the last
// period.
func (s *solved) fading(decay, variance float64) []float64 {
	n := s.of.Periods()
	out, row := make([]float64, n), make([]float64, n)
	for t := range n {
		squares := 0.0
		for j := 0; j <= t; j++ {
			row[j] = row[j]*decay + s.at(t, j)
			squares += row[j] * row[j]
		}
		out[t] = math.Sqrt(squares*variance) * (1 + spare)
	}
	return out
}
