package plan

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/internal/value"
	"dither/privacy"
)

// Grouping is one grouping set of an answer. Its cells (groups) have some of the plan's keys, and are summed over the
// others. The engine returns the cells of all keys once, and a coarser cell is a sum of these. So the exact tables add
// up, and one bound on a unit's contribution holds for all of them. Distinct counts are no sums, so each set reads them
// separately ([Plan.SetLook]).
type Grouping struct {
	Keys []int // indices in the plan's Keys, increasing
	// Measures are the plan's measures, in its order, for this grouping. Each has a fraction of the measure's share of
	// the price, the sensitivity of this grouping's vector of cells, and the noise that follows.
	Measures []*Measure
	// Order is the plan of the grouping's quantiles and modes ([Plan.Orders]), or nil if there are none.
	Order *Plan
}

// MaxSets is the largest number of grouping sets of one question.
const MaxSets = 64

// Groupings returns the plan's grouping sets, or the one grouping with all keys if there are none.
func (p *Plan) Groupings() []Grouping {
	if p.Sets != nil {
		return p.Sets
	}
	return []Grouping{{Keys: allKeys(len(p.Keys)), Measures: p.Measures}}
}

// groupingsOf returns the groupings with the given lists of keys. If there are none, it returns the one grouping
// with all keys, whose number is keys.
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

// Vectors returns all noisy vectors of an answer: the measures of every grouping, where each measure is the vector of
// its cells.
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

// Released returns how many cells (groups) an answer releases, over all groupings.
func (p *Plan) Released() int {
	n := 0
	for _, g := range p.Groupings() {
		n += g.Cells(&p.Statement)
	}
	return n
}

// Cells returns the number of the grouping's cells (groups), in statement b.
func (g Grouping) Cells(b *bounded.Statement) int {
	n := 1
	for _, k := range g.Keys {
		n *= len(b.Keys[k].Values)
	}
	return n
}

// Has reports whether the grouping has the k-th key.
func (g Grouping) Has(k int) bool { return slices.Contains(g.Keys, k) }

// CellKeys returns the values of all keys in the grouping's i-th cell (group). They are NULL for keys that the grouping
// is summed over. The last key runs fastest.
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

// Into returns, for each cell (group) of all keys, the index of the grouping's cell that contains it.
func (g Grouping) Into(b *bounded.Statement) []int {
	return g.Within(b, Grouping{Keys: allKeys(len(b.Keys))})
}

// Within returns, for each cell (group) of a finer grouping, the index of g's cell that contains it. The finer grouping
// must have all keys of g.
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

// Parts returns how many cells (groups) of all keys make up one cell of the grouping.
func (g Grouping) Parts(b *bounded.Statement) int64 {
	if len(g.Keys) == len(b.Keys) { // true for unknown groups too, which have no sets
		return 1
	}
	return int64(b.Cells() / g.Cells(b))
}

// overSets returns the groupings with their measures, in statement b. It divides each measure's share of the price
// equally among the groupings, and chooses the noise that each fraction of the share pays for. The fractions add up to
// the share exactly. So by basic composition, all groupings together cost as much as the measures.
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
			by := sensitivity.OverGrouping(&m.Measure, n, capsOver(b, *g, &m.Measure), len(g.Keys) > 0, g.Parts(b))
			own.moves(by.WithFew(&m.Measure, n, b.Caps, g.Cells(b)))
			if err := known.choose(&own); err != nil {
				return nil, err
			}
			g.Measures = append(g.Measures, &own)
		}
	}
	return sets, nil
}

// describeSets writes everything that the release of several groupings depends on, except the statement.
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

// grouping translates GROUPING(a, b, …). The result has one bit for each argument, the lowest for the last one. The bit
// is 1 in rows that are summed over the argument.
func (b *measuring) grouping(x *query.Call) (*Post, error) {
	if x.Star || x.Distinct || x.Filter != nil || len(x.Args) == 0 || len(x.Args) > 31 {
		return nil, bind.Refuse(x.At, "", "GROUPING takes GROUP BY expressions, at most 31")
	}
	out := &Post{Op: PostGrouping, Type: value.Integer}
	for _, arg := range x.Args {
		key, ok := b.postKey(resolveAlias(b.Scope, b.tree, arg))
		if !ok {
			return nil, bind.Refuse(arg.Pos(), "", "GROUPING takes GROUP BY expressions, and this is not one")
		}
		out.Args = append(out.Args, key)
	}
	return out, nil
}
