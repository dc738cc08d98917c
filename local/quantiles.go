package local

import (
	"fmt"
	"math"

	"dither/privacy"
)

// Quantiles estimates the distribution of numbers: how many are below each of k − 1 edges between bins of equal width,
// and quantiles. It is a tree over the bins. Each person draws a level, and reports the node of the own bin there. A
// flat histogram is the tree with one level.
//
// Claim: a report is ε-differentially private between any two numbers. Proof: it is that of [Marginals] about the
// levels, each of which is an attribute of the person. ∎
type Quantiles struct {
	low, high float64
	branch    uint64
	levels    *Marginals // marginal i has branch^(i+1) nodes
	variance  float64    // of a share below an edge; see Variance
	k         uint64
	bins      uint64 // the number that was asked for
}

// NewQuantiles returns a tree over bins from low to high. There are at least the given number of bins. It chooses the
// branching factor by the expected error of a count below an edge, for n people. Numbers beyond low and high are
// clamped. The error is ErrParameter.
func NewQuantiles(e privacy.Epsilon, low, high float64, bins uint64, n int64) (*Quantiles, error) {
	if !(low < high) || math.IsInf(high-low, 0) || bins < 2 || bins > 1<<16 {
		return nil, fmt.Errorf("%w: low is below high, and there are 2 to %d bins", ErrParameter, 1<<16)
	}
	var best *Quantiles
	least := 0.0
	for _, b := range []uint64{2, 4, 8, 16, bins} {
		depth, k := 0, uint64(1)
		var sizes []uint64
		var sets [][]int
		for k < bins {
			k *= b
			sizes, sets = append(sizes, k), append(sets, []int{depth})
			depth++
		}
		levels, err := NewMarginals(e, sizes, sets, n)
		if err != nil {
			return nil, err
		}
		// Below an edge are (b − 1)/2 nodes of each level, on average. The rest of the variance is not in the choice, because
		// files of reports depend on the choice.
		variance, rest := 0.0, 0.0
		for i, o := range levels.oracles {
			size, people := float64(sizes[i]), n
			if !levels.split {
				people = max(n/int64(depth), 1)
				share := float64(b-1) / 2 / size // of the people, in these nodes
				rest += share * (1 - share) * float64(depth-1) / float64(n)
			}
			variance += float64(b-1) / 2 * o.Variance(people, 1/size)
			pairs := float64(b-1) * float64(b-2) / 3 // s(s − 1) for s nodes, on average
			rest += pairs * (o.covariance()/float64(people) + o.SharedVariance())
		}
		if best == nil || variance < least {
			best, least = &Quantiles{low, high, b, levels, variance + rest, k, bins}, variance
		}
	}
	return best, nil
}

// Bins returns the number of bins, and the branching factor of the tree.
func (q *Quantiles) Bins() (bins, branch uint64) { return q.k, q.branch }

// Variance returns an upper bound of the variance of the estimated share of numbers below an edge, as a mean over the
// edges, if the numbers are uniform and as many people report as the tree was chosen for. The share is that of these
// people. The bound takes the largest covariances of the nodes of a level.
func (q *Quantiles) Variance() float64 { return q.variance }

// Params returns ε, and the smallest and the largest number.
func (q *Quantiles) Params() (e privacy.Epsilon, low, high float64) {
	return q.levels.epsilon, q.low, q.high
}

// Bits returns the largest size of a report in bits, apart from the number of its level.
func (q *Quantiles) Bits() int { return q.levels.Bits() }

// Randomize returns a report about a number. NaN is ErrValue.
func (q *Quantiles) Randomize(x float64) (MarginalsReport, error) {
	if math.IsNaN(x) {
		return MarginalsReport{}, fmt.Errorf("%w: it is NaN", ErrValue)
	}
	place := (min(max(x, q.low), q.high) - q.low) / (q.high - q.low) * float64(q.k)
	bin := min(uint64(place), q.k-1)
	person := make([]uint64, len(q.levels.sizes))
	for i, size := range q.levels.sizes {
		person[i] = bin / (q.k / size)
	}
	return q.levels.Randomize(person)
}

// NewTally returns a tally without reports, which Below and Quantile take.
func (q *Quantiles) NewTally() *MarginalsTally { return q.levels.NewTally() }

// Below estimates, for each edge from low to high, the share of numbers below it. The first share is 0 and the last
// is 1. An edge's share is the sum of the nodes to its left, as few as possible. So its variance is at most the sum of
// theirs, and of the largest covariances of the nodes of a level (see Oracle.covariance). Nodes of different levels
// have covariances of at most 0, because they are disjoint. The error is ErrParameter.
func (q *Quantiles) Below(t *MarginalsTally, confidence float64) ([]Frequency, error) {
	out := make([]Frequency, q.k+1)
	variance := make([]float64, q.k+1)
	for i, size := range q.levels.sizes {
		nodes, err := t.Estimate(i, confidence)
		if err != nil {
			return nil, err
		}
		width := q.k / size // of a node, in bins
		for at := range out {
			// the nodes of this level between the last edge of the level above and this edge
			last := uint64(at) / width
			first := last / q.branch * q.branch
			if last >= size {
				continue
			}
			for node := first; node < last; node++ {
				out[at].Frequency += nodes[node].Frequency
				variance[at] += nodes[node].Stddev * nodes[node].Stddev
			}
			if summed := float64(last - first); summed > 1 {
				o := q.levels.oracles[i]
				variance[at] += summed * (summed - 1) * (o.covariance()/float64(t.Of(i)) + o.SharedVariance())
			}
		}
	}
	z := math.Sqrt2 * math.Erfinv(confidence)
	for at := range out {
		f := &out[at]
		f.Value, f.Stddev = uint64(at), math.Sqrt(variance[at])
		f.Low, f.High = f.Frequency-z*f.Stddev, f.Frequency+z*f.Stddev
	}
	out[q.k] = Frequency{Value: q.k, Frequency: 1, Low: 1, High: 1}
	return out, nil
}

// Quantile estimates the p-quantile, for p in (0, 1), and an interval of it. The estimate is the first edge whose
// estimated share reaches p, minus half a bin. The interval contains every edge at which the share p would not be
// surprising, and the bins beside them. The error is ErrParameter.
func (q *Quantiles) Quantile(t *MarginalsTally, p, confidence float64) (x, low, high float64, err error) {
	if !(p > 0 && p < 1) {
		return 0, 0, 0, fmt.Errorf("%w: a quantile's rank is above 0 and below 1", ErrParameter)
	}
	below, err := q.Below(t, confidence)
	if err != nil {
		return 0, 0, 0, err
	}
	width := (q.high - q.low) / float64(q.k)
	first, from, to := -1, -1, -1
	for i, f := range below {
		if first < 0 && f.Frequency >= p {
			first = i
		}
		if f.Low <= p && p <= f.High {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	if from < 0 {
		from, to = first, first
	}
	edge := func(i int) float64 { return min(max(q.low+float64(i)*width, q.low), q.high) }
	return edge(first) - width/2, edge(min(from, first) - 1), edge(max(to, first) + 1), nil
}
