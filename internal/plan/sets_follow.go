package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dither/internal/value"
)

// Following tells how the cells of a measure over one grouping follow from what another plan released: each is a sum of cells of
// the other's table over some of its keys.
type Following struct {
	Measure int     // among the other plan's
	Keys    []int   // of the other plan, increasing: those whose table is taken, summed over the others
	Cells   [][]int // for each cell of the grouping, the cells of that table, in the order of its keys, that add up to it
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
//     has none, drops none, and each key that one plan has and the other has not is of that kind.
//   - Parts drop the same rows: none where each row is a unit; else both plans are confined, or neither, under one policy's division,
//     whose rule asks for no question.
//   - What a unit keeps is the same: each row is a unit; or at most so many rows of a unit count, the same number, of the same rows, in
//     their one order, and no condition of p takes some of q's rows after q's cap; or the plans have the same cells, and the same caps.
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
		found, follows := p.cellsFrom(g, q, rows.picked)
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

// rowsLike is what Follow finds of a plan whatever the measure is: whether the same rows are left, which values of its keys are picked,
// and by grouping what follows, nil where nothing does.
type rowsLike struct {
	same   bool
	picked map[int][]bool
	cells  map[string]*Following
}

// rowsOf compares the rows of two plans, once.
func (p *Plan) rowsOf(q *Plan) *rowsLike {
	if found := p.compared[q]; found != nil {
		return found
	}
	out := &rowsLike{cells: map[string]*Following{}}
	out.picked, out.same = p.pickedFrom(q)
	if p.compared == nil {
		p.compared = map[*Plan]*rowsLike{}
	}
	p.compared[q] = out
	return out
}

func (p *Plan) pickedFrom(q *Plan) (map[int][]bool, bool) {
	if !p.sameOrigins(q) {
		return nil, false
	}
	if p.Unit != nil && (p.Part == nil) != (q.Part == nil) {
		return nil, false
	}
	extra, ok := further(p.Where, q.Where)
	if !ok || len(extra) > 0 && p.Unit != nil {
		return nil, false
	}
	picked, ok := picks(extra, q)
	if !ok {
		return nil, false
	}
	for k := range q.Keys {
		if picked[k] == nil && !p.hasKey(&q.Keys[k]) && !q.Keys[k].complete() {
			return nil, false
		}
	}
	for k := range p.Keys {
		if !q.hasKey(&p.Keys[k]) && !p.Keys[k].complete() {
			return nil, false
		}
	}
	return picked, true
}

// sameOrigins reports that columns of both plans have the values of one version of a public table.
func (p *Plan) sameOrigins(q *Plan) bool {
	return !slices.ContainsFunc(p.Columns, func(c Column) bool {
		return slices.ContainsFunc(q.Columns, func(o Column) bool {
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
		return m.Kind != CountRows && m.Kind != CountValue && m.Kind != CountUnits && m.Kind != Sum
	}) {
		return false // as its text would say
	}
	known := []string{"measure ", "set ", "semantics ", "policy ", "table ", "neighbours ", "price ", "caps ", "part ", "values of ", "where "}
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
func (k *Key) complete() bool {
	return !k.Expr.Nullable || k.Index(value.NullOf(k.Expr.Type)) >= 0
}

func (b *Bounded) hasKey(k *Key) bool { return b.keyLike(k) >= 0 }

// keyLike is the index of the key that is the same expression with the same known values, or −1.
func (b *Bounded) keyLike(k *Key) int {
	return slices.IndexFunc(b.Keys, func(o Key) bool {
		return o.Expr.String() == k.Expr.String() && slices.EqualFunc(o.Values, k.Values, func(x, y value.Value) bool { return value.Compare(x, y) == 0 })
	})
}

// sameCaps reports that a unit keeps the same of a measure in both plans.
func (p *Plan) sameCaps(m *Measure, q *Plan) bool {
	sameCells := len(p.Keys) == len(q.Keys) && !slices.ContainsFunc(p.Keys, func(k Key) bool { return !q.hasKey(&k) })
	switch {
	case m.Kind == CountUnits:
		return p.Sets == nil && q.Sets == nil && sameCells && p.Caps == q.Caps
	case p.Unit == nil:
		return true
	case p.Caps.Rows > 0:
		return p.Caps.Rows == q.Caps.Rows
	}
	return sameCells && p.Caps == q.Caps
}

// conditionsOf are the parts of a conjunction, by their texts.
func conditionsOf(e *Expr) map[string]*Expr {
	out := map[string]*Expr{}
	var add func(*Expr)
	add = func(e *Expr) {
		switch {
		case e == nil:
		case e.Op == OpAnd:
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
func further(p, q *Expr) ([]*Expr, bool) {
	of := conditionsOf(p)
	for text := range conditionsOf(q) {
		if of[text] == nil {
			return nil, false
		}
		delete(of, text)
	}
	var out []*Expr
	for _, text := range slices.Sorted(maps.Keys(of)) {
		out = append(out, of[text])
	}
	return out, true
}

// picks finds the values of q's keys that further conditions leave, by key: each condition is about one key alone. It is not one for
// picking where it would be true of a row that q dropped, or where no value is left.
func picks(extra []*Expr, q *Plan) (map[int][]bool, bool) {
	out := map[int][]bool{}
	for _, c := range extra {
		k := slices.IndexFunc(q.Keys, func(k Key) bool { return about(c, k.Expr.String()) })
		if k < 0 {
			return nil, false
		}
		key := &q.Keys[k]
		if !key.complete() {
			if v, ok := judge(c, key.Expr.String(), value.NullOf(key.Expr.Type)); !ok || isTrue(v) {
				return nil, false
			}
		}
		if out[k] == nil {
			out[k] = make([]bool, len(key.Values))
			for i := range out[k] {
				out[k][i] = true
			}
		}
		for i, x := range key.Values {
			v, ok := judge(c, key.Expr.String(), x)
			if !ok {
				return nil, false
			}
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

func isTrue(v value.Value) bool { return !v.Null && v.Bool }

// about reports that e reads rows through the expression of that text alone.
func about(e *Expr, text string) bool {
	if e.String() == text || e.Op == OpConst {
		return true
	}
	if e.Op == OpColumn {
		return false
	}
	for _, a := range e.Args {
		if !about(a, text) {
			return false
		}
	}
	return len(e.Args) > 0
}

// judge evaluates a condition on a key's value, where it is made of comparisons with constants; false where it is not.
func judge(e *Expr, text string, key value.Value) (value.Value, bool) {
	if e.String() == text {
		return key, true
	}
	if e.Op == OpConst {
		return e.Const, true
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		v, ok := judge(a, text, key)
		if !ok {
			return value.Value{}, false
		}
		args[i] = v
	}
	unknown := value.NullOf(value.Boolean)
	switch e.Op {
	case OpNil:
		return value.OfBool(args[0].Null), true
	case OpIs:
		return value.OfBool(isTrue(args[0])), true
	case OpNot:
		if args[0].Null {
			return unknown, true
		}
		return value.OfBool(!args[0].Bool), true
	case OpAnd, OpOr:
		out := value.OfBool(e.Op == OpAnd)
		for _, a := range args {
			switch {
			case !a.Null && a.Bool == (e.Op == OpOr):
				return a, true
			case a.Null:
				out = unknown
			}
		}
		return out, true
	case OpIn:
		for _, a := range args {
			if a.Null {
				return unknown, true
			}
		}
		return value.OfBool(slices.ContainsFunc(args[1:], func(v value.Value) bool { return value.Compare(args[0], v) == 0 })), true
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		if args[0].Null || args[1].Null {
			return unknown, true
		}
		if args[0].Type != args[1].Type {
			return value.Value{}, false
		}
		d := value.Compare(args[0], args[1])
		return value.OfBool(map[Op]bool{OpEq: d == 0, OpNe: d != 0, OpLt: d < 0, OpLe: d <= 0, OpGt: d > 0, OpGe: d >= 0}[e.Op]), true
	}
	return value.Value{}, false
}

// cellsFrom finds the cells of q's table that make up each cell of g.
func (p *Plan) cellsFrom(g Grouping, q *Plan, picked map[int][]bool) (Following, bool) {
	out := Following{}
	from := map[int]int{} // a key of q → that of g which it is
	for _, k := range g.Keys {
		i := q.keyLike(&p.Keys[k])
		if i < 0 {
			return out, false
		}
		from[i] = k
	}
	table := Grouping{}
	for k := range q.Keys {
		if _, ok := from[k]; ok || picked[k] != nil {
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
	out.Cells = make([][]int, g.Cells(&p.Bounded))
	for i := range table.Cells(&q.Bounded) {
		at, left, rest := make([]int, len(p.Keys)), true, i
		for _, k := range slices.Backward(table.Keys) {
			n := len(q.Keys[k].Values)
			v := rest % n
			rest /= n
			left = left && (picked[k] == nil || picked[k][v])
			if into, ok := from[k]; ok {
				at[into] = v
			}
		}
		if !left {
			continue
		}
		cell := 0
		for _, k := range g.Keys {
			cell = cell*len(p.Keys[k].Values) + at[k]
		}
		out.Cells[cell] = append(out.Cells[cell], i)
	}
	for _, c := range out.Cells {
		if len(c) != len(out.Cells[0]) || len(c) == 0 {
			return out, false // a key that is both shown and picked from: some of its values would have no cell
		}
	}
	return out, true
}
