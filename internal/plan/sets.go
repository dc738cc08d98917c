package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Grouping is one grouping set of an answer: its cells have some of the plan's keys, and are summed over the others. The engine is
// asked for the cells of all keys, once; a coarser cell is a sum of those, so that the exact tables add up, and one bound on what
// a unit contributes holds for them all. Distinct counts are no sums, and looked at by each set (SetLook).
type Grouping struct {
	Keys []int // of the plan's keys, increasing
	// Measures are the plan's, in its order, each as it is taken of this grouping: with a share of its price, with the
	// sensitivity of this grouping's vector of cells, and with the noise that these give.
	Measures []*Measure
	// Order is the look for the grouping's quantiles and modes (Plan.Orders); nil without any.
	Order *Plan
}

// MaxSets bounds the grouping sets of one question.
const MaxSets = 64

// Groupings are the plan's grouping sets; without any, the one that has all keys.
func (p *Plan) Groupings() []Grouping {
	if p.Sets != nil {
		return p.Sets
	}
	return []Grouping{{Keys: allKeys(len(p.Keys)), Measures: p.Measures}}
}

// groupingsOf returns the groupings with the given lists of keys; without any, the one that has all keys.
func groupingsOf(sets [][]int, keys int) []Grouping {
	if sets == nil {
		return []Grouping{{Keys: allKeys(keys)}}
	}
	out := make([]Grouping, len(sets))
	for i, set := range sets {
		out[i].Keys = set
	}
	return out
}

