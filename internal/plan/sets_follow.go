package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// Following tells how the cells of a measure over one grouping follow from what another plan released: each is a sum of cells of
// the other's table over some of its keys. They need not be equally many: the months of a release by day have 28 to 31.
type Following struct {
	Measure int     // among the other plan's
	Keys    []int   // of the other plan, increasing: those whose table is taken, summed over the others
	Cells   [][]int // for each cell of the grouping, the cells of that table, in the order of its keys, that add up to it; none where it is 0 for all rows
}

// Follow tells how measure m over grouping g of p follows from what q releases, both being planned under one policy over one
// sealed version; false where it does not.
//
// The identity is one of *bounded* quantities, not of what the aggregates would be without bounds: for every table of rows, each of
// p's exact bounded cells is the sum of those of q. Proof, case by case.
//   - The measures are the same text, so each row contributes the same integer.
//   - Columns that both plans read are cleaned alike: the policy is the same, and so is the version of a public table that their values are of.
//   - The same rows are left. WHERE has the same conditions; what p has besides picks values of q's keys, and is true for no row that
//     q drops (see picks). A key drops a row if its value is not a known one, which can only be NULL: a key of which NULL is one, or that
//     has none, drops none. Each key that one plan has and the other has not is of that kind, or drops what the other plan drops, or what
//     is then taken from its cells (see leads).
//   - Each row that is left is in one cell of q's, and in the one of p's that this cell leads to: a key of p is one of q's, or a function of
//     one, whose value decides p's. Two keys of p may be functions of one; a cell of p to which none leads is then 0, for all rows.
//   - Parts drop the same rows: none where each row is a unit; else both plans are confined, or neither, under one policy's division,
//     whose rule asks for no question.
//   - What a unit keeps is the same: each row is a unit; or at most so many rows of a unit count, the same number, of the same rows, in
//     their one order (see sameOrder), and no condition of p takes some of q's rows after q's cap; or the plans have the same cells, and the same caps:
//     without ranks an engine puts a unit's cells in an order of their keys alone.
//   - Units in cells are counted alike only where the cells and the caps are the same: a unit may be in several cells.
func (p *Plan) Follow(m *Measure, g Grouping, q *Plan) (Following, bool) {
	none := Following{}
	if !p.Followable() || !q.Followable() || p.Table != q.Table || p.Neighbours != q.Neighbours || p.digest != q.digest {
		return none, false
	}
	j := slices.Index(q.measureTexts(), p.textOf(m))
	if j < 0 || !p.sameCaps(m, q) {
		return none, false
	}
	rows := p.rowsOf(q)
	if !rows.same {
		return none, false
	}
	name := fmt.Sprint(g.Keys)
	cells, ok := rows.cells[name]
	if !ok {
		found, follows := p.cellsFrom(g, q, rows)
		if follows {
			cells = &found
		}
		rows.cells[name] = cells
	}
	if cells == nil {
		return none, false
	}
	out := *cells
	out.Measure = j
	return out, true
}

// Tells reports that some measure of p follows from what q released, in all groupings.
func (p *Plan) Tells(q *Plan) bool {
	return slices.ContainsFunc(p.Measures, func(m *Measure) bool {
		return !slices.ContainsFunc(p.Groupings(), func(g Grouping) bool {
			_, ok := p.Follow(m, g, q)
			return !ok
		})
	})
}

// rowsLike is what Follow finds of a plan whatever the measure is: whether the same rows are left, which values of its keys are picked, where
// they lead to, and by grouping what follows, nil where nothing does.
type rowsLike struct {
	same   bool
	picked map[int][]bool
	leads  []led
	cells  map[string]*Following
}

// rowsOf compares the rows of two plans, once.
func (p *Plan) rowsOf(q *Plan) *rowsLike {
	if found := p.compared[q]; found != nil {
		return found
	}
	out := &rowsLike{cells: map[string]*Following{}}
	out.picked, out.leads, out.same = p.pickedFrom(q)
	if p.compared == nil {
		p.compared = map[*Plan]*rowsLike{}
	}
	p.compared[q] = out
	return out
}

// pickedFrom finds which values of q's keys are picked, and where they lead to; false where p's rows are not those of picked cells.
func (p *Plan) pickedFrom(q *Plan) (map[int][]bool, []led, bool) {
	if !p.sameOrigins(q) {
		return nil, nil, false
	}
	if p.Unit != nil && (p.Part == nil) != (q.Part == nil) {
		return nil, nil, false
	}
	extra, ok := further(p.Where, q.Where)
	if !ok || len(extra) > 0 && p.Unit != nil {
		return nil, nil, false
	}
	picked, ok := p.picks(extra, q)
	if !ok {
		return nil, nil, false
	}
	dropped := make([]bool, len(q.Keys)) // in p too: the rows that q drops for the key's sake
	for k := range q.Keys {
		dropped[k] = completeKey(&q.Keys[k]) || picked[k] != nil
	}
	leads, ok := p.leads(q, dropped)
	return picked, leads, ok && !slices.Contains(dropped, false)
}

