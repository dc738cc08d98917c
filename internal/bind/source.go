package bind

import (
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
)

// output returns a column that holds the value of e. Its weight is the weight of e, because an engine may replace
// the column by its expression. So no expression over columns is larger than its weight says.
func (l *Scope) output(name string, e *bounded.Expr) bounded.Column {
	c := &policy.Column{Name: name, Type: e.Type, Nullable: l.NullGroup(e)}
	if values, ok := l.Known(e); ok && e.Type != 0 {
		if all, ok := knownByType(e); !ok || len(values) < len(all) {
			c.Values = values
		}
	}
	if len(c.Values) == 0 {
		c.Values = nil
	}
	return bounded.Column{Column: c, Range: e.Range, Weight: e.Weight()}
}

// Conjunction returns a AND b. Either may be nil, which means TRUE.
func Conjunction(a, b *bounded.Expr) *bounded.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return Logical(bounded.OpAnd, a, b)
}

// times returns the bounds on a unit's rows after each of the rows becomes at most n rows, as in a join. It refuses
// bounds that are too large.
func times(u policy.Unit, n int64, at query.Pos) (policy.Unit, error) {
	u.RowsPerUnit, u.MaxGroups, u.RowsPerGroup = u.RowsPerUnit*n, u.MaxGroups*n, u.RowsPerGroup*n
	return u, fits(u, at)
}

// plus returns the bounds on a unit's rows if the unit has the rows of u and the rows of v, as in a union. It refuses
// bounds that are too large.
func plus(u, v policy.Unit, at query.Pos) (policy.Unit, error) {
	u.RowsPerUnit += v.RowsPerUnit
	u.MaxGroups += v.MaxGroups
	u.RowsPerGroup += v.RowsPerGroup
	return u, fits(u, at)
}

func fits(u policy.Unit, at query.Pos) error {
	if u.RowsPerUnit > policy.MaxRowsPerUnit {
		return Refuse(
			at,
			"the owner can declare fewer rows_per_unit; or count each person's rows in a subquery first, GROUP BY the person",
			"one unit could have %d rows here, more than %d",
			u.RowsPerUnit,
			policy.MaxRowsPerUnit,
		)
	}
	return nil
}
