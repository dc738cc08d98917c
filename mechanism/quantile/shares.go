package quantile

import (
	"math"
	"math/bits"
)

// cut is a node in the order of cuts of a recursion: one rank, its share of ε, and the cuts in either part.
type cut struct {
	rank        int // its index
	share, of   int64
	left, right *cut
}

// cutParts is the resolution of shares.
const cutParts = 1024

// cutOrder is the order of cuts, with their shares, that has the least error.
//
// A cut of rank r in a section from a to b is drawn with an error of variance 2(2Δ/ε_r)², as a Laplace, Δ = max(r
// − a, b − r)/(b − a), which what is sought below it inherits: of a rank u in (a, r) the share (u − a)/(r −
// a), and likewise on the other side, whatever else is cut between them, since means of neighbouring cuts are linear in
// the rank. So what a cut adds to the sum of all squared errors is 2(2Δ)²W/ε_r², W the sum of the squares of those
// shares, its own 1 included. Rows are in one part alone, so both parts have all of ε that is left (Approximate has
// the proof): with the least sum V/ε² of what is cut in either part, the least of all is at ε_r ∝ (8Δ²W)^⅓,
// and is the cube of the sum of the cube roots; of what adds up in squares, as zCDP does, ε_r² ∝ (8Δ²W)^½ and
// the square. So the best order is found by dynamic programming, over the ranges of ranks that a section may have and
// how many levels are left, L = ⌊log₂ k⌋ + 1 of them in all.
//
// The shares are rounded to integer parts of cutParts. No path down exceeds cutParts in total: privacy depends on that
// alone, and not on how well they are chosen.
type cutOrder struct {
	at      []float64 // the ranks, with 0 before and 1 after them
	squares bool      // shares are for a loss that adds up in squares
	best    [][]choice
}

// choice is the plan for a range of ranks: the one to cut first, its share of the rest, the least sum of squared
// errors, and its root.
type choice struct {
	rank             int
	share, root, sum float64
}

// orderCuts is that of ranks which are checked: nil of none.
func orderCuts(t targets, squares bool) *cut {
	k := len(t.at)
	o := cutOrder{at: make([]float64, k+2), squares: squares, best: make([][]choice, (k+2)*(k+2))}
	for i, at := range t.at {
		o.at[i+1] = float64(at) / float64(t.den)
	}
	o.at[k+1] = 1
	levels := bits.Len(uint(k))
	root := o.cut(1, k, levels, cutParts)
	root.scale(root.sum())
	return root
}

// choose finds the best cuts of ranks first … last in so many levels, which suffice: of many ranks, of those whose
// first is about the middle.
func (o *cutOrder) choose(first, last, levels int) choice {
	n, low, high := last-first+1, o.at[first-1], o.at[last+1]
	at := &o.best[first*len(o.at)+last]
	if *at == nil {
		*at = make([]choice, bits.Len(uint(len(o.at)))+1)
	}
	if found := (*at)[levels]; found.rank > 0 {
		return found
	}
	aside := max(0, n-fewRanks) * 3 / 8 // on either side
	var best choice
	// sums of squares of (rank − low) of what is below a rank, and of (high − rank) of what is above
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

// fewRanks are as many as are all tried for the first to cut.
const fewRanks = 16

// suffice reports whether n ranks fit into so many levels.
func suffice(n, levels int) bool { return bits.Len(uint(n)) <= levels }

// sum is the least sum of squared errors of ranks first … last in so many levels, 0 of none.
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

// cut makes the cuts of ranks first … last with so many parts left, which is at least one for each level.
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
	if o.squares { // of what is left, parts are the root
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

// sum is the largest of the sums of shares on a path down, and squares that of their squares.
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

// scale says of how many parts shares are.
func (c *cut) scale(of int64) {
	if c != nil {
		c.of = of
		c.left.scale(of)
		c.right.scale(of)
	}
}
