package cost

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// meter computes the cost of statements under a policy.
type meter struct {
	policy *policy.Policy
	all    bool // the rows are those of all units together
}

// metered is the cost of one unit up to one place of a statement, with a description of the unit's rows at this
// place.
type metered struct {
	rows    int64 // the number of rows of one unit here
	most    int64 // the largest number of rows of one unit here or at any place below
	steps   int64 // the steps at all places up to this one
	public  bool  // the rows are public, so they cost no unit anything
	unit    int64 // the largest number of bytes of a unit's name if it is a text; otherwise 0
	columns []cell
}

// spend adds the cost of n rows, at steps for each.
func (r *metered) spend(n, steps int64) { r.steps = sum(r.steps, multiplied(n, steps)) }

// filter adds the cost of a condition on e. An engine may apply a condition further down in the statement. So the
// cost counts the largest number of rows at any place below. It also counts the steps of computing each column from
// the tables again, each time that e names the column.
func (r *metered) filter(e *bounded.Expr) {
	if e == nil || r.public {
		return
	}
	steps, _ := eval(e, r.columns, true)
	r.spend(max(r.most, r.rows), steps)
}

// width returns the number of bytes of a row.
func (r *metered) width() (out int64) {
	for _, c := range r.columns {
		out = sum(out, c.width)
	}
	return out
}

// handedOn returns the steps of passing one row from a stage to the next.
func (r *metered) handedOn() int64 {
	return sum(stepsRow+stepsColumn*int64(len(r.columns)), copied(r.width()))
}

// bounded returns the cost of one statement.
func (m meter) bounded(b *bounded.Statement) Cost {
	var r metered
	if b.Source != nil {
		r = m.source(b.Source)
	} else {
		r = m.table(b.Table, b.Columns, m.stored(b.Table))
		if b.Part != nil { // a further pass finds the unit's own parts
			r.spend(2*r.rows, sum(r.handedOn(), sorted(r.rows, 0)))
		}
	}
	row, width := int64(stepsRow), int64(0) // row: steps for each row; width: bytes by which each row is sorted
	of := func(e *bounded.Expr, more int64) {
		steps, w := eval(e, r.columns, false)
		row = sum(row, steps, more, copied(w))
		width = sum(width, w)
	}
	r.filter(b.Where)
	for _, k := range b.Keys {
		of(k.Expr, stepsGroup)
		if !k.NullGroup() {
			r.filter(k.Expr) // for the test IS NOT NULL
		}
	}
	for _, x := range b.Measures {
		row = sum(row, 2*stepsRounding) // rounding to the grid, and clamping
		if x.X != nil {
			of(x.X, 0)
			if b.RowVectors != nil {
				r.filter(x.X)
			}
		}
		if x.Distinct() {
			_, w := eval(x.X, r.columns, false)
			row = sum(row, sorted(r.rows, w))
		}
	}
	if b.Other {
		row = sum(row, stepsDigest)
	}
	if v := b.RowVectors; v != nil {
		row = sum(row, stepsTerm*int64(len(v.AllTerms())))
		row = sum(row, multiplied(stepsTerm*int64(len(v.Centres)), int64(len(b.Measures))))
	}
	if b.Source != nil || b.Unranked {
		row = sum(row, digested(r.rows, sum(width, r.unit)))
	} else {
		row = sum(row, sorted(r.rows, r.unit))
	}
	r.spend(r.rows, row)
	switch {
	case b.Ordered:
		r.steps = multiplied(r.steps, orderPasses)
	case b.Open() && b.Other: // one statement finds the groups, and another reads all rows again for the chosen ones
		r.steps = multiplied(r.steps, 2)
	}
	return Cost{Steps: r.steps, Rows: max(r.most, r.rows)}
}

// orderPasses is the number of passes of a mechanism over ordered rows: two for the values (quantile.Single,
// quantile.Joint), and one for half-widths (quantile.Cells, for as many as an answer may have).
const orderPasses = 3

// stored returns the largest number of rows of one unit in the sealed version of a table.
func (m meter) stored(name string) int64 {
	if t := m.policy.Table(name); t != nil {
		return max(t.Stored(), 1)
	}
	return 1
}

