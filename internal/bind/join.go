package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
)

// join joins two relations. The number of rows that one unit has in the result is bounded beforehand:
//
//   - A join to a public table equates columns with the public table's. The owner declares rows_per_value, the
//     largest number of public rows with one value, and every statement enforces it. So each row becomes at most
//     that many rows.
//   - Two private tables are joined where the unit is the same. Each row of the first becomes at most as many rows
//     as one unit has in the second. That number is enforced on the second before the join, so the work does not
//     grow with the product of the tables' sizes.
//   - A reference that the policy declares leads to at most one row of the same unit. So each row stays one row, or
//     becomes as many as earlier joins made of the row that it references.
//
// The product bounds the relation's rows. It is enforced after all joins, as for one table.
//
// If the written order of inner joins cannot be joined, another order may be (see tables).
func (f from) join(j *query.Join) (*Relation, error) {
	out, err := f.joinWritten(j)
	if err == nil || j.Kind != query.InnerJoin {
		return out, err
	}
	other, where := f.reordered([]query.Relation{j}, nil)
	if other == nil {
		return nil, err
	}
	if where == nil {
		return other, nil
	}
	e, err := other.Condition(where)
	if err != nil {
		return nil, err
	}
	return other, other.restrict(e, where.Pos())
}

// unmatched refuses joins that are supported over the rows of answers alone.
func unmatched(j *query.Join) error {
	switch {
	case j.Kind == query.FullJoin:
		return Refuse(j.At, "use JOIN, or LEFT JOIN from the table of persons",
			"FULL JOIN is not supported: it would create rows that belong to nobody")
	case j.Cross():
		return Refuse(j.At, "write JOIN … ON a.x = b.x",
			"a join needs a condition: without one, every row would be paired with every other")
	}
	return nil
}

// side binds one side of a join. Of inner joins in inner joins, the outermost alone looks for another order.
func (f from) side(r query.Relation, of *query.Join) (*Relation, error) {
	if j, ok := r.(*query.Join); ok && j.Kind == query.InnerJoin && of.Kind == query.InnerJoin {
		return f.joinWritten(j)
	}
	return f.relation(r)
}

// joinWritten joins two relations in the written order.
func (f from) joinWritten(j *query.Join) (*Relation, error) {
	if j.Kind == query.InnerJoin && query.OneRow(j.L) {
		turned := *j
		turned.L, turned.R = j.R, j.L
		j = &turned
	}
	if constants, ok := constantsIn(j.R); ok {
		l, err := f.side(j.L, j)
		if err != nil {
			return nil, err
		}
		return f.mapped(l, constants, j)
	}
	if constants, ok := constantsIn(j.L); ok && j.Kind == query.InnerJoin {
		l, err := f.side(j.R, j)
		if err != nil {
			return nil, err
		}
		return f.mapped(l, constants, j)
	}
	one, ok := j.R.(*query.Subquery)
	if ok = ok && (query.OneRow(one) || one.Lateral); !ok {
		if err := unmatched(j); err != nil {
			return nil, err
		}
	}
	l, err := f.side(j.L, j)
	if err != nil {
		return nil, err
	}
	if ok {
		return f.oneRow(l, one, j)
	}
	r, err := f.side(j.R, j)
	if err != nil {
		return nil, err
	}
	return beside(l, r, j)
}

// named returns a NATURAL JOIN of columns with these names as a join with USING, and any other join as it is.
func named(j *query.Join, l, r []Name) (*query.Join, error) {
	if !j.Natural {
		return j, nil
	}
	out := *j
	out.Natural = false
	for i, n := range l {
		has := func(names []Name) bool {
			return slices.ContainsFunc(names, func(o Name) bool { return o.name == n.name && !o.merged })
		}
		if n.name != "" && !n.merged && has(r) && !has(l[:i]) {
			out.Using = append(out.Using, n.name)
		}
	}
	if out.Using == nil {
		return nil, Refuse(j.At, "write JOIN … ON a.x = b.x", "NATURAL JOIN needs a column name that both sides have")
	}
	return &out, nil
}

