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

// AutomaticBounds finds bounds for values if only very wide bounds are known, like ApproxBounds in Google's
// differential privacy library. It counts the values by sign and number of binary digits, and adds noise to the
// counts. The outermost bins whose noisy counts reach a threshold give the bounds. If no bin does, the bounds are
// those of the domain, which is not an error.
//
// Privacy: each row is counted in one bin. Under AddRemove the counts change by at most MaxRows in L1 norm and
// MaxRows² in squared L2 norm. Under ChangeOne both are twice that (see the proof at Tree). Laplace or Gaussian
// measures the counts. The threshold and the bins are public, and the rest is post-processing.
//
// Accuracy: by the union bound, the noise of an empty bin reaches the threshold with probability at most
// FalsePositive divided by the number of bins. So the noise of any empty bin reaches it with probability at most
// FalsePositive. The bounds extend beyond the bins of all values with at most that probability. Conversely, rows
// may lie outside the bounds if their bin's noisy count is below the threshold.
type AutomaticBounds struct {
	Domain // the outer bounds, to which values are clamped
	mechanism.Unit
	Loss          privacy.Loss // the loss; pure for Laplace noise, zCDP with no δ for Gaussian noise
	FalsePositive float64      // at least 1e-100 and below 1
}

// Bounds is the release of AutomaticBounds: the bounds, and the noisy counts that they follow from.
type Bounds struct {
	Domain             // the found bounds, within the outer ones
	Found     bool     // false if no bin reached the threshold; the bounds are then the outer ones
	Threshold *big.Int // the least noisy count of a bin that counts as occupied; at least 1
	mechanism.Measurement
}

// bin returns the number of x's bin: the number of binary digits of x, with the sign of x.
func bin(x int64) int {
	if x < 0 {
		return -bits.Len64(-uint64(x))
	}
	return bits.Len64(uint64(x))
}

// lowest returns the least integer of a bin, and highest the greatest.
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

// counts returns the exact counts of the bins from bin(Lower) to bin(Upper).
func (m AutomaticBounds) counts(data mechanism.Ordered) ([]int64, error) {
	first := bin(m.Lower)
	out := make([]int64, bin(m.Upper)-first+1)
	_, err := each(data, m.Domain, func(value, count int64) { out[bin(value)-first] += count })
	return out, err
}

// Measure finds bounds. The error is ErrParameter or comes from the scan.
func (m AutomaticBounds) Measure(data mechanism.Ordered) (Bounds, error) {
	if err := m.check(); err != nil {
		return Bounds{}, err
	}
	if err := parameter.Unit(m.Neighbours, m.MaxRows); err != nil {
		return Bounds{}, err
	}
	if !(m.FalsePositive >= 1e-100) || !(m.FalsePositive < 1) {
		return Bounds{}, fmt.Errorf("%w: the probability of false positives must be at least 1e-100 and below 1",
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

// threshold returns k + 1, where the noise exceeds k in magnitude with probability at most 2·FalsePositive/bins. By
// symmetry, a bin's noise is at least k + 1 with at most half that probability. The probabilities of all bins add
// up to at most FalsePositive.
func (m AutomaticBounds) threshold(dist noise.Distribution, bins int) *big.Int {
	k := dist.Quantile(2 * m.FalsePositive / float64(bins) * (1 - 1e-15))
	return k.Add(k, big.NewInt(1))
}

// read computes the bounds from noisy counts.
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