// table returns the cost of reading and cleaning a table in which one unit has this many rows.
func (m meter) table(name string, columns []bounded.Column, rows int64) metered {
	t := m.policy.Table(name)
	out := metered{rows: rows, most: rows, public: t != nil && t.Public}
	if t != nil && !t.Public {
		if unit := t.Column(t.Unit.Column); unit != nil && unit.Type == value.Text {
			out.unit = value.MaxTextBytes
		}
	}
	read := int64(stepsRow)
	for _, c := range columns {
		one := cleaned(c)
		out.columns = append(out.columns, one)
		read = sum(read, one.again, stepsColumn)
		if c.Type == value.Text {
			read = sum(read, multiplied(value.MaxTextBytes, stepsRead))
			if len(c.Values) > fewListed { // each text is looked up among the declared values
				read = sum(read, opened(value.MaxTextBytes), 3*copied(value.MaxTextBytes))
			}
		}
	}
	if !out.public {
		out.spend(rows, read)
	}
	return out
}

// cleaned returns the description of a table's column. Its texts are as long as the longest declared value, or as
// sealing allows.
func cleaned(c bounded.Column) cell {
	out := cell{width: plainWidth, again: 2 * stepsPlain}
	if c.Type == value.Text {
		out.width = value.MaxTextBytes
		if c.Values != nil {
			out.width = 0
		}
	}
	out.again = sum(out.again, listedSteps(len(c.Values)))
	for _, v := range c.Values {
		if c.Type == value.Text {
			out.width = max(out.width, int64(len(v.Text)))
			out.again = sum(out.again, copied(int64(len(v.Text))))
		}
	}
	return out
}

// source returns the cost of a Source.
func (m meter) source(s *bounded.Source) metered {
	switch s.Op {
	case bounded.Scan:
		return m.table(s.Table, s.Columns, m.stored(s.Table))
	case bounded.Owned:
		return m.owned(s)
	case bounded.Select:
		return m.selected(s)
	case bounded.Join:
		return m.joined(s)
	case bounded.Union:
		return m.union(s)
	case bounded.PerUnit:
		return m.perUnit(s)
	case bounded.Window:
		return m.windowed(s)
	}
	panic("cost: unknown source " + string(s.Op))
}

// owned returns the cost of an Owned. A unit's rows are those that its rows in another table refer to, at most as
// many as are stored.
func (m meter) owned(s *bounded.Source) metered {
	parent := m.source(s.Inputs[1])
	child := m.source(s.Inputs[0])
	out := metered{rows: child.rows, unit: parent.unit, columns: child.columns}
	if m.all { // a row that several units refer to is a row of each
		out.rows = max(child.rows, parent.rows)
	}
	out.most = max(out.rows, child.most, parent.most)
	out.steps = sum(parent.steps, child.steps)
	out.spend(parent.rows, sum(stepsGroup+stepsRow, met(out.unit)))
	out.spend(out.rows, sum(out.handedOn(), digested(out.rows, sum(out.width(), out.unit))))
	return out
}

func (m meter) selected(s *bounded.Source) metered {
	in := m.source(s.Inputs[0])
	in.filter(s.Where)
	out := metered{rows: in.rows, most: in.most, steps: in.steps, public: in.public, unit: in.unit}
	row := int64(0)
	for i, e := range s.Exprs {
		steps, width := eval(e, in.columns, false)
		again, _ := eval(e, in.columns, true)
		row = sum(row, steps)
		out.columns = append(out.columns, narrowed(cell{width, again}, s.Columns[i]))
	}
	if !out.public {
		out.spend(out.rows, sum(row, out.handedOn()))
	}
	return out
}

// narrowed returns c with the width of the column's known values, if it has any.
func narrowed(c cell, column bounded.Column) cell {
	if column.Type != value.Text || column.Values == nil {
		return c
	}
	longest := int64(0)
	for _, v := range column.Values {
		longest = max(longest, int64(len(v.Text)))
	}
	c.width = min(c.width, longest)
	return c
}

