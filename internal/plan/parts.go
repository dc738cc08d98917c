package plan

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/value"
)

// Part confines a question to some parts of its table, for parallel composition: charges are then to these parts alone.
//
// Its meaning: before anything else, of each unit only the rows in its own parts remain. The part of a row is the cleaned value of
// Column; a row in which it is NULL is in none. A unit's own parts are the first PerUnit parts in the order of their rows' least
// sealed rank: over all rows of the unit, before WHERE, so that they are the same in every question over this sealed version. Where
// each row is a unit, or no unit has more than one row, nothing is dropped.
//
// Proof that a unit moves the answer only if one of its own parts is named. WHERE is true only in rows whose part is one of Values
// (see confined). After the dropping, a row of the unit is in one of its own parts; if none of these is among Values, no row of it is
// left, and it contributes 0 to every cell, and no value to an order. What is dropped of other units does not depend on it.
// Within the parts named, the bounds of one unit's contribution (Measure.bound, Target.boundScore) hold as ever: they hold for any
// rows. ∎
//
// A question that is confined to nothing drops nothing: it is charged to everybody, whose own parts play no role then. So of a unit
// that has rows in more than PerUnit parts, the counts of the parts add up to less than the count of all.
type Part struct {
	Column  int // in Bounded.Columns
	PerUnit int64
	Values  []value.Value // the parts that are charged: those that WHERE leaves, sorted; not all there are
}

// Names are the charged parts as the ledger has them: sorted as texts.
func (p *Part) Names() []string {
	out := make([]string, len(p.Values))
	for i, v := range p.Values {
		out[i] = v.String()
	}
	slices.Sort(out)
	return out
}

func (p *Part) String() string { return fmt.Sprintf("part %d of %q", p.PerUnit, p.Names()) }

// confine finds the parts that a question is confined to, once its WHERE is known.
func (b *builder) confine() error {
	declared := b.table.Part
	if declared == nil || b.plan.Where == nil {
		return nil
	}
	column := b.table.Column(declared.Column)
	at := slices.IndexFunc(b.columns, func(c Column) bool { return c.Column == column })
	if at < 0 {
		return nil // WHERE does not read it
	}
	known, ok := b.columns[at].Known()
	if !ok {
		return nil
	}
	left, null := partsOf(b.plan.Where, at, known)
	var values []value.Value
	for i, v := range known {
		if left[i] {
			values = append(values, v)
		}
	}
	if null || len(values) == len(known) || len(values) == 0 { // rows in no part count too, or in every; or none do
		return nil
	}
	b.plan.Part = &Part{Column: at, PerUnit: declared.PerUnit, Values: values}
	return nil
}

// partsOf marks every known value of a column in whose rows e may be true, and says whether e may be true where the column is NULL:
// never too few. Constants and the column itself are looked at; of anything else, e may be true.
func partsOf(e *Expr, column int, known []value.Value) (left []bool, null bool) {
	left = make([]bool, len(known))
	all := func(is bool) ([]bool, bool) {
		for i := range left {
			left[i] = is
		}
		return left, is
	}
	switch e.Op {
	case OpAnd:
		_, null = all(true)
		for _, a := range e.Args {
			of, n := partsOf(a, column, known)
			for i := range left {
				left[i] = left[i] && of[i]
			}
			null = null && n
		}
		return left, null
	case OpOr:
		for _, a := range e.Args {
			of, n := partsOf(a, column, known)
			for i := range left {
				left[i] = left[i] || of[i]
			}
			null = null || n
		}
		return left, null
	case OpIs:
		return partsOf(e.Args[0], column, known)
	case OpConst:
		return all(!e.Const.Null && e.Const.Bool)
	}
	negative := e.Op == OpNot
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

// decided is a test of the column alone: the column itself, or its comparison with constants of its type. It is nil for others.
func decided(e *Expr, column int) func(value.Value) bool {
	is := func(x *Expr) bool { return x.Op == OpColumn && x.Column == column }
	constant := func(x *Expr) bool { return x.Op == OpConst && !x.Const.Null && x.Const.Type != value.Real }
	switch {
	case is(e) && e.Type == value.Boolean:
		return func(v value.Value) bool { return v.Bool }
	case e.Op == OpIn && is(e.Args[0]) && !slices.ContainsFunc(e.Args[1:], func(x *Expr) bool { return !constant(x) }):
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

// comparison is v op c, or where sign is −1 c op v.
func comparison(op Op, c value.Value, sign int) func(value.Value) bool {
	switch op {
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		return func(v value.Value) bool { return ordered(op, sign*value.Compare(v, c)) }
	}
	return nil
}

// describePart writes what a release depends on where its question is confined: which rows are dropped.
func describePart(b *Bounded, w *strings.Builder) {
	if b.Part != nil {
		fmt.Fprintf(w, "%s by %q\n", b.Part, b.Columns[b.Part.Column].Name)
	}
}

// Confinement is the table and the parts that a charge is to, or "" and none.
func (b *Bounded) Confinement() (table string, parts []string) {
	if b.Part == nil {
		return "", nil
	}
	return b.Table, b.Part.Names()
}
