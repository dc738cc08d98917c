package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// unionAll returns the UNION ALL of two relations. The bounds on the rows of one unit add up.
func unionAll(a, b *Relation, at query.Pos) (*Relation, error) {
	switch {
	case a.public != b.public:
		return nil, Refuse(at, "", "rows of persons and public rows don't mix in UNION ALL")
	case a.unit.IsRow() != b.unit.IsRow() || a.unitType != b.unitType:
		return nil, Refuse(
			at,
			"the owner can declare both unit columns with one type",
			"the units of %q and %q are not the same",
			a.main,
			b.main,
		)
	case len(a.Names) != len(b.Names):
		return nil, Refuse(
			at,
			"select the same columns in each",
			"the SELECTs of UNION ALL have %d and %d columns",
			len(a.Names),
			len(b.Names),
		)
	}
	out := &Relation{Scope: Scope{computed: a.computed}, unit: a.unit, unitType: a.unitType, public: a.public, main: a.main}
	var err error
	if !a.public {
		if out.unit, err = plus(a.unit, b.unit, at); err != nil {
			return nil, err
		}
	}
	for i := range a.Names {
		// unfilled must be called here, because the union's names have no origin
		for _, n := range []Name{a.Names[i], b.Names[i]} {
			if err := n.unfilled(at); err != nil {
				return nil, err
			}
		}
		both := []*bounded.Expr{a.Names[i].e, b.Names[i].e}
		if _, err := unify(both, at); err != nil {
			return nil, err
		}
		a.Names[i].e, b.Names[i].e = both[0], both[1]
		n := Name{
			name: a.Names[i].name, unit: a.Names[i].unit && b.Names[i].unit,
			whole: max(a.Names[i].whole, b.Names[i].whole),
		}
		out.Names = append(out.Names, n)
	}
	s := &bounded.Source{Op: bounded.Union, Inputs: []*bounded.Source{a.project(), b.project()}, Units: a.Source.Units}
	for i, c := range a.Columns {
		s.Columns = append(s.Columns, hull(c, b.Columns[i]))
	}
	out.over(s)
	return out, nil
}

// hull returns a column whose range contains the values of both columns, for their UNION ALL.
func hull(a, b bounded.Column) bounded.Column {
	c := *a.Column
	c.Lower, c.Upper, c.ValuesFrom = nil, nil, nil
	c.Nullable = a.Nullable || b.Nullable
	out := bounded.Column{Column: &c, Range: bounded.Range{
		IntLo: min(a.Range.IntLo, b.Range.IntLo), IntHi: max(a.Range.IntHi, b.Range.IntHi),
		Lo: min(a.Range.Lo, b.Range.Lo), Hi: max(a.Range.Hi, b.Range.Hi), Tiny: min(a.Range.Tiny, b.Range.Tiny),
	}, Weight: a.Weight + b.Weight}
	c.Values = nil
	if a.Values != nil && b.Values != nil {
		c.Values = append(slices.Clone(a.Values), b.Values...)
		slices.SortFunc(c.Values, value.Compare)
		c.Values = slices.Compact(c.Values)
	}
	return out
}
