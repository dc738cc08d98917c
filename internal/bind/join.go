package bind

import (
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
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

// side binds one side of a join. Of inner joins in inner joins, the outermost alone looks for another order.
func (f from) side(r query.Relation, of *query.Join) (*Relation, error) {
	if j, ok := r.(*query.Join); ok && j.Kind == query.InnerJoin && of.Kind == query.InnerJoin {
		return f.joinWritten(j)
	}
	return f.relation(r)
}

// joinWritten joins two relations in the written order.
func (f from) joinWritten(j *query.Join) (*Relation, error) {
	l, err := f.side(j.L, j)
	if err != nil {
		return nil, err
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

// conditions sorts the conditions of ON or USING into pairs, further conditions, and conditions on r alone.
func (s *joining) conditions(j *query.Join) error {
	s.l.materialize()
	s.r.materialize()
	s.pairs, s.residual, s.onlyR, s.forward, s.backward, s.together = nil, nil, nil, nil, nil, false
	n := len(s.l.Columns)
	s.both = Relation{
		Scope: Scope{Columns: append(slices.Clone(s.l.Columns), s.r.Columns...), Source: &bounded.Source{Op: bounded.Join}},
	}
	s.both.Source.Columns = s.both.Columns
	s.both.Names = s.beside(s.both.Source)
	conditions, err := s.conjuncts(j)
	if err != nil {
		return err
	}
	for _, x := range conditions {
		e, err := s.both.Condition(x)
		if err != nil {
			return err
		}
		if e.Weight() > bounded.MaxWeight {
			return Refuse(x.Pos(), "simplify it", "this expression is too large when it is expanded")
		}
		if s.pair(e, n) {
			continue
		}
		switch {
		case !s.left:
			s.residual = Conjunction(s.residual, e)
		case reads(e, n, len(s.both.Columns)):
			s.onlyR = Conjunction(s.onlyR, shifted(e, n, s.r.Source))
		default:
			return Refuse(
				x.Pos(),
				"put other conditions on one side into a subquery: LEFT JOIN (SELECT … WHERE …) ON …",
				"the condition of a LEFT JOIN consists of equalities with columns of its right side, and of conditions on its right side alone",
			)
		}
	}
	return nil
}

// beside returns the names of both sides, over a source that has l's columns and then r's.
func (s *joining) beside(both *bounded.Source) []Name {
	out := append(slices.Clone(s.l.Names), s.r.Names...)
	for i := range out {
		at := out[i].e.Column
		if i >= len(s.l.Names) {
			at += len(s.l.Columns)
		}
		out[i].e = both.Column(at)
	}
	return out
}

// conjuncts returns the operands of AND in ON, or the equalities that USING stands for.
func (s *joining) conjuncts(j *query.Join) ([]query.Expr, error) {
	if j.Using == nil {
		return split(j.On), nil
	}
	var out []query.Expr
	for _, name := range j.Using {
		l, err := s.l.Find(&query.Column{At: s.at, Name: name})
		if err != nil {
			return nil, err
		}
		r, err := s.r.Find(&query.Column{At: s.at, Name: name})
		if err != nil {
			return nil, err
		}
		if l.table == "" || r.table == "" {
			return nil, Refuse(s.at, "give it an alias", "USING is for tables and subqueries that have a name")
		}
		of := func(n *Name) query.Expr { return &query.Column{At: s.at, Table: n.table, Name: n.name} }
		out = append(out, &query.Binary{At: s.at, Op: query.Eq, L: of(l), R: of(r)})
	}
	return out, nil
}

func split(x query.Expr) []query.Expr {
	if b, ok := x.(*query.Binary); ok && b.Op == query.And {
		return append(split(b.L), split(b.R)...)
	}
	return []query.Expr{x}
}

// pair records the condition e if it equates an expression over l with a column of r, and reports whether it does.
// The number n is how many columns l has. Real columns are no join keys: −0 equals 0, and an engine that looks up
// values by their bits may miss that.
func (s *joining) pair(e *bounded.Expr, n int) bool {
	if e.Op != bounded.OpEq || e.Args[0].Type == value.Real {
		return false
	}
	for _, args := range [][2]*bounded.Expr{{e.Args[0], e.Args[1]}, {e.Args[1], e.Args[0]}} {
		a, b := args[0], args[1]
		if b.Op != bounded.OpColumn || b.Column < n || !reads(a, 0, n) {
			continue
		}
		s.pairs = append(s.pairs, bounded.Pair{L: shifted(a, 0, s.l.Source), R: b.Column - n})
		if a.Op == bounded.OpColumn {
			s.meet(nameOf(s.both.Names, a.Column), nameOf(s.both.Names, b.Column), b.Column-n, a.Column)
		}
		return true
	}
	return false
}

// meet records what an equality of two columns implies about units (together). A reference that gives no unit may lead to another unit's row,
// as from a visit to its doctor. Such a join would only keep rows of the same unit, so it needs an explicit
// condition.
func (s *joining) meet(l, r Name, inR, inL int) {
	s.together = s.together || together(l, r)
	if refers(l.of, r.of) {
		s.forward = append(s.forward, inR)
	}
	if refers(r.of, l.of) {
		s.backward = append(s.backward, inL)
	}
}

// refers reports whether the policy declares a reference from column a to column b.
func refers(a, b origin) bool {
	if a.table == nil || b.table == nil {
		return false
	}
	to, ok := a.table.References[a.column]
	return ok && to.Table == b.table.Name && to.Column == b.column
}

// reads reports whether e reads a column, and only columns whose index i satisfies from ≤ i < to.
func reads(e *bounded.Expr, from, to int) bool {
	some, all := false, true
	e.Walk(func(x *bounded.Expr) {
		if x.Op == bounded.OpColumn {
			some, all = true, all && x.Column >= from && x.Column < to
		}
	})
	return some && all
}

// shifted returns e, an expression over both sides, as an expression over the columns of one side, whose first
// column had index n.
func shifted(e *bounded.Expr, n int, side *bounded.Source) *bounded.Expr {
	if e.Op == bounded.OpColumn {
		return side.Column(e.Column - n)
	}
	if len(e.Args) == 0 {
		return e
	}
	out := *e
	out.Args = make([]*bounded.Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = shifted(a, n, side)
	}
	return &out
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
	r.Scope = Scope{Names: names, Source: out, Columns: out.Columns}
}

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
	out.Scope = Scope{Names: out.Names, Source: join, Columns: join.Columns}
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

// unitHint returns the missing condition, that the units are the same, as a hint.
func (s *joining) unitHint() string {
	unit := func(r *Relation) string {
		for _, n := range r.Names {
			if n.unit && !isHidden(n.table) {
				return query.QuoteName(n.table) + "." + query.QuoteName(n.name)
			}
		}
		return ""
	}
	if l, r := unit(s.l), unit(s.r); l != "" && r != "" {
		return "add " + l + " = " + r
	}
	return "select the unit's column of both sides and compare the two; or the owner can declare that one table has its unit through the other"
}
