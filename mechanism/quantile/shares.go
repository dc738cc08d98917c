package quantile

import (
	"math"
	"math/bits"
)

// cut is a node of the tree of cuts of Approximate: one rank, its share of ε (share/of), and the cuts in the two
// parts.
type cut struct {
	rank        int // the index of the rank in Approximate.Ranks
	share, of   int64
	left, right *cut
}

// cutParts is the number of parts into which ε is divided.
const cutParts = 1024

// cutOrder finds the tree of cuts, with their shares of ε, that has the least error.
//
// Error model: a cut at rank r in a section from rank a to rank b is drawn with an error of variance 2(2Δ/ε_r)²,
// like a Laplace variable, where Δ = max(r − a, b − r)/(b − a). Later cuts inherit this error. A rank u in (a, r)
// inherits the share (u − a)/(r − a) of it, and a rank on the other side likewise. Cuts between u and r do not
// change that share, because the mean of neighbouring cuts is linear in the rank. So a cut adds 2(2Δ)²W/ε_r² to the
// sum of all squared errors. W is the sum of the squares of those shares, including 1 for the cut itself.
//
// Optimum: each row is in one part only, so both parts have all of the remaining ε (see the proof at Approximate).
// Let V/ε² be the least sum of squared errors of the cuts in both parts. The total is least at ε_r ∝ (8Δ²W)^⅓, and
// its least value is the cube of the sum of the cube roots of 8Δ²W and V. For losses that add up in squares, as in
// zCDP, ε_r² ∝ (8Δ²W)^½, and the least value is the square of the sum of the square roots. Dynamic programming
// finds the best tree, over the ranges of ranks that a section may have and the number of remaining levels. There
// are L = ⌊log₂ k⌋ + 1 levels in all.
//
// The shares are rounded to integer parts of cutParts. No path down the tree exceeds cutParts in total. Privacy
// depends on that alone, not on the quality of the shares.
type cutOrder struct {
	at      []float64 // the ranks, with 0 before and 1 after them
	squares bool      // the shares are for a loss that adds up in squares
	best    [][]choice
}

// choice is the plan for a range of ranks: the rank of the first cut, its share of the available ε, the least sum
// of squared errors, and the root of that sum.
type choice struct {
	rank             int
	share, root, sum float64
}

// newCutOrder returns the search for the tree of cuts for valid ranks.
func newCutOrder(t targets, squares bool) cutOrder {
	k := len(t.at)
	o := cutOrder{at: make([]float64, k+2), squares: squares, best: make([][]choice, (k+2)*(k+2))}
	for i, at := range t.at {
		o.at[i+1] = float64(at) / float64(t.den)
	}
	o.at[k+1] = 1
	return o
}

// levelsOf returns the number of levels L for k ranks.
func levelsOf(k int) int { return bits.Len(uint(k)) }

// orderCuts returns the tree of cuts for valid ranks, or nil if there are none.
func orderCuts(t targets, squares bool) *cut {
	o, k := newCutOrder(t, squares), len(t.at)
	root := o.cut(1, k, levelsOf(k), cutParts)
	root.scale(root.sum())
	return root
}

// choose returns the best plan for the ranks first … last in at most the given number of levels, which must
// suffice. For more than fewRanks ranks, it tries only first cuts near the middle.
func (o *cutOrder) choose(first, last, levels int) choice {
	n, low, high := last-first+1, o.at[first-1], o.at[last+1]
	at := &o.best[first*len(o.at)+last]
	if *at == nil {
		*at = make([]choice, bits.Len(uint(len(o.at)))+1)
	}
	if found := (*at)[levels]; found.rank > 0 {
		return found
	}
	aside := max(0, n-fewRanks) * 3 / 8 // the number of ranks on each side that are not tried
	var best choice
	// the sum of (rank − low)² over the ranks below the current one, and of (high − rank)² over those above it
	var under, over float64
	for _, r := range o.at[first : last+1] {
		over += (high - r) * (high - r)
	}
	for rank := first; rank <= last; rank++ {
		r, w := o.at[rank], 1.0
		if over -= (high - r) * (high - r); rank < last {
			w += over / ((high - r) * (high - r))
		}
		if rank > first {
			w += under / ((r - low) * (r - low))
		}
		under += (r - low) * (r - low)
		delta := max(r-low, high-r) / (high - low)
		if rank < first+aside || rank > last-aside || !suffice(rank-first, levels-1) || !suffice(last-rank, levels-1) {
			continue
		}
		own := o.root(8 * delta * delta * w)
		rest := o.sum(first, rank-1, levels-1) + o.sum(rank+1, last, levels-1)
		if room := best.root*(1-1e-9) - own; best.rank > 0 && (room <= 0 || rest >= o.power(room)) {
			continue
		}
		root := own + o.root(rest)
		best = choice{rank, own / root, root, o.power(root)}
	}
	(*at)[levels] = best
	return best
}

// fewRanks is the number of ranks up to which choose tries every rank as the first cut.
const fewRanks = 16

// suffice reports whether n ranks fit into the given number of levels.
func suffice(n, levels int) bool { return bits.Len(uint(n)) <= levels }

// sum returns the least sum of squared errors of the ranks first … last in the given number of levels. It is 0 if
// there are no ranks.
func (o *cutOrder) sum(first, last, levels int) float64 {
	if first > last {
		return 0
	}
	return o.choose(first, last, levels).sum
}

func (o *cutOrder) root(x float64) float64 {
	if o.squares {
		return math.Sqrt(x)
	}
	return math.Cbrt(x)
}

func (o *cutOrder) power(x float64) float64 {
	if o.squares {
		return x * x
	}
	return x * x * x
}

// cut returns the tree for the ranks first … last, with the given number of parts of ε. parts must be at least
// levels.
func (o *cutOrder) cut(first, last, levels int, parts int64) *cut {
	if first > last {
		return nil
	}
	c := o.choose(first, last, levels)
	out := &cut{rank: c.rank - 1, share: parts}
	if first == last {
		return out
	}
	left := parts
	if o.squares { // parts is then the square root of the remaining budget
		out.share = int64(math.Round(float64(parts) * math.Sqrt(c.share)))
		out.share = min(max(1, out.share), parts-int64(levels))
		left = int64(math.Sqrt(float64(parts*parts - out.share*out.share)))
	} else {
		out.share = int64(math.Round(float64(parts) * c.share))
		out.share = min(max(1, out.share), parts-int64(levels))
		left -= out.share
	}
	out.left = o.cut(first, c.rank-1, levels-1, left)
	out.right = o.cut(c.rank+1, last, levels-1, left)
	return out
}

// sum returns the largest sum of shares on a path down the tree, and squares the largest sum of their squares.
func (c *cut) sum() int64 {
	if c == nil {
		return 0
	}
	return c.share + max(c.left.sum(), c.right.sum())
}

func (c *cut) squares() int64 {
	if c == nil {
		return 0
	}
	return c.share*c.share + max(c.left.squares(), c.right.squares())
}

// scale sets the denominator of all shares.
func (c *cut) scale(of int64) {
	if c != nil {
		c.of = of
		c.left.scale(of)
		c.right.scale(of)
	}
}