// sameOrigins reports that columns of both plans have the values of one version of a public table.
func (p *Plan) sameOrigins(q *Plan) bool {
	return !slices.ContainsFunc(p.Columns, func(c bounded.Column) bool {
		return slices.ContainsFunc(q.Columns, func(o bounded.Column) bool {
			return c.Name == o.Name && (c.ValuesFrom == nil) != (o.ValuesFrom == nil) || c.Name == o.Name && c.ValuesFrom != nil && *c.ValuesFrom != *o.ValuesFrom
		})
	})
}

// Followable reports that what a plan releases is told by what Follow compares: no line of its canonical text says anything else. It then
// releases sums and counts alone.
func (p *Plan) Followable() bool {
	if p.followed == nil {
		is := p.followableText()
		p.followed = &is
	}
	return *p.followed
}

func (p *Plan) followableText() bool {
	if p.Source != nil { // which of a unit's rows count goes there by what the question evaluates of them
		return false
	}
	if len(p.Searches)+len(p.Quantiles)+len(p.Modes) > 0 || p.Selection != nil || slices.ContainsFunc(p.Measures, func(m *Measure) bool {
		return m.Kind != bounded.CountRows && m.Kind != bounded.CountValue && m.Kind != bounded.CountUnits && m.Kind != bounded.Sum
	}) {
		return false // as its text would say
	}
	known := []string{"measure ", "set ", "semantics ", "policy ", "table ", "neighbours ", "price ", "caps ", "part ", "unranked\n", "values of ", "where "}
	for _, k := range p.Keys {
		known = append(known, fmt.Sprintf("key %s %q", k.Expr, k.Values))
	}
	for _, text := range []string{p.head([]int{0}), p.canonicalBody()} { // which together are Canonical
		for line := range strings.Lines(text) {
			if !slices.ContainsFunc(known, func(start string) bool {
				return strings.HasPrefix(line, start) && (!strings.HasPrefix(start, "key ") || line == start+"\n")
			}) {
				return false
			}
		}
	}
	return true
}

// complete reports that no row is dropped for the key's sake.
func completeKey(k *bounded.Key) bool {
	return !k.Expr.Nullable || k.Index(value.NullOf(k.Expr.Type)) >= 0
}

func hasKey(b *bounded.Statement, k *bounded.Key) bool { return keyLike(b, k) >= 0 }

// keyLike is the index of the key that is the same expression with the same known values, or −1.
func keyLike(b *bounded.Statement, k *bounded.Key) int {
	return slices.IndexFunc(b.Keys, func(o bounded.Key) bool {
		return o.Expr.String() == k.Expr.String() && slices.EqualFunc(o.Values, k.Values, func(x, y value.Value) bool { return value.Compare(x, y) == 0 })
	})
}

// sameCaps reports that a unit keeps the same of a measure in both plans.
func (p *Plan) sameCaps(m *Measure, q *Plan) bool {
	sameCells := len(p.Keys) == len(q.Keys) && !slices.ContainsFunc(p.Keys, func(k bounded.Key) bool { return !hasKey(&q.Statement, &k) })
	switch {
	case m.Kind == bounded.CountUnits:
		return p.Sets == nil && q.Sets == nil && sameCells && p.Caps == q.Caps && (p.Caps.Rows == 0 || p.sameOrder(q))
	case p.Unit == nil:
		return true
	case p.Caps.Rows > 0:
		return p.Caps.Rows == q.Caps.Rows && p.sameOrder(q)
	}
	return sameCells && p.Caps == q.Caps
}

// sameOrder reports that a unit's rows are in one order in both plans: in that of their ranks or, where they have none, in that which the columns
// make that a question reads.
func (p *Plan) sameOrder(q *Plan) bool {
	return !p.Unranked && !q.Unranked || slices.Equal(p.readNames(), q.readNames())
}

func (p *Plan) readNames() (out []string) {
	for _, i := range p.Reads() {
		if p.Unit == nil || p.Columns[i].Name != p.Unit.Name {
			out = append(out, p.Columns[i].Name)
		}
	}
	return out
}

// conditionsOf are the parts of a conjunction, by their texts.
func conditionsOf(e *bounded.Expr) map[string]*bounded.Expr {
	out := map[string]*bounded.Expr{}
	var add func(*bounded.Expr)
	add = func(e *bounded.Expr) {
		switch {
		case e == nil:
		case e.Op == bounded.OpAnd:
			for _, a := range e.Args {
				add(a)
			}
		default:
			out[e.String()] = e
		}
	}
	add(e)
	return out
}