// beside returns the join of two relations.
func beside(l, r *Relation, j *query.Join) (*Relation, error) {
	if both := shared(l.tables(), r.tables()); both != "" {
		return nil, Refuse(j.At, "give one of them an alias", "two tables are called %q here", both)
	}
	j, err := named(j, l.Names, r.Names)
	if err != nil {
		return nil, err
	}
	left, swapped := j.Kind != query.InnerJoin, j.Kind == query.RightJoin
	switch {
	case l.public && r.public:
		return nil, Refuse(
			j.At,
			"join each to the table of persons, one after the other",
			"a join of two public tables alone is not supported",
		)
	case j.Kind == query.LeftJoin && l.public, j.Kind == query.RightJoin && r.public:
		return nil, Refuse(
			j.At,
			"write JOIN, or LEFT JOIN from the table of persons: groups of known keys (values, values_from) are shown even if they are empty; or, with PUBLIC_GROUPS, keep (SELECT DISTINCT x FROM p)",
			"this join would add rows that belong to nobody",
		)
	case l.public:
		swapped = true
	}
	side := joining{l: l, r: r, left: left, at: j.At}
	if swapped {
		side.l, side.r = r, l
	}
	if !r.public && !l.public {
		if err := side.sameUnits(); err != nil {
			return nil, err
		}
	}
	if err := side.conditions(j); err != nil {
		return nil, err
	}
	// put the referencing side first, because each of its rows meets one row of the other side
	if !left && side.units && side.forward == nil && side.backward != nil {
		side.l, side.r, swapped = side.r, side.l, !swapped
		if err := side.conditions(j); err != nil {
			return nil, err
		}
	}
	out, err := side.joined()
	if err != nil {
		return nil, err
	}
	if swapped { // restore the order in which the tables were written, for stars and UNION ALL
		n := len(side.l.Names)
		out.Names = append(slices.Clone(out.Names[n:]), out.Names[:n]...)
	}
	if j.Using != nil {
		merge(out.Names, j.Using, side.l.tables())
	}
	if l.public || j.Kind == query.RightJoin && !r.public {
		out.main = r.main
	}
	return out, nil
}

func shared(a, b []string) string {
	for _, name := range a {
		if slices.Contains(b, name) {
			return name
		}
	}
	return ""
}

// merge marks the columns that USING merged, on the tables that are not in kept. A reference without a table's name
// then means the column of a kept table.
func merge(names []Name, using []string, kept []string) {
	for i := range names {
		if slices.Contains(using, names[i].name) && !slices.Contains(kept, names[i].table) {
			names[i].merged = true
		}
	}
}

// joining is the state of a join of r to l.
type joining struct {
	l, r  *Relation
	left  bool // whether all rows of l stay (an outer join)
	units bool // whether both sides have units
	at    query.Pos

	both     Relation // the names of both sides, over the columns of both
	pairs    []bounded.Pair
	residual *bounded.Expr // the further conditions of an inner join
	onlyR    *bounded.Expr // the conditions of a left join on r alone, over r's columns
	together bool          // whether the condition implies that the unit is the same
	forward  []int         // the columns of r that a declared reference of l leads to
	backward []int         // the columns of l that a declared reference of r leads to
	partners int64         // the largest number of l's rows that meet one row of r
}

func (s *joining) sameUnits() error {
	s.units = true
	switch {
	case s.l.unit.IsRow() || s.r.unit.IsRow():
		return Refuse(
			s.at,
			"the owner can declare a unit column for both",
			"a table in which each row is a unit can be joined to public tables only: no row of another table belongs to the same unit",
		)
	case s.l.unitType != s.r.unitType:
		return Refuse(
			s.at,
			"the owner can declare both unit columns with one type",
			"the units of %q and %q are not the same: one is %s, the other %s",
			s.l.main,
			s.r.main,
			s.l.unitType,
			s.r.unitType,
		)
	}
	return nil
}

// keep restricts a relation that has been materialized (its names are the columns of its source) to the rows in which e
// is true. Columns keep their indices.
func (r *Relation) keep(e *bounded.Expr) {
	out := &bounded.Source{
		Op:      bounded.Select,
		Inputs:  []*bounded.Source{r.Source},
		Where:   e,
		Columns: r.Columns,
		Units:   r.Source.Units,
		Single:  r.Source.Single,
	}
	for i := range r.Columns {
		out.Exprs = append(out.Exprs, r.Source.Column(i))
	}
	names := slices.Clone(r.Names)
	for i := range names {
		names[i].e = out.Column(names[i].e.Column)
	}
	r.Scope = Scope{Names: names, Source: out, Columns: out.Columns, computed: r.computed}
}
