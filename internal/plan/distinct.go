package plan

import (
	"slices"

	"dither/internal/query"
)

// countsUnits reports COUNT(DISTINCT unit), which counts units.
func (b *builder) countsUnits(x *query.Call) bool {
	if x.Name != "count" || !x.Distinct || len(x.Args) != 1 || b.table.Unit.IsRow() {
		return false
	}
	c, ok := x.Args[0].(*query.Column)
	return ok && b.isUnit(c)
}

// countDistinct counts the units, where the unit's own column is counted, and else the distinct values of an expression.
//
// A value may be shared by many units, so a distinct count is no sum of units' contributions; it moves as if it were. Proof. A
// unit is bounded by rows (caps), so that it has a set P of at most Rows pairs of a cell and a value, of its first rows, by its own
// rows alone. The count of a cell is the number of pairs of that cell in the union of all units' sets. Let c be the cells'
// numbers of P's pairs that are in no other unit's set: 0 ≤ c, ‖c‖₁ ≤ |P| ≤ Rows. Add/remove: the counts differ by c. Change-one:
// with c and c′ of the two sets, both over the same union of the others, they differ by c − c′. These are the bounds from
// which bound's proof goes on, with one sign and M = 1. ∎
func (b *builder) countDistinct(x *query.Call) (Aggregate, error) {
	if b.countsUnits(x) {
		if c, ok := x.Args[0].(*query.Column); ok {
			if _, err := b.column(c); err != nil {
				return Aggregate{}, err
			}
		}
		return Aggregate{Func: CountFunc, Count: countMeasure(CountUnits, nil)}, nil
	}
	if x.Name != "count" {
		return Aggregate{}, refuse(x.At, "leave DISTINCT out, or ask for COUNT(DISTINCT x)", "DISTINCT goes with COUNT alone: one person can change which values there are, and so any sum of them")
	}
	e, err := b.row(x.Args[0])
	if err != nil {
		return Aggregate{}, err
	}
	if e.isUntypedNull() {
		return Aggregate{}, refuse(x.At, "", "an aggregate of NULL says nothing")
	}
	return Aggregate{Func: CountFunc, Count: countMeasure(CountDistinct, e)}, nil
}

// distinct reports an aggregate that counts distinct values.
func (a Aggregate) distinct() bool {
	return slices.ContainsFunc(a.Measures(), func(m *Measure) bool { return m.Kind == CountDistinct })
}