// further are the conditions that p's WHERE has beyond q's; false where it lacks one.
func further(p, q *bounded.Expr) ([]*bounded.Expr, bool) {
	of := conditionsOf(p)
	for text := range conditionsOf(q) {
		if of[text] == nil {
			return nil, false
		}
		delete(of, text)
	}
	var out []*bounded.Expr
	for _, text := range slices.Sorted(maps.Keys(of)) {
		out = append(out, of[text])
	}
	return out, true
}

// picks finds the values of q's keys that further conditions leave, by key: each condition is about one key alone. It is not one for
// picking where it would be true of a row that q dropped, or where no value is left.
func (p *Plan) picks(extra []*bounded.Expr, q *Plan) (map[int][]bool, bool) {
	out := map[int][]bool{}
	for _, c := range extra {
		k, f := p.behind(c, q)
		if k < 0 || !completeKey(&q.Keys[k]) && isTrue(f.null) {
			return nil, false
		}
		if out[k] == nil {
			out[k] = slices.Repeat([]bool{true}, len(f.to))
		}
		for i, v := range f.to {
			out[k][i] = out[k][i] && isTrue(v)
		}
	}
	for _, kept := range out {
		if !slices.Contains(kept, true) {
			return nil, false
		}
	}
	return out, true
}

// led is a key as a function of an earlier release's.
type led struct {
	key int   // that one; −1 where it is none's
	to  []int // for each of its values, the place of the one that it leads to; −1 where that is none of the key's
}

// leads finds of which of q's keys each of p's is a function: of the very same, or else of one that it reads rows through. It is false where
// p drops rows that q does not, and tells in dropped of which of q's keys p drops the rows that q does.
//
//   - q drops the rows where its key is NULL, if that is none of its values. p drops them where the key is one of p's, or some key of p that
//     is a function of it has, at NULL, none of its values.
//   - p drops the rows where its key is NULL, if that is none of its values. Where it is a function of q's key, none of this key's values may
//     lead there. (None does: what can make NULL of rows stands in q's key too, or NULL is among the values of p's.)
//   - A value of q's that leads to one that p's key is known not to have is no row's: its cells are 0 for all rows, in a part of p's or not.
func (p *Plan) leads(q *Plan, dropped []bool) ([]led, bool) {
	out := make([]led, len(p.Keys))
	for i := range p.Keys {
		key := &p.Keys[i]
		if k := keyLike(&q.Statement, key); k >= 0 {
			out[i], dropped[k] = led{k, places(len(key.Values))}, true
			continue
		}
		k, f := p.behind(key.Expr, q)
		if k < 0 || q.Keys[k].Expr.String() == key.Expr.String() { // the same with other values is not compared
			out[i].key = -1
			if !completeKey(key) {
				return nil, false
			}
			continue
		}
		out[i].key = k
		for _, v := range f.to {
			at := key.Index(v)
			out[i].to = append(out[i].to, at)
			if at < 0 && v.Null {
				return nil, false
			}
		}
		dropped[k] = dropped[k] || key.Index(f.null) < 0
	}
	return out, true
}

// places are 0, 1, … below n.
func places(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// cellsFrom finds the cells of q's table that make up each cell of g.
func (p *Plan) cellsFrom(g Grouping, q *Plan, rows *rowsLike) (Following, bool) {
	out := Following{}
	needed := make([]bool, len(q.Keys))
	for k := range rows.picked {
		needed[k] = true
	}
	for _, k := range g.Keys {
		if rows.leads[k].key < 0 {
			return out, false
		}
		needed[rows.leads[k].key] = true
	}
	table := Grouping{}
	for k, is := range needed {
		if is {
			table.Keys = append(table.Keys, k)
		}
	}
	// Some grouping of q has all of these.
	if !slices.ContainsFunc(q.Groupings(), func(s Grouping) bool {
		return !slices.ContainsFunc(table.Keys, func(k int) bool { return !s.Has(k) })
	}) {
		return out, false
	}
	out.Keys = table.Keys
	out.Cells = make([][]int, g.Cells(&p.Statement))
	at := make([]int, len(q.Keys))
	for i := range table.Cells(&q.Statement) {
		left, rest := true, i
		for _, k := range slices.Backward(table.Keys) {
			n := len(q.Keys[k].Values)
			at[k] = rest % n
			rest /= n
			left = left && (rows.picked[k] == nil || rows.picked[k][at[k]])
		}
		cell := 0
		for _, k := range g.Keys {
			to := rows.leads[k].to[at[rows.leads[k].key]]
			left = left && to >= 0
			cell = cell*len(p.Keys[k].Values) + to
		}
		if left {
			out.Cells[cell] = append(out.Cells[cell], i)
		}
	}
	return out, true
}
