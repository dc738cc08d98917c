package quantile

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// AutomaticBounds finds bounds for values if only very wide ones are known, like ApproxBounds in Google's differential
// privacy library: it counts values by sign and number of binary digits, with noise, and takes the outermost bins whose
// noisy count reaches a threshold. If none does, the bounds are those of the domain, which is no error.
//
// Privacy: each row is counted in one bin, so the counts move by at most MaxRows under AddRemove and twice that under
// ChangeOne in L1 norm, by MaxRows² and twice that in squared L2 norm (Tree has the proof), and are measured by
// Laplace or Gaussian. The threshold and the bins are public; the rest is post-processing.
//
// The threshold is the least integer by the union bound: noise alone reaches it in one bin with probability at most
// FalsePositive over the number of bins, and so in any bin with probability at most FalsePositive, however many are
// empty. So the bounds extend beyond the bins of all values with at most that probability. Conversely, rows in a bin
// whose noisy count stays below the threshold may lie outside.
type AutomaticBounds struct {
	Domain                      // the outer bounds
	mechanism.Unit              //
	Loss           privacy.Loss // pure for Laplace noise, zCDP with no δ for Gaussian noise
	FalsePositive  float64      // between 1e-100 and 1
}

// Bounds is the release of AutomaticBounds.
type Bounds struct {
	Domain             // within the outer bounds
	Found     bool     // false if no bin reached the threshold: the bounds are the outer ones
	Threshold *big.Int // for noisy counts, at least 1
	mechanism.Measurement
}

// bin is the number of binary digits of x, with the sign of x.
func bin(x int64) int {
	if x < 0 {
		return -bits.Len64(-uint64(x))
	}
	return bits.Len64(uint64(x))
}

// lowest is the least integer of a bin, and highest the greatest.
func lowest(bin int) int64 {
	switch {
	case bin > 0:
		return 1 << (bin - 1)
	case bin == -64:
		return math.MinInt64
	case bin < 0:
		return -(1<<-bin - 1)
	}
	return 0
}

func highest(bin int) int64 {
	switch bin {
	case -64:
		return math.MinInt64
	case 63:
		return math.MaxInt64
	}
	return -lowest(-bin)
}

// counts are the true counts of the bins from bin(Lower) to bin(Upper).
func (m AutomaticBounds) counts(data mechanism.Ordered) ([]int64, error) {
	first := bin(m.Lower)
	out := make([]int64, bin(m.Upper)-first+1)
	_, err := each(data, m.Domain, func(value, count int64) { out[bin(value)-first] += count })
	return out, err
}

// Measure finds bounds. The error is ErrParameter, or the scan's.
func (m AutomaticBounds) Measure(data mechanism.Ordered) (Bounds, error) {
	if err := m.check(); err != nil {
		return Bounds{}, err
	}
	if err := parameter.Unit(m.Neighbours, m.MaxRows); err != nil {
		return Bounds{}, err
	}
	if !(m.FalsePositive >= 1e-100) || !(m.FalsePositive < 1) {
		return Bounds{}, fmt.Errorf("%w: a probability of false positives is at least 1e-100 and below 1",
			mechanism.ErrParameter)
	}
	noisy, err := counter(m.Unit, m.Loss, 1)
	if err != nil {
		return Bounds{}, err
	}
	counts, err := m.counts(data)
	if err != nil {
		return Bounds{}, err
	}
	released, err := noisy(exactly(counts))
	if err != nil {
		return Bounds{}, err
	}
	return m.read(released), nil
}

// threshold is 1 more than the noise that is exceeded in size with probability at most 2·FalsePositive/bins: by
// symmetry a bin's noise is that much or more with half that probability, and the bins' probabilities add up.
func (m AutomaticBounds) threshold(dist noise.Distribution, bins int) *big.Int {
	k := dist.Quantile(2 * m.FalsePositive / float64(bins) * (1 - 1e-15))
	return k.Add(k, big.NewInt(1))
}

// read takes the bounds from noisy counts.
func (m AutomaticBounds) read(released mechanism.Measurement) Bounds {
	out := Bounds{Domain: m.Domain, Measurement: released, Threshold: m.threshold(released.Noise, len(released.Values))}
	first := bin(m.Lower)
	for i, count := range released.Values {
		if count.Cmp(out.Threshold) < 0 {
			continue
		}
		if !out.Found {
			out.Found, out.Lower = true, m.clamp(lowest(first+i))
		}
		out.Upper = m.clamp(highest(first + i))
	}
	return out
}
