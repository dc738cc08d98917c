package table

import (
	"fmt"
	"math"

	"dither/internal/rounding"
)

// MaxJoint is the largest number of cells of a level's table over all classifications that tables of this level and of
// finer ones have.
const MaxJoint = 5_000_000

// Whole holds integers for all cells of some margins, which add up exactly: each cell is the sum of its parts in every
// finer margin, and margins that share classifications have the same sums over the others.
type Whole struct {
	space  *Space
	cover  [][]clique  // by level
	blocks [][][]int64 // by level and clique: a block of cells for each node
}

// NewWhole rounds a fit to integers that add up over all given margins, from the coarsest level down. Unless signed is
// set, the integers are not negative. fixed holds the totals that were declared for the fit.
//
// Each step divides the integers of a node among its children. It first divides the total, and then, for each further
// classification, the tables of children by values, whose sums over the children and over the values are known
// ([rounding.Table]). So each integer is near the fit, given the integers above it. Margins that are not parts of each other
// are rounded one after the other, given the sums that they share ([covers]). This is post-processing. Unless signed is
// set it is biased: raising negative numbers to 0 lowers others.
func NewWhole(f *Fit, margins []Margin, fixed map[[2]int]int64, signed bool) (*Whole, error) {
	h := f.space.Hierarchy
	cover, finest, err := coverOf(f.space, margins)
	if err != nil {
		return nil, err
	}
	w := &Whole{space: f.space, cover: cover, blocks: make([][][]int64, len(h.Levels))}
	r := &rounder{Whole: w, fit: f, signed: signed, margins: margins}
	r.declare(fixed)
	for l := len(h.Levels) - 1; l >= finest; l-- {
		if err := r.level(l); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// CheckWhole returns the error of [NewWhole] for margins that have too many cells together, which no fit can change. So it
// is known before anything is measured.
func CheckWhole(space *Space, margins []Margin) error {
	_, _, err := coverOf(space, margins)
	return err
}

// coverOf returns the cliques of margins by level, and the finest level that they have.
func coverOf(space *Space, margins []Margin) (cover [][]clique, finest int, err error) {
	levels := space.Hierarchy.Levels
	cover, finest = covers(len(levels), margins), len(levels)-1
	for _, m := range margins {
		finest = min(finest, m.Level)
	}
	for l := finest; l < len(levels); l++ {
		cells := 0
		for _, c := range cover[l] {
			cells += space.Cells(Margin{l, c.keys})
		}
		if cells > MaxJoint {
			return nil, 0, fmt.Errorf("the tables of level %s have %d cells over all their classifications; at most %d can be rounded",
				levels[l].Name, cells, MaxJoint)
		}
	}
	return cover, finest, nil
}

// rounder carries out [NewWhole].
type rounder struct {
	*Whole
	fit     *Fit
	signed  bool
	margins []Margin
	least   [][]int64 // by level and node: the sum of declared totals below the node, or its own
	known   [][]bool  // whether the node's total follows from declared totals
}

// declare adds up the declared totals.
func (r *rounder) declare(fixed map[[2]int]int64) {
	h := r.space.Hierarchy
	for l := range h.Levels {
		least, known := make([]int64, h.Nodes(l)), make([]bool, h.Nodes(l))
		if l > 0 {
			for i := range known {
				known[i] = true
			}
			for i, p := range h.Levels[l-1].Parent {
				least[p] += r.least[l-1][i]
				known[p] = known[p] && r.known[l-1][i]
			}
		}
		for i := range least {
			if n, ok := fixed[[2]int{l, i}]; ok {
				least[i], known[i] = n, true
			}
		}
		r.least, r.known = append(r.least, least), append(r.known, known)
	}
}

// level fills in the blocks of a level from those of the next coarser one.
func (r *rounder) level(l int) error {
	h := r.space.Hierarchy
	for i, c := range r.cover[l] {
		estimates := make([][]float64, len(c.chain))
		for j, keys := range c.chain {
			estimates[j] = r.near(Margin{l, keys})
			for _, x := range estimates[j] {
				if !(math.Abs(x) < rounding.MaxSum) {
					return fmt.Errorf("an estimate is %g; only estimates below %d can be rounded", x, int64(rounding.MaxSum))
				}
			}
		}
		width := r.space.Width(c.keys)
		out := make([]int64, h.Nodes(l)*width)
		if h.Levels[l].Parent == nil {
			for node := range h.Nodes(l) {
				copy(out[node*width:], r.root(l, node, i, estimates))
			}
		} else {
			for p, children := range h.children(l + 1) {
				for j, block := range r.divide(l, i, p, children, estimates) {
					copy(out[children[j]*width:], block)
				}
			}
		}
		r.blocks[l] = append(r.blocks[l], out)
	}
	return nil
}

// start returns the block over the classifications that clique i shares with an earlier one.
func (r *rounder) start(l, node, i int) []int64 { return r.sums(l, node, r.cover[l][i].shared) }

// root returns a clique's block of a node without parent.
func (r *rounder) root(l, node, i int, estimates [][]float64) (block []int64) {
	chain := r.cover[l][i].chain
	if i > 0 {
		block = r.start(l, node, i)
	} else {
		total := int64(math.Round(estimates[0][node]))
		switch {
		case r.known[l][node]:
			total = r.least[l][node]
		case !r.signed:
			total = max(total, r.least[l][node])
		}
		block = []int64{total}
	}
	for step, keys := range chain[1:] {
		width := r.space.Width(keys)
		of, next := estimates[step+1][node*width:(node+1)*width], make([]int64, width)
		for s, members := range r.members(keys, chain[step]) {
			x := make([]float64, len(members))
			for j, c := range members {
				x[j] = of[c]
			}
			for j, n := range rounding.Divide(block[s], x, r.signed) {
				next[members[j]] = n
			}
		}
		block = next
	}
	return block
}

// members returns, for each cell of a block over onto, the cells of a block over keys that it contains.
func (r *rounder) members(keys, onto Keys) [][]int {
	out := make([][]int, r.space.Width(onto))
	for c, s := range r.space.projection(keys, onto) {
		out[s] = append(out[s], c)
	}
	return out
}

// divide returns the children's blocks of clique i, whose sum is that of their parent.
func (r *rounder) divide(l, i, parent int, children []int, estimates [][]float64) [][]int64 {
	chain := r.cover[l][i].chain
	blocks := make([][]int64, len(children))
	if i == 0 {
		for j, n := range r.totals(l, children, r.sums(l+1, parent, 0)[0], estimates[0]) {
			blocks[j] = []int64{n}
		}
	} else {
		for j, c := range children {
			blocks[j] = r.start(l, c, i)
		}
	}
	for step, keys := range chain[1:] {
		width, above := r.space.Width(keys), r.sums(l+1, parent, keys)
		next := make([][]int64, len(children))
		for j := range next {
			next[j] = make([]int64, width)
		}
		for s, members := range r.members(keys, chain[step]) {
			t := rounding.Table{Signed: r.signed, Values: make([]float64, 0, len(children)*len(members))}
			for _, c := range members {
				t.Columns = append(t.Columns, above[c])
			}
			for j, child := range children {
				t.Rows = append(t.Rows, blocks[j][s])
				for _, c := range members {
					t.Values = append(t.Values, estimates[step+1][child*width+c])
				}
			}
			for at, n := range t.Solve() {
				next[at/len(members)][members[at%len(members)]] = n
			}
		}
		blocks = next
	}
	return blocks
}

// totals divides a node's total among its children. Declared totals stay as they are, and a child has at least the sum
// of the declared totals below it if numbers are not negative.
func (r *rounder) totals(l int, children []int, total int64, estimates []float64) []int64 {
	out := make([]int64, len(children))
	var free []int
	var x []float64
	for i, c := range children {
		if r.known[l][c] || !r.signed {
			out[i] = r.least[l][c]
			total -= out[i]
		}
		if !r.known[l][c] {
			free, x = append(free, i), append(x, estimates[c]-float64(out[i]))
		}
	}
	if len(free) > 0 {
		for i, n := range rounding.Divide(total, x, r.signed) {
			out[free[i]] += n
		}
	}
	return out
}

// wholeSum adds up one node's block over the classifications in keys that are not in onto.
func (s *Space) wholeSum(block []int64, keys, onto Keys) []int64 {
	out := make([]int64, s.Width(onto))
	for c, at := range s.projection(keys, onto) {
		out[at] += block[c]
	}
	return out
}

// sums returns a node's block over some classifications, which one clique of the level must contain.
func (w *Whole) sums(l, node int, keys Keys) []int64 {
	for i, c := range w.cover[l] {
		if keys&^c.keys == 0 {
			width := w.space.Width(c.keys)
			return w.space.wholeSum(w.blocks[l][i][node*width:(node+1)*width], c.keys, keys)
		}
	}
	return nil
}

// Values returns the integers of a margin's cells. The margin must be one of those that were rounded, or a sum of
// these.
func (w *Whole) Values(m Margin) []int64 {
	var out []int64
	for i := range w.space.Hierarchy.Nodes(m.Level) {
		out = append(out, w.sums(m.Level, i, m.Keys)...)
	}
	return out
}
