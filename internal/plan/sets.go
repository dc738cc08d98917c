package plan

import (
	"cmp"
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
	return []Grouping{{Keys: allKeys(&p.Statement), Measures: p.Measures}}
}

func allKeys(b *bounded.Statement) []int {
	out := make([]int, len(b.Keys))
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
func (g Grouping) Into(b *bounded.Statement) []int { return g.Within(b, Grouping{Keys: allKeys(b)}) }

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

// spread writes out ROLLUP, CUBE and GROUPING SETS: the question's GROUP BY becomes the list of its expressions, and b.sets says
// which of them each set has, in the question's order.
func (b *builder) spread() error {
	i := slices.IndexFunc(b.tree.GroupBy, func(x query.Expr) bool { _, ok := x.(*query.Grouping); return ok })
	if i < 0 {
		return nil
	}
	b.setsAt = b.tree.GroupBy[i].Pos()
	tree := *b.tree
	tree.GroupBy = nil
	sets := [][]int{nil}
	for _, x := range b.tree.GroupBy {
		of, err := expand(x, &tree)
		if err != nil {
			return err
		}
		if sets, err = product(sets, of, x.Pos()); err != nil {
			return err
		}
	}
	b.tree, b.sets = &tree, sets
	return nil
}

// expand lists the sets that one item of GROUP BY stands for, adding its expressions to the tree's.
func expand(x query.Expr, tree *query.Select) ([][]int, error) {
	g, ok := x.(*query.Grouping)
	if !ok {
		text := query.Print(x)
		if i := slices.IndexFunc(tree.GroupBy, func(y query.Expr) bool { return query.Print(y) == text }); i >= 0 {
			return [][]int{{i}}, nil
		}
		tree.GroupBy = append(tree.GroupBy, x)
		return [][]int{{len(tree.GroupBy) - 1}}, nil
	}
	var each [][][]int
	for _, arg := range g.Args {
		of, err := expand(arg, tree)
		if err != nil {
			return nil, err
		}
		each = append(each, of)
	}
	var out [][]int
	switch g.Kind {
	case query.Together:
		out = [][]int{nil}
		for _, of := range each {
			out[0] = append(out[0], of[0]...)
		}
	case query.Rollup: // of which each argument is one set
		for n := range len(each) + 1 {
			out = append(out, joined(each[:len(each)-n], func(int) bool { return true }))
		}
	case query.Cube:
		if len(each) > 6 {
			return nil, tooManySets(g.At)
		}
		for mask := range 1 << len(each) { // all first, the last argument dropped first
			out = append(out, joined(each, func(i int) bool { return mask>>(len(each)-1-i)&1 == 0 }))
		}
	default:
		for _, of := range each {
			out = append(out, of...)
		}
	}
	if len(out) > MaxSets {
		return nil, tooManySets(g.At)
	}
	return out, nil
}

// joined is the union of the arguments that are taken, each of which is one set.
func joined(each [][][]int, taken func(int) bool) []int {
	var out []int
	for i, of := range each {
		if taken(i) {
			out = append(out, of[0]...)
		}
	}
	return out
}

// product joins each set with each.
func product(a, b [][]int, at query.Pos) ([][]int, error) {
	if len(a)*len(b) > MaxSets {
		return nil, tooManySets(at)
	}
	var out [][]int
	for _, x := range a {
		for _, y := range b {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out, nil
}

func tooManySets(at query.Pos) error {
	return bind.Refuse(
		at,
		"write the sets that are needed, with GROUPING SETS",
		"these are more than %d grouping sets",
		MaxSets,
	)
}

// groupSets makes the sets the plan's, once its keys are known: each once, the finer first, in an order that the keys alone decide. One that has all
// keys, alone, is a plain GROUP BY.
func (b *builder) groupSets() error {
	if b.sets == nil {
		return nil
	}
	p := b.plan
	of := make([][]int, len(b.sets))
	for i, set := range b.sets {
		for _, x := range set {
			of[i] = append(of[i], b.place[x])
		}
		slices.Sort(of[i])
		of[i] = slices.Compact(of[i])
	}
	if len(of) == 1 {
		return nil
	}
	if p.Cells() == 0 && !p.Open() { // which together refuses
		return bind.Refuse(b.setsAt, "group by something that has a value", "a GROUP BY expression has no possible value")
	}
	for _, keys := range of {
		if !slices.ContainsFunc(p.Sets, func(g Grouping) bool { return slices.Equal(g.Keys, keys) }) {
			p.Sets = append(p.Sets, Grouping{Keys: keys})
		}
	}
	slices.SortFunc(p.Sets, func(x, y Grouping) int {
		return cmp.Or(-cmp.Compare(len(x.Keys), len(y.Keys)), slices.Compare(x.Keys, y.Keys))
	})
	if !p.fittable() {
		return bind.Refuse(
			b.setsAt,
			"ask for fewer sets, or group by fewer expressions",
			"so many sets of so many expressions are too much to be fitted together",
		)
	}
	for _, keys := range of {
		p.Shown = append(p.Shown, slices.IndexFunc(p.Sets, func(g Grouping) bool { return slices.Equal(g.Keys, keys) }))
	}
	return nil
}

// What a fit may take: the sums of each set's table over each part of its keys, and for each two sets the parts of the keys that they have in
// common. maxSetKeys holds even where each key has one value.
const (
	maxSetKeys = 16
	maxSums    = 1_000_000
	maxPairs   = 50_000
)

// fittable bounds the time and memory that fitting the sets together takes.
func (p *Plan) fittable() bool {
	if len(p.Keys) > maxSetKeys {
		return false
	}
	sums, pairs := 0, 0
	for _, g := range p.Sets {
		n := 1
		for _, k := range g.Keys { // at most MaxCells·2^maxSetKeys
			n *= len(p.Keys[k].Values) + 1
		}
		sums += n
		for _, o := range p.Sets {
			common := 0
			for _, k := range g.Keys {
				if o.Has(k) {
					common++
				}
			}
			pairs += 1 << common
		}
	}
	return sums <= maxSums && pairs <= maxPairs
}

// splitSets divides each measure's share of the price equally among the sets, and chooses the noise of each. The shares add up to
// the measure's exactly, so that by basic composition all sets together cost what the measure does.
func (b *builder) splitSets() error {
	p := b.plan
	if p.Sets == nil {
		return nil
	}
	if p.Released()*len(p.Measures) > MaxNumbers {
		return bind.Refuse(
			b.setsAt,
			"ask for fewer sets, or group by less",
			"the answer would hold more than %d numbers",
			MaxNumbers,
		)
	}
	if err := p.overSets(); err != nil {
		return bind.Refuse(b.setsAt, "", "no noise can be chosen: %v", err)
	}
	return nil
}

// overSets takes the plan's measures over each of its grouping sets.
func (p *Plan) overSets() error {
	sets := slices.Clone(p.Sets)
	var known chosen
	paid := shares{}
	for i := range sets {
		g := &sets[i]
		g.Measures = nil
		for _, m := range p.Measures {
			own := *m
			own.Loss = paid.share(m.Loss, 1, int64(len(sets)))
			own.boundOver(p.Neighbours, p.capsOver(*g, m), len(g.Keys) > 0, g.Parts(&p.Statement))
			own.boundFew(p.Neighbours, p.Caps, g.Cells(&p.Statement))
			if err := known.choose(&own); err != nil {
				return err
			}
			g.Measures = append(g.Measures, &own)
		}
	}
	p.Sets = sets
	return nil
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
func (b *builder) grouping(x *query.Call) (*Post, error) {
	if x.Star || x.Distinct || x.Filter != nil || len(x.Args) == 0 || len(x.Args) > 31 {
		return nil, bind.Refuse(x.At, "", "GROUPING takes GROUP BY expressions, at most 31")
	}
	out := &Post{Op: PostGrouping, Type: value.Integer}
	for _, arg := range x.Args {
		key, ok := b.postKey(b.resolveAlias(arg))
		if !ok {
			return nil, bind.Refuse(arg.Pos(), "", "GROUPING takes expressions that stand in GROUP BY, and this one does not")
		}
		out.Args = append(out.Args, key)
	}
	return out, nil
}