// joined returns the cost of a Join. At most Most rows of the second input join each row of the first. They are
// chosen among all rows of the unit in the second input, which cost too.
func (m meter) joined(s *bounded.Source) metered {
	l, r := m.source(s.Inputs[0]), m.source(s.Inputs[1])
	most := max(s.Most, 1)
	if !r.public {
		most = max(min(most, r.rows), 1)
	}
	out := metered{
		rows:    multiplied(l.rows, most),
		steps:   l.steps,
		unit:    l.unit,
		columns: append(slices.Clone(l.columns), r.columns...),
	}
	out.most = max(out.rows, l.most)
	pairs := int64(stepsGroup)
	if !r.public {
		out.steps, out.most = sum(out.steps, r.steps), max(out.most, r.most)
		out.spend(r.rows, sum(r.handedOn(), digested(r.rows, sum(r.width(), r.unit))))
		pairs = sum(pairs, met(r.unit))
	}
	for _, p := range s.Pairs {
		steps, width := eval(p.L, l.columns, true)
		pairs = sum(pairs, steps, copied(width), stepsPlain)
	}
	out.spend(l.rows, pairs)
	out.spend(out.rows, sum(pairs, out.handedOn()))
	return out
}

func (m meter) union(s *bounded.Source) metered {
	var out metered
	for i, in := range s.Inputs {
		r := m.source(in)
		if i == 0 {
			out = metered{columns: slices.Clone(r.columns), public: r.public, unit: r.unit}
		}
		for j, c := range r.columns {
			out.columns[j] = cell{max(out.columns[j].width, c.width), max(out.columns[j].again, c.again)}
		}
		out.rows, out.steps, out.most = sum(out.rows, r.rows), sum(out.steps, r.steps), max(out.most, r.most)
	}
	out.most = max(out.most, out.rows)
	if !out.public {
		out.spend(out.rows, out.handedOn())
	}
	return out
}

// perUnit returns the cost of a PerUnit. A unit has at most one row for each combination of the keys' values, and
// no more than it has rows in the input.
func (m meter) perUnit(s *bounded.Source) metered {
	in := m.source(s.Inputs[0])
	out := metered{rows: in.rows, most: in.most, steps: in.steps, unit: in.unit}
	row, groups, unknown := sum(stepsRow, met(in.unit)), int64(1), 0
	for i, e := range s.Exprs {
		steps, width := eval(e, in.columns, false)
		// again is the cost in a condition on the key, which an engine may apply to rows before it groups them
		again, _ := eval(e, in.columns, true)
		row = sum(row, steps, stepsGroup, copied(width))
		out.columns = append(out.columns, narrowed(cell{width, again}, s.Columns[i]))
		if values, ok := s.Columns[i].Known(); ok {
			groups = multiplied(groups, int64(len(values))+1) // the values, and NULL
		} else {
			unknown++
		}
	}
	for _, a := range s.Aggregates {
		steps, width := int64(stepsRounding), int64(plainWidth)
		if a.X != nil {
			x, w := eval(a.X, in.columns, false)
			steps = sum(steps, x, copied(w))
			if a.Func == bounded.InnerDistinct {
				steps = sum(steps, sorted(in.rows, w))
			}
			if a.Ordered() { // numbered in order, and counted beside
				steps = sum(steps, sorted(in.rows, w), in.handedOn(), in.handedOn())
			}
			if a.Func == bounded.InnerMin || a.Func == bounded.InnerMax || a.Func == bounded.InnerPlaced {
				width = w
				if a.X.Type == value.Text { // each text is compared with the least or greatest so far
					steps = sum(steps, 2*opened(w))
				}
			}
		}
		row = sum(row, steps)
		out.columns = append(out.columns, cell{width: width})
	}
	out.spend(in.rows, row)
	if s.Loose {
		unknown++
	}
	if unknown <= 1 && !m.all { // the one key without known values is the unit, which is the same in all these rows
		out.rows = min(in.rows, groups)
	}
	out.spend(out.rows, out.handedOn())
	return out
}

// windowed returns the cost of a Window, which sorts the rows of each unit by their digests and contents, once for each
// of its columns at most.
func (m meter) windowed(s *bounded.Source) metered {
	out := m.source(s.Inputs[0])
	row := digested(out.rows, sum(out.width(), out.unit))
	columns := slices.Clone(out.columns)
	for _, w := range s.Windows {
		one := cell{width: plainWidth, again: stepsPlain}
		if w.Reads() {
			one = out.columns[w.Column]
		}
		columns = append(columns, one)
	}
	out.columns = columns
	out.spend(out.rows, sum(multiplied(int64(len(s.Windows)), row), out.handedOn()))
	return out
}
