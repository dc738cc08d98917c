package bounds

import (
	"math"
	"math/big"
)

// The shares of a column's price: for the histogram that shows the magnitude of its values, for each of the next ones
// that narrow the range, and for the rest, which the last histogram gets.
var (
	firstShare  = big.NewRat(15, 100)
	narrowShare = big.NewRat(10, 100)
)

const (
	mostNarrowings = 4    // the largest number of histograms that narrow the range
	fewBins        = 6    // the range is narrow enough if it has so many bins
	outside        = 0.02 // the share of the units that may be outside the range, at each end
	apart          = 8    // values within so large a factor are narrowed; others are seen from 0
)

// An asker returns the noisy histogram of a column over given edges, at a share of the column's price.
type asker func(edges []float64, share *big.Rat) (*histogram, error)

// leastUnits is the smallest product of the number of units and ε for which the doctor gives advice, where ε is the
// price of the whole column if noise is Laplace. Gaussian noise of the same standard deviation counts as much.
const leastUnits = 1000

// enough reports whether the doctor gives advice about so many units.
func enough(units, sigma float64) bool { return units*math.Sqrt2 >= leastUnits*sigma }

// examined returns a histogram of a column that is fine where its values are, or nil if the column has too few units
// for advice. units is the estimated number of units in any case.
//
// It asks at most 2 + mostNarrowings histograms, whose shares of the price add up to at most 1. The edges of each
// depend on public numbers and on the histograms before, which are released.
func (k kind) examined(ask asker, gaussian bool) (fine *histogram, units float64, err error) {
	h, err := ask(k.firstEdges(), firstShare)
	if err != nil {
		return nil, 0, err
	}
	if units = h.total(); !enough(units, h.sigma*atWhole(firstShare, gaussian)) {
		return nil, units, nil
	}
	left := new(big.Rat).Sub(big.NewRat(1, 1), firstShare)
	low, high := h.reach(0)
	ends := []float64{low, high}
	centre, from0 := 0.0, !k.calendar() && !near(low, high) && !near(-high, -low)
	for n := 0; !from0 && n < mostNarrowings; n++ {
		low, high = h.reach(outside)
		if h.binsIn(low, high) >= fewBins || k.whole() && high-low <= 1 {
			break
		}
		left.Sub(left, narrowShare)
		next, err := ask(linear(low, high, 64, k), narrowShare)
		if err != nil {
			return nil, 0, err
		}
		if h = next.clear(units); len(h.edges) < len(next.edges) { // narrower bins would be lost in the noise
			break
		}
	}
	if !from0 {
		low, high = h.reach(outside)
		centre = h.median()
		if k.whole() {
			centre = math.Round(centre)
		}
		centre = math.Min(math.Max(centre, low), high)
	}
	fine, err = ask(k.fineEdges(low, high, centre, from0, ends), left)
	if err != nil {
		return nil, 0, err
	}
	return fine, fine.clear(units).total(), nil
}

// near reports whether a range is above 0, and far from 0 in relation to its width.
func near(low, high float64) bool { return low > 0 && high <= apart*low }

// atWhole returns the factor from the standard deviation of noise at a share of a price to that at the whole price.
func atWhole(share *big.Rat, gaussian bool) float64 {
	f, _ := share.Float64()
	if gaussian {
		return math.Sqrt(f)
	}
	return f
}
