package stream

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// Estimates computes counts, running totals and windows from the releases of a [Continual]. Only released values and
// public parameters enter, so it is post-processing. Estimates must not be used concurrently.
//
// The counts x̂ = C⁻¹y are unbiased estimates of the exact counts x, because C⁻¹y = x + C⁻¹z. Every estimate is a sum of
// them. With M = A·C⁻¹, where A is the lower triangular matrix of ones, (My)_t is the running total, and its variance is
// the variance of z times the sum of the squares of M's row. The count of a period and the sum of a window are differences
// of running totals, and their noise is the same difference of rows of M.
//
// For the matrix R̃, M is computed in fixed point, and deviations are exact up to rounding upward. For a Factor, the
// counts are computed in fixed point, and M in floats; deviations are then at least the exact ones, and at most
// 10⁻⁵ of them too large.
type Estimates struct {
	digits   uint // the binary digits of the running totals after the point
	variance float64
	squares  map[int][]float64 // the deviations of windows, by width and period, as far as they were needed

	inverse *inverse // of R̃; nil for a Factor
	solved  *solved  // of a Factor
}

// Estimate is an estimate with its standard deviation.
type Estimate struct {
	Value     *big.Rat // rounded to the nearest hundredth
	Deviation float64  // the noise's standard deviation, rounded up; rounding to hundredths adds at most 0.005
}

// estimateDigits is how many binary digits after the point the estimates are accurate to, before rounding.
const estimateDigits = 40

// Estimates returns the estimates of a stream. Each release must have at most the given number of binary digits
// ([Longest]). It returns ErrParameter if the parameters give no privacy, or if the Factor hardly determines the counts.
func (m Continual) Estimates(longest int) (*Estimates, error) {
	dist, err := m.Noise()
	if err != nil {
		return nil, err
	}
	e := &Estimates{variance: dist.Variance(), squares: map[int][]float64{}}
	if m.Factor != nil {
		e.digits = factorDigits
		e.solved, err = newSolved(m.Factor)
		return e, err
	}
	// Each entry of M has an error of at most inverse.err units of 2^−digits, so a sum of Periods products has an
	// error of at most err·2^longest·Periods units.
	e.digits = inverseDigits(dist.Sigma2(), m.Periods) + uint(longest) + estimateDigits
	e.inverse = newInverse(rootColumn(m.Periods), e.digits)
	return e, nil
}

// Longest returns the number of binary digits of the longest release.
func Longest(y [][]*big.Int) (longest int) {
	for _, row := range y {
		for _, v := range row {
			longest = max(longest, v.BitLen())
		}
	}
	return longest
}

// Series returns the estimates of one cell. The releases are by period and cell.
func (e *Estimates) Series(y [][]*big.Int, cell int) *Series {
	out := &Series{of: e, totals: []*big.Int{new(big.Int)}}
	if e.solved != nil {
		for t, count := range e.solved.counts(y, cell) {
			out.totals = append(out.totals, count.Add(count, out.totals[t]))
		}
		return out
	}
	term := new(big.Int)
	for t := range y {
		sum := new(big.Int)
		for j := 0; j <= t; j++ {
			sum.Add(sum, term.Mul(e.inverse.entries[t-j], y[j][cell]))
		}
		out.totals = append(out.totals, sum)
	}
	return out
}

// Series holds the running totals of one cell.
type Series struct {
	of     *Estimates
	totals []*big.Int // before the first period and after each, in units of 2^−digits
}

// Window returns the number of rows that counted in the last `width` periods up to and including the given one. The width
// is from 1 to the number of the period. With width 1 it is the count of the period, and with the number of the period
// it is the running total.
func (s *Series) Window(period, width int) Estimate {
	sum := new(big.Int).Sub(s.totals[period], s.totals[period-width])
	hundred := big.NewInt(100)
	value := new(big.Rat).SetFrac(sum.Mul(sum, hundred), new(big.Int).Lsh(big.NewInt(1), s.of.digits))
	value.SetFrac(exact.FloorRat(value.Add(value, big.NewRat(1, 2))), hundred)
	return Estimate{value, s.of.Deviation(period, width)}
}

// Fading returns the sums, by period, in which a period of age k has the weight decay^k. The decay is above 0 and at most 1.
// It returns nil unless the stream has a Factor. Rounding to hundredths adds at most 0.005 to an error.
func (s *Series) Fading(decay *big.Rat) (out []Estimate) {
	if s.of.solved == nil {
		return nil
	}
	deviations := s.of.FadingDeviations(decay)
	sum, count, hundred := new(big.Int), new(big.Int), big.NewInt(100)
	for t := 1; t < len(s.totals); t++ {
		sum.Quo(sum.Mul(sum, decay.Num()), decay.Denom())
		sum.Add(sum, count.Sub(s.totals[t], s.totals[t-1]))
		value := new(big.Rat).SetFrac(new(big.Int).Mul(sum, hundred), new(big.Int).Lsh(big.NewInt(1), s.of.digits))
		value.SetFrac(exact.FloorRat(value.Add(value, big.NewRat(1, 2))), hundred)
		out = append(out, Estimate{value, deviations[t-1]})
	}
	return out
}

// FadingDeviations returns the standard deviations of the noise of the sums of [Series.Fading], by period, rounded up. It
// returns nil unless the stream has a Factor.
func (e *Estimates) FadingDeviations(decay *big.Rat) []float64 {
	if e.solved == nil {
		return nil
	}
	f, _ := decay.Float64()
	return e.solved.fading(f, e.variance)
}

// entry returns the entry of the matrix of a window, k places below the diagonal: M_k − M_{k−width}.
func (e *Estimates) entry(k, width int) *big.Int {
	if k < width {
		return e.inverse.entries[k]
	}
	return new(big.Int).Sub(e.inverse.entries[k], e.inverse.entries[k-width])
}

// Deviation returns the standard deviation of the noise of a window that ends with the given period, rounded up. With
// width 1 it is that of a period's count, and with the number of the period that of the running total.
func (e *Estimates) Deviation(period, width int) float64 {
	if width >= period {
		width = MaxPeriods // the window begins with the first period, as any total does
	}
	sums := e.squares[width]
	if sums == nil {
		if e.solved != nil {
			sums = e.solved.deviations(width, e.variance)
		} else {
			sums = e.sumSquares(width)
		}
		e.squares[width] = sums
	}
	return sums[period-1]
}

// sumSquares returns the deviations of the windows of one width, by period.
func (e *Estimates) sumSquares(width int) []float64 {
	sum, squared := new(big.Int), new(big.Int)
	off := new(big.Int).Lsh(e.inverse.err, 1)
	unit := new(big.Int).Lsh(big.NewInt(1), 2*e.inverse.digits)
	out := make([]float64, len(e.inverse.entries))
	for k := range out {
		above := new(big.Int).Abs(e.entry(k, width))
		above.Add(above, off)
		sum.Add(sum, squared.Mul(above, above))
		variance := exact.MulUp(exact.FloatUp(new(big.Rat).SetFrac(sum, unit)), e.variance)
		out[k] = math.Nextafter(math.Sqrt(variance), math.Inf(1))
	}
	return out
}
