package bind

import (
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
)

// joined returns the relation of the join.
func (s *joining) joined() (*Relation, error) {
	if s.onlyR != nil {
		s.r.keep(s.onlyR)
	}
	join := &bounded.Source{
		Op:     bounded.Join,
		Inputs: []*bounded.Source{s.l.Source, s.r.Source},
		Units:  s.l.Source.Units,
		Left:   s.left,
		Pairs:  s.pairs,
	}
	unit, err := s.bound(join)
	if err != nil {
		return nil, err
	}
	join.Single = s.l.Source.Single && join.Most == 1
	join.Columns = slices.Clone(s.l.Columns)
	for _, c := range s.r.Columns {
		if s.left {
			nullable := *c.Column
			nullable.Nullable = true
			c.Column = &nullable
		}
		join.Columns = append(join.Columns, c)
	}
	out := &Relation{unit: unit, unitType: s.l.unitType, main: s.l.main}
	out.Names = s.beside(join)
	for i := range out.Names {
		n := &out.Names[i]
		n.most = 0
		if i < len(s.l.Names) {
			n.copies = min(n.copies*join.Most, unit.RowsPerUnit)
		} else {
			n.copies = min(n.copies*s.partners, unit.RowsPerUnit)
		}
		n.unit = n.unit && (i < len(s.l.Names) || !s.left && s.units)
	}
	out.Scope = Scope{Names: out.Names, Source: join, Columns: join.Columns, computed: s.l.computed}
	if s.residual != nil { // columns keep their indices, so the condition over both sides is a condition over the join
		err = out.restrict(s.residual, s.at)
	}
	return out, err
}

// copies returns the largest number of rows that one row can be in, if a reference leads to it by these columns.
func copies(names []Name, columns []int) int64 {
	least := int64(policy.MaxRowsPerUnit)
	for _, c := range columns {
		least = min(least, nameOf(names, c).copies)
	}
	return max(least, 1)
}

// bound sets how many rows of r a row of l may join, and returns the bounds on the rows of one unit in the join.
func (s *joining) bound(join *bounded.Source) (policy.Unit, error) {
	s.partners = max(s.l.unit.RowsPerUnit, 1)
	switch {
	case !s.units:
		most, hint := int64(0), ""
		for _, p := range s.pairs {
			join.Within = append(join.Within, p.R)
			n := nameOf(s.r.Names, p.R)
			if n.most > 0 && (most == 0 || n.most < most) {
				most = n.most
			}
			if n.of.table != nil && hint == "" {
				hint = fmt.Sprintf(
					"the owner can declare, for table %s, rows_per_value: {%s: 1}, if each value occurs once",
					n.of.table.Name,
					n.of.column,
				)
			}
		}
		if len(s.pairs) == 0 {
			return policy.Unit{}, Refuse(
				s.at,
				"write ON t.x = p.x, where x is a column of the public table",
				"a join to a public table needs an equality with one of its columns that is not a real number",
			)
		}
		if most == 0 {
			return policy.Unit{}, Refuse(s.at, hint, "the policy does not limit how many public rows one row could match")
		}
		join.Most = most
		return times(s.l.unit, most, s.at)
	case !s.together:
		return policy.Unit{}, Refuse(
			s.at,
			s.unitHint(),
			"a join of two tables of persons must match rows of the same person, and this condition does not",
		)
	case s.forward != nil:
		join.Within, join.Most = s.forward, copies(s.r.Names, s.forward)
		return times(s.l.unit, join.Most, s.at)
	// In a left join to the referencing side, each row of l appears at least once. Each row of r appears once for
	// each copy of the row that it references.
	case s.backward != nil:
		join.Most, s.partners = s.r.unit.RowsPerUnit, copies(s.l.Names, s.backward)
		met, err := times(s.r.unit, s.partners, s.at)
		if err != nil {
			return policy.Unit{}, err
		}
		return plus(s.l.unit, met, s.at)
	}
	join.Most = s.r.unit.RowsPerUnit
	return times(s.l.unit, join.Most, s.at)
}

// unitEquality returns the condition that the units are the same, or "" if a side does not name its unit.
func (s *joining) unitEquality() string {
	unit := func(r *Relation) string {
		for _, n := range r.Names {
			if n.unit && !isHidden(n.table) {
				return query.QuoteName(n.table) + "." + query.QuoteName(n.name)
			}
		}
		return ""
	}
	if l, r := unit(s.l), unit(s.r); l != "" && r != "" {
		return l + " = " + r
	}
	return ""
}

// unitHint returns the missing condition, that the units are the same, as a hint.
func (s *joining) unitHint() string {
	if units := s.unitEquality(); units != "" {
		return "add " + units
	}
	return "select the unit's column of both sides and compare the two; or the owner can declare that one table has its unit through the other"
}