func allKeys(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Vectors are all noisy vectors of an answer: the measures of every grouping.
func (p *Plan) Vectors() []*Measure {
	if p.Sets == nil {
		return p.Measures
	}
	var out []*Measure
	for _, g := range p.Sets {
		out = append(out, g.Measures...)
	}
	return out
}

// Released is how many cells an answer releases: those of every grouping.
func (p *Plan) Released() int {
	n := 0
	for _, g := range p.Groupings() {
		n += g.Cells(&p.Statement)
	}
	return n
}

// Cells is how many cells the grouping has.
func (g Grouping) Cells(b *bounded.Statement) int {
	n := 1
	for _, k := range g.Keys {
		n *= len(b.Keys[k].Values)
	}
	return n
}

// Has reports that the grouping has the k-th key.
func (g Grouping) Has(k int) bool { return slices.Contains(g.Keys, k) }

// CellKeys gives the values of all keys of the grouping's i-th cell: NULL for those that it is summed over. The last key runs
// fastest.
func (g Grouping) CellKeys(b *bounded.Statement, i int) []value.Value {
	out := make([]value.Value, len(b.Keys))
	for j := range out {
		out[j] = value.NullOf(b.Keys[j].Expr.Type)
	}
	for _, k := range slices.Backward(g.Keys) {
		values := b.Keys[k].Values
		out[k] = values[i%len(values)]
		i /= len(values)
	}
	return out
}

// Into gives, for each cell of all keys, the grouping's cell that it is a part of.
func (g Grouping) Into(b *bounded.Statement) []int {
	return g.Within(b, Grouping{Keys: allKeys(len(b.Keys))})
}

// Within gives the same for each cell of a finer grouping, which has all of its keys.
func (g Grouping) Within(b *bounded.Statement, fine Grouping) []int {
	out := []int{0}
	for _, k := range fine.Keys {
		n := len(b.Keys[k].Values)
		next := make([]int, 0, len(out)*n)
		for _, cell := range out {
			for v := range n {
				if g.Has(k) {
					next = append(next, cell*n+v)
				} else {
					next = append(next, cell)
				}
			}
		}
		out = next
	}
	return out
}

// Parts is how many cells of all keys make up one of the grouping's.
func (g Grouping) Parts(b *bounded.Statement) int64 {
	if len(g.Keys) == len(b.Keys) { // also where the groups are not known
		return 1
	}
	return int64(b.Cells() / g.Cells(b))
}

// overSets divides each measure's share of the price equally among the groupings, and returns the groupings with their
// measures, each with the noise that its own share pays for. The shares add up to the measure's exactly, so by basic
// composition all groupings together cost what the measure does.
func overSets(b *bounded.Statement, n privacy.Neighbours, measures []*Measure, groupings []Grouping) ([]Grouping, error) {
	sets := slices.Clone(groupings)
	var known chosen
	paid := shares{}
	for i := range sets {
		g := &sets[i]
		g.Measures = nil
		for _, m := range measures {
			own := *m
			own.Loss = paid.share(m.Loss, 1, int64(len(sets)))
			own.boundOver(n, capsOver(b, *g, &m.Measure), len(g.Keys) > 0, g.Parts(b))
			own.boundFew(n, b.Caps, g.Cells(b))
			if err := known.choose(&own); err != nil {
				return nil, err
			}
			g.Measures = append(g.Measures, &own)
		}
	}
	return sets, nil
}

// boundOver fixes how far the measure's vector over a grouping can move between neighbours, in grid units, where each of the
// grouping's cells is a sum of so many cells of all keys. With one part it is bound's.
//
// Proof. What a unit contributes is bounded in the table of all keys, once, and a coarser table is a sum of its cells.
//   - Row cap: a unit's contribution is still a sum of at most Rows rows, each in one cell, so bound's proof holds as it is.
//   - Groups: let c be the contribution to the coarser vector. It is a sum of at most Groups numbers of size at most G :=
//     RowsPerGroup·M, of which at most k := min(Groups, parts) fall into one coarser cell. So ‖c‖₁ ≤ Groups·G and each |cᵢ| ≤ kG;
//     ‖c‖₂² is convex, and so greatest at a corner of what these allow: with Groups = qk + r, 0 ≤ r < k, at q cells of kG and
//     one of rG: ‖c‖₂² ≤ Q := (qk² + r²)·G².
//
// Change-one: as in bound's proof the L1 distance is at most twice as much, and the squared L2 distance at most 4Q, or 2Q where
// contributions have one sign; with one cell alone, contributions lie between Groups·RowsPerGroup times the least and the most that
// one row adds, 0 included, and so differ by at most that length. ∎
func (m *Measure) boundOver(n privacy.Neighbours, caps bounded.Caps, grouped bool, parts int64) {
	m.bound(n, caps, grouped)
	if caps.Rows > 0 || m.Kind == bounded.CountUnits || parts == 1 {
		return
	}
	// bound took q = Groups cells of G: what it found for L2² is Groups·G² and its factor. Here it is (qk² + r²)·G².
	k := min(caps.Groups, parts)
	q, r := caps.Groups/k, caps.Groups%k
	cells := new(big.Int).Mul(big.NewInt(k), big.NewInt(k))
	cells.Mul(cells, big.NewInt(q))
	cells.Add(cells, new(big.Int).Mul(big.NewInt(r), big.NewInt(r)))
	m.L2Squared.Div(m.L2Squared, big.NewInt(caps.Groups)) // exactly
	m.L2Squared.Mul(m.L2Squared, cells)
}

// describeSets writes what the release of several groupings depends on.
func (p *Plan) describeSets(w *strings.Builder) {
	known := measureWriter{}
	for _, g := range p.Sets {
		fmt.Fprintf(w, "set %v\n", g.Keys)
		for _, m := range g.Measures {
			known.write(w, m)
		}
		if g.Order != nil {
			g.Order.describeOrders(w)
		}
	}
}

// grouping lowers GROUPING(a, b, …): a bit for each argument, the last one's the lowest, which is 1 in the rows that are summed
// over it.
func (b *measuring) grouping(x *query.Call) (*Post, error) {
	if x.Star || x.Distinct || x.Filter != nil || len(x.Args) == 0 || len(x.Args) > 31 {
		return nil, bind.Refuse(x.At, "", "GROUPING takes GROUP BY expressions, at most 31")
	}
	out := &Post{Op: PostGrouping, Type: value.Integer}
	for _, arg := range x.Args {
		key, ok := b.postKey(resolveAlias(&b.Scope, b.tree, arg))
		if !ok {
			return nil, bind.Refuse(arg.Pos(), "", "GROUPING takes expressions that stand in GROUP BY, and this one does not")
		}
		out.Args = append(out.Args, key)
	}
	return out, nil
}
