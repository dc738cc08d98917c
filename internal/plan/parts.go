package plan

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// confine sets the parts to which WHERE confines the question. A part is a subset of the units. The owner may declare
// parts by the values of a column.
func (b *keying) confine() error {
	declared := b.Table.Part
	if declared == nil || b.where == nil {
		return nil
	}
	column := b.Table.Column(declared.Column)
	at := slices.IndexFunc(b.Columns, func(c bounded.Column) bool { return c.Column == column })
	if at < 0 {
		return nil // WHERE does not read the column
	}
	known, ok := b.Columns[at].Known()
	if !ok {
		return nil
	}
	left, null := partsOf(b.where, at, known)
	var values []value.Value
	for i, v := range known {
		if left[i] {
			values = append(values, v)
		}
	}
	// The question is not confined if rows without a part count, if rows of all parts count, or if no rows count.
	if null || len(values) == len(known) || len(values) == 0 {
		return nil
	}
	b.part = &bounded.Part{Column: at, PerUnit: declared.PerUnit, Values: values}
	return nil
}

// partsOf marks each known value of a column for which the condition e may be true. The boolean reports whether e
// may be true if the column is NULL. It never marks too few values. It evaluates tests of the column itself, and
// assumes that any other condition may be true.
func partsOf(e *bounded.Expr, column int, known []value.Value) (left []bool, null bool) {
	left = make([]bool, len(known))
	all := func(is bool) ([]bool, bool) {
		for i := range left {
			left[i] = is
		}
		return left, is
	}
	switch e.Op {
	case bounded.OpAnd:
		_, null = all(true)
		for _, a := range e.Args {
			of, n := partsOf(a, column, known)
			for i := range left {
				left[i] = left[i] && of[i]
			}
			null = null && n
		}
		return left, null
	case bounded.OpOr:
		for _, a := range e.Args {
			of, n := partsOf(a, column, known)
			for i := range left {
				left[i] = left[i] || of[i]
			}
			null = null || n
		}
		return left, null
	case bounded.OpIs:
		return partsOf(e.Args[0], column, known)
	case bounded.OpConst:
		return all(!e.Const.Null && e.Const.Bool)
	}
	negative := e.Op == bounded.OpNot
	test := e
	if negative {
		test = e.Args[0]
	}
	holds := decided(test, column)
	if holds == nil {
		return all(true)
	}
	for i, v := range known {
		left[i] = holds(v) != negative
	}
	return left, false // a comparison with NULL, or its negation, is never true
}

// decided returns the function that a test of the column alone computes: of a Boolean column, or a comparison of
// the column with constants of its type. It returns nil for any other expression.
func decided(e *bounded.Expr, column int) func(value.Value) bool {
	is := func(x *bounded.Expr) bool { return x.Op == bounded.OpColumn && x.Column == column }
	constant := func(x *bounded.Expr) bool {
		return x.Op == bounded.OpConst && !x.Const.Null && x.Const.Type != value.Real
	}
	switch {
	case is(e) && e.Type == value.Boolean:
		return func(v value.Value) bool { return v.Bool }
	case e.Op == bounded.OpIn && is(e.Args[0]) && !slices.ContainsFunc(e.Args[1:], func(x *bounded.Expr) bool { return !constant(x) }):
		listed := make([]value.Value, len(e.Args)-1)
		for i, x := range e.Args[1:] {
			listed[i] = x.Const
		}
		slices.SortFunc(listed, value.Compare)
		return func(v value.Value) bool {
			_, found := slices.BinarySearchFunc(listed, v, value.Compare)
			return found
		}
	case len(e.Args) != 2:
		return nil
	case is(e.Args[0]) && constant(e.Args[1]):
		return comparison(e.Op, e.Args[1].Const, 1)
	case constant(e.Args[0]) && is(e.Args[1]):
		return comparison(e.Op, e.Args[0].Const, -1)
	}
	return nil
}

// comparison returns the function v op c, or c op v if sign is −1.
func comparison(op bounded.Op, c value.Value, sign int) func(value.Value) bool {
	switch op {
	case bounded.OpEq, bounded.OpNe, bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe:
		return func(v value.Value) bool { return bounded.Holds(op, sign*value.Compare(v, c)) }
	}
	return nil
}
