package post

import (
	"dither/internal/query"
	"dither/internal/value"
)

// source gives rows: an answer, or what SELECTs, joins and UNION ALL make of answers.
type source interface{ rows(e *env) [][]Cell }

// answered is the answer of the measured question with this index.
type answered int

func (i answered) rows(e *env) [][]Cell { return e.answers[i] }

// lone is the one row without columns that a SELECT without FROM reads.
type lone struct{}

func (lone) rows(*env) [][]Cell { return [][]Cell{{}} }

// selected is a SELECT over rows.
type selected struct {
	of source
	by *stage
}

func (s selected) rows(e *env) [][]Cell { return s.by.run(e, s.of.rows(e)) }

// united is the UNION ALL of rows.
type united []source

func (u united) rows(e *env) (out [][]Cell) {
	for _, s := range u {
		out = append(out, s.rows(e)...)
	}
	return out
}

// matched is a join of rows. Rows match if their keys are equal and not NULL, and the condition on both holds.
type matched struct {
	l, r         source
	left, right  []*node       // the keys
	on           *node         // over a row of l followed by one of r; nil for none
	keepL, keepR bool          // whether rows without a match stay
	sure         [2]bool       // whether it does not depend on noise that a row has no match in l, and in r
	types        [2]([]Column) // the columns of l and of r
	merge        [][2]int      // for each column that USING merges, its index in l and in r
}

// rows pairs rows in the order of l. It stops early if the question pairs too many rows: Run then returns none.
func (j *matched) rows(e *env) (out [][]Cell) {
	left, right := j.l.rows(e), j.r.rows(e)
	by, met := map[string][]int{}, make([]bool, len(right))
	for i, cells := range right {
		if key, ok := keyOf(e, j.right, cells); ok {
			by[key] = append(by[key], i)
		}
	}
	emit := func(l, r []Cell) {
		cells := make([]Cell, 0, len(j.merge)+len(l)+len(r))
		for _, m := range j.merge {
			c := l[m[0]]
			if c.Value.Null {
				c = r[m[1]]
			}
			cells = append(cells, c)
		}
		out = append(out, append(append(cells, l...), r...))
	}
	noL, noR := j.absent(0), j.absent(1)
	for _, l := range left {
		found := false
		if key, ok := keyOf(e, j.left, l); ok {
			for _, i := range by[key] {
				e.spent.pairs(j, 1)
				if e.pairs--; e.pairs < 0 || e.ended() || e.spent.refusal() != nil {
					return nil
				}
				if j.on != nil {
					both := append(append(make([]Cell, 0, len(l)+len(right[i])), l...), right[i]...)
					if !j.on.eval(e, &row{cells: both}).Value.IsTrue() {
						continue
					}
				}
				found, met[i] = true, true
				emit(l, right[i])
			}
		}
		if !found && j.keepL {
			emit(l, noR)
		}
	}
	for i, r := range right {
		if j.keepR && !met[i] {
			emit(noL, r)
		}
	}
	return out
}

// absent returns the cells of a side without a match.
func (j *matched) absent(side int) []Cell {
	out := make([]Cell, len(j.types[side]))
	for i, c := range j.types[side] {
		out[i] = Cell{Value: value.NullOf(c.Type), absent: j.sure[side]}
	}
	return out
}

// keyOf returns a text that is the same for equal keys alone; ok is false if a key is NULL.
func keyOf(e *env, keys []*node, cells []Cell) (out string, ok bool) {
	vs, null := valuesOf(e, keys, &row{cells: cells})
	return textOf(vs), !null
}

// inner is a subquery in an expression.
type inner struct{ of source }

// found has the rows of a subquery in an expression, which are computed once.
type found struct {
	cells [][]Cell
	// for IN: the rows without NULL, and the others
	whole map[string]bool
	nulls [][]value.Value
}

func (n *inner) rows(e *env) *found {
	out, ok := e.inner[n]
	if !ok {
		out = &found{cells: n.of.rows(e)}
		e.inner[n] = out
	}
	return out
}

// value binds a subquery that gives one value.
func (n *inner) value(in frame) *node {
	c := in.columns[0]
	out := &node{typ: c.Type, noisy: c.Noisy, why: c.Why, work: 1, width: widthOf(c)}
	if why := in.decided(); why != "" {
		out.noisy, out.why = true, why
	}
	out.eval = func(e *env, _ *row) Cell {
		if rows := n.rows(e).cells; len(rows) == 1 {
			return rows[0][0]
		}
		return Exact(value.NullOf(c.Type))
	}
	return out
}

// exists binds EXISTS.
func (n *inner) exists(in frame) *node {
	out := &node{typ: value.Boolean, eval: func(e *env, _ *row) Cell { return Exact(value.OfBool(len(n.rows(e).cells) > 0)) }}
	if why := in.decided(); why != "" {
		out.noisy, out.why = true, why
	}
	return out
}

// in binds (x, …) IN (subquery): true if a row equals x, and otherwise NULL if the comparison with a row is NULL.
func (n *inner) in(xs []*node, in frame, at query.Pos) (*node, error) {
	out, rows := &node{typ: value.Boolean}, make([]*node, len(xs))
	for i, x := range xs {
		c := in.columns[i]
		pair := []*node{x, {typ: c.Type, eval: func(_ *env, r *row) Cell { return r.cells[i] }}}
		if _, err := alike(at, pair...); err != nil {
			return nil, err
		}
		xs[i], rows[i] = pair[0], pair[1]
		out.noisy = out.noisy || x.noisy || c.Noisy || in.decided() != ""
	}
	if out.noisy {
		out.why = whyCondition
	}
	out.eval = func(e *env, r *row) Cell {
		all := n.rows(e)
		if all.whole == nil {
			all.index(e, rows)
		}
		vs, null := valuesOf(e, xs, r)
		if !null && all.whole[textOf(vs)] {
			return Exact(value.OfBool(true))
		}
		if e.spent.work += len(all.nulls); e.spent.refusal() != nil {
			return Exact(value.NullOf(value.Boolean))
		}
		for _, ws := range all.nulls {
			if mayEqual(vs, ws) {
				return Exact(value.NullOf(value.Boolean))
			}
		}
		for _, cells := range all.cells {
			if !null || e.spent.refusal() != nil {
				break
			}
			e.spent.work++
			if ws, _ := valuesOf(e, rows, &row{cells: cells}); mayEqual(vs, ws) {
				return Exact(value.NullOf(value.Boolean))
			}
		}
		return Exact(value.OfBool(false))
	}
	return out, nil
}

// index sorts the rows for IN.
func (f *found) index(e *env, columns []*node) {
	f.whole = map[string]bool{}
	for _, cells := range f.cells {
		vs, null := valuesOf(e, columns, &row{cells: cells})
		if null {
			f.nulls = append(f.nulls, vs)
		} else {
			f.whole[textOf(vs)] = true
		}
	}
}

// valuesOf returns the values of expressions, and whether one is NULL.
func valuesOf(e *env, xs []*node, r *row) (out []value.Value, null bool) {
	for _, x := range xs {
		v := x.eval(e, r).Value
		out, null = append(out, v), null || v.Null
	}
	return out, null
}

func textOf(vs []value.Value) (out string) {
	for _, v := range vs {
		out += keyText(v) + "\x00"
	}
	return out
}

// mayEqual reports whether two rows are equal wherever neither is NULL.
func mayEqual(vs, ws []value.Value) bool {
	for i, v := range vs {
		if !v.Null && !ws[i].Null && value.Compare(v, ws[i]) != 0 {
			return false
		}
	}
	return true
}
