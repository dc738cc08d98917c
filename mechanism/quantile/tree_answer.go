package quantile

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/simplex"
	"dither/mechanism"
)

// The functions below are post-processing. They read noisy counts alone, so floats suffice.

// consistency improves each count by the counts below it. The count and the sum of the counts below estimate the
// same number, and are weighted by the inverse of their variances [Hay, Rastogi, Miklau & Suciu 2010]. Let B =
// Branching, and let l be the height of the node v, with l = 1 for leaves. The estimate z_v from the subtree of v
// and the noisy count y_v is
//
//	z_v = (B^l − B^(l−1))/(B^l − 1)·y_v + (B^(l−1) − 1)/(B^l − 1)·Σ z_children.
func (m Tree) consistency(values []*big.Int) [][]float64 {
	levels := make([][]float64, m.Height)
	end, width, b := len(values), m.leaves(), float64(m.Branching)
	for l := 1; l <= m.Height; l++ {
		own := (math.Pow(b, float64(l)) - math.Pow(b, float64(l-1))) / (math.Pow(b, float64(l)) - 1)
		level := make([]float64, width)
		for i := range level {
			y, _ := new(big.Float).SetInt(values[end-width+i]).Float64()
			level[i] = y
			if l > 1 {
				below := 0.0
				for _, z := range levels[m.Height-l+1][i*m.Branching : (i+1)*m.Branching] {
					below += z
				}
				level[i] = own*y + (1-own)*below
			}
		}
		levels[m.Height-l] = level
		end -= width
		width /= m.Branching
	}
	return levels
}

// Quantiles estimates the quantiles at the given shares of the values. Each share is between 0 and 1. Any other
// share is ErrParameter. A call costs nothing and may be repeated. Larger shares never give smaller values. At each
// node on the way down, the children's estimates are changed as little as possible so that they are non-negative
// and add up to the node's own estimate. Within a leaf, values are assumed to be spread evenly.
func (t NoisyTree) Quantiles(shares []*big.Rat) ([]int64, error) {
	if err := t.Tree.check(); err != nil {
		return nil, err
	}
	if len(t.Values) != t.Tree.nodes() || slices.Contains(t.Values, nil) {
		return nil, fmt.Errorf("%w: each node needs exactly one count", mechanism.ErrParameter)
	}
	estimates := t.Tree.consistency(t.Values)
	out := make([]int64, len(shares))
	for i, q := range shares {
		if q == nil || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0 {
			return nil, fmt.Errorf("%w: a quantile's rank must be between 0 and 1", mechanism.ErrParameter)
		}
		share, _ := q.Float64()
		out[i] = t.Tree.at(estimates, share)
	}
	return out, nil
}

// at returns the value at a share of the total: it descends to the leaf where the share lies.
func (m Tree) at(estimates [][]float64, share float64) int64 {
	total := 0.0
	for _, z := range estimates[0] {
		total += z
	}
	node, width := 0, m.leaves()
	for _, level := range estimates {
		counts := shares(level[node*m.Branching:(node+1)*m.Branching], total)
		width /= m.Branching
		node *= m.Branching
		if counts == nil { // The node's estimate is not above 0, so it tells nothing about where the share lies.
			return m.value(float64(node*width) + share*float64(m.Branching*width))
		}
		i, below := 0, 0.0
		for ; i < len(counts)-1 && below+counts[i] < share*total; i++ {
			below += counts[i]
		}
		for counts[i] == 0 && i > 0 { // rounding may lead to a node without values
			i--
			below -= counts[i]
		}
		if counts[i] > 0 {
			share = min(max((share*total-below)/counts[i], 0), 1)
		}
		total = counts[i]
		node += i
	}
	return m.value(float64(node) + share)
}

// value returns the integer at a place, which is measured in leaves from the domain's lower end.
func (m Tree) value(place float64) int64 {
	x := new(big.Float).Mul(big.NewFloat(place/float64(m.leaves())), new(big.Float).SetInt64(m.points()))
	offset, _ := x.Int64()
	return m.Lower + min(max(offset, 0), m.points()-1)
}

// shares returns the point nearest to z among those with non-negative coordinates whose sum is total: max(0, z − τ)
// for a suitable τ. It returns nil if total is not above 0. If total is too small to be subtracted from the largest
// count in floats, τ is 0, as it was when the first releases were read.
func shares(z []float64, total float64) []float64 {
	if !(total > 0) {
		return nil
	}
	tau := simplex.Level(z, total)
	if tau == slices.Max(z) {
		tau = 0
	}
	out := make([]float64, len(z))
	for i, x := range z {
		out[i] = max(0, x-tau)
	}
	return out
}
