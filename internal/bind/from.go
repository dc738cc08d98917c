package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// Relation is what a question, or a subquery, selects from, as it is put together: names that stand for expressions over the
// columns of one table or of a source, with a condition that is still to be applied. Subqueries that only select and rename thus
// leave no trace: the question is the one that could have been written without them, and replays it.
type Relation struct {
	Scope
	unit     policy.Unit // whose rows these are, and how many of one there may be
	unitType value.Type  // of the unit's column; 0 where rows are units
	public   bool
	main     string        // the first table of persons, or of public rows
	Where    *bounded.Expr // nil for all rows
	Keyed    *PublicJoin
}

// Name is a name in a relation, and what is known of it.
type Name struct {
	table, name string
	e           *bounded.Expr
	unit        bool   // it is the unit's column
	merged      bool   // by USING: only with its table's name it is meant
	of          origin // the table's column that it is, unchanged, if it is one
	most        int64  // of public rows: so many at most have one value of it; 0 if nobody says
	Group       bool   // it is the public column that says which groups there are
	copies      int64  // so many rows at most of one unit stem from one row of the table of which it is a column
}

// origin is a column of a table.
type origin struct {
	table  *policy.Table
	column string
}

// from puts relations together.
type from struct{ policy *policy.Policy }

// RelationOf is what a question selects from.
func RelationOf(p *policy.Policy, tree *query.Select) (*Relation, error) {
	if tree.From.Relation == nil {
		table, err := tableOf(p, tree)
		if err != nil {
			return nil, err
		}
		if table.Unit.Through == "" {
			return &Relation{
				Scope: Scope{Table: table, alias: aliasOf(tree), Resolved: map[*policy.Column]bool{}},
				unit:  table.Unit,
			}, nil
		}
	}
	r, err := from{p}.publicJoin(tree)
	if r == nil && err == nil {
		r, tree.Where, err = from{p}.selects(tree)
	}
	if err != nil {
		return nil, err
	}
	if r.public {
		return nil, Refuse(
			tree.From.At,
			"join it to a table of persons, or read its source directly",
			"this holds public rows alone, and nothing to protect",
		)
	}
	if r.Source != nil { // what asks for a table's unit, finds the relation's
		r.Table = &policy.Table{Name: r.main, Unit: r.unit, MinUnits: leastUnits(p, r.Source)}
	}
	return r, nil
}

// leastUnits is the strictest of what the tables that a source reads ask of a group.
func leastUnits(p *policy.Policy, s *bounded.Source) (least int64) {
	s.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan {
			least = max(least, p.Table(s.Table).MinUnits)
		}
	})
	return least
}

// selects is what a SELECT reads, and the conditions of its WHERE that are still to be applied.
func (f from) selects(s *query.Select) (*Relation, query.Expr, error) {
	if list, ok := s.From.Relation.(*query.List); ok {
		return f.list(list, s.Where)
	}
	r, err := f.relation(relationIn(s.From))
	return r, s.Where, err
}

func relationIn(f query.From) query.Relation {
	if f.Relation != nil {
		return f.Relation
	}
	return &query.Table{At: f.At, Name: f.Table, Alias: f.Alias}
}

func (f from) relation(r query.Relation) (*Relation, error) {
	switch r := r.(type) {
	case *query.Table:
		return f.table(r)
	case *query.Subquery:
		return f.subquery(r)
	case *query.Join:
		return f.join(r)
	}
	return nil, Refuse(r.Pos(), "", "this cannot stand in FROM")
}

func (f from) table(r *query.Table) (*Relation, error) {
	t := f.policy.Table(r.Name)
	if t == nil {
		return nil, noTable(f.policy, r.Name, r.At)
	}
	alias := r.Alias
	if alias == "" {
		alias = r.Name
	}
	return f.whole(t, alias)
}

// whole is all of a table.
func (f from) whole(t *policy.Table, alias string) (*Relation, error) {
	out := &Relation{
		Scope:  Scope{Table: t, alias: alias, Resolved: map[*policy.Column]bool{}},
		unit:   t.Unit,
		public: t.Public,
		main:   t.Name,
	}
	for _, c := range t.Columns {
		out.Names = append(out.Names, Name{
			table:  alias,
			name:   c.Name,
			e:      out.Declared(c),
			unit:   !t.Public && c.Name == t.Unit.Column,
			of:     origin{t, c.Name},
			most:   t.RowsPerValue[c.Name],
			copies: 1,
		})
		if c.Name == t.Unit.Column {
			out.unitType = c.Type
		}
	}
	if t.Unit.Through == "" {
		return out, nil
	}
	return out, f.owned(out)
}

// owned gives the rows of a table that has its unit through a reference to that unit: see Owned.
func (f from) owned(r *Relation) error {
	t := r.Table
	to := t.References[t.Unit.Through]
	owner := f.policy.Owner(t)
	parent, err := f.whole(f.policy.Table(to.Table), to.Table)
	if err != nil {
		return err
	}
	child := r.scan()
	out := &bounded.Source{
		Op:      bounded.Owned,
		Inputs:  []*bounded.Source{child, parent.materialize()},
		Columns: child.Columns,
		Units:   true,
		Stored:  t.Stored(),
	}
	key := func(s *bounded.Source, name string) int {
		return slices.IndexFunc(s.Columns, func(c bounded.Column) bool { return c.Name == name })
	}
	out.ChildKey, out.ParentKey = key(child, t.Unit.Through), key(parent.Source, to.Column)
	r.over(out)
	r.unit.Column, r.unit.Through = owner.Unit.Column, ""
	r.unitType = owner.Column(owner.Unit.Column).Type
	return nil
}

// scan reads the one table, all its columns in its order.
func (r *Relation) scan() *bounded.Source {
	out := &bounded.Source{Op: bounded.Scan, Table: r.Table.Name, Columns: r.Columns}
	if r.unit.Column != "" && !r.public {
		out.Unit, out.Units = r.Table.Column(r.unit.Column), true
	}
	return out
}

// over makes the relation one over a source that gives its names in their order.
func (r *Relation) over(s *bounded.Source) {
	r.Scope = Scope{Names: r.Names, Source: s, Columns: s.Columns}
	r.Where = nil
	for i := range r.Names {
		r.Names[i].e = s.Column(i)
	}
}

// materialize makes a source of which each name is a column, and which the relation is over from then on. Where names are all that
// a subquery gave, there is nothing to do.
func (r *Relation) materialize() *bounded.Source {
	base := r.base()
	if r.Where != nil || slices.ContainsFunc(r.Names, func(n Name) bool { return n.e.Op != bounded.OpColumn }) {
		return r.project()
	}
	r.Scope = Scope{Names: r.Names, Source: base, Columns: base.Columns}
	return base
}

// base is the source that names are over.
func (r *Relation) base() *bounded.Source {
	if r.Source == nil {
		return r.scan()
	}
	return r.Source
}

// project makes a source that gives the relation's names, in their order.
func (r *Relation) project() *bounded.Source {
	base := r.base()
	same := r.Where == nil && len(r.Names) == len(base.Columns)
	for i, n := range r.Names {
		same = same && n.e.Op == bounded.OpColumn && n.e.Column == i
	}
	if !same {
		out := &bounded.Source{
			Op:     bounded.Select,
			Inputs: []*bounded.Source{base},
			Where:  r.Where,
			Units:  base.Units,
			Single: base.Single,
		}
		for _, n := range r.Names {
			out.Exprs, out.Columns = append(out.Exprs, n.e), append(out.Columns, r.output(n.name, n.e))
		}
		base = out
	}
	r.over(base)
	return base
}

// restrict adds a condition.
func (r *Relation) restrict(e *bounded.Expr, at query.Pos) error {
	r.Where = Conjunction(r.Where, e)
	if r.Where.Weight() > bounded.MaxWeight {
		return Refuse(at, "simplify it", "the conditions are too large once they are written out")
	}
	return nil
}

// subquery is a SELECT in FROM, or several under UNION ALL.
func (f from) subquery(q *query.Subquery) (*Relation, error) {
	var out *Relation
	for i, s := range q.Branches {
		r, err := f.selected(s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			out = r
		} else if out, err = unionAll(out, r, s.At); err != nil {
			return nil, err
		}
	}
	for i := range out.Names {
		out.Names[i].table, out.Names[i].merged = q.Alias, false
	}
	return out, nil
}

// selected is one SELECT in FROM.
func (f from) selected(s *query.Select) (*Relation, error) {
	r, where, err := f.selects(s)
	if err != nil {
		return nil, err
	}
	if s.Distinct {
		return nil, r.distinct(s)
	}
	if where != nil {
		e, err := r.Condition(where)
		if err == nil {
			err = r.restrict(e, where.Pos())
		}
		if err != nil {
			return nil, err
		}
	}
	if grouped(s) {
		return r.perUnit(s)
	}
	r.Names, err = r.list(s.Items)
	return r, err
}

// list lowers the SELECT list of a subquery.
func (r *Relation) list(items []query.Item) ([]Name, error) {
	var out []Name
	for _, item := range items {
		if star, ok := item.Expr.(*query.Star); ok {
			all, err := r.star(star)
			if err != nil {
				return nil, err
			}
			out = append(out, all...)
			continue
		}
		n, err := r.item(item)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	if len(out) > maxColumns {
		return nil, Refuse(items[0].Expr.Pos(), "select fewer", "a subquery gives at most %d columns", maxColumns)
	}
	return out, nil
}

// maxColumns bounds what a subquery gives: a list of stars could double it again and again.
const maxColumns = 1000

func (r *Relation) star(x *query.Star) ([]Name, error) {
	var out []Name
	for i := range r.Names {
		if n := r.Names[i]; x.Table == "" && !n.merged || x.Table != "" && n.table == x.Table {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, Refuse(x.At, suggestion(x.Table, r.tables()), "there is no table %q here", x.Table)
	}
	return out, nil
}

// item is one name that a SELECT list gives. A column keeps what is known of it.
func (r *Relation) item(item query.Item) (Name, error) {
	e, err := r.Row(item.Expr)
	if err != nil {
		return Name{}, err
	}
	if IsUntypedNull(e) {
		return Name{}, Refuse(item.Expr.Pos(), "write CAST(NULL AS integer)", "NULL alone has no type")
	}
	out := Name{name: item.Alias, e: e}
	if c, ok := item.Expr.(*query.Column); ok {
		n, err := r.Find(c)
		if err != nil {
			return Name{}, err
		}
		out.unit, out.of, out.most, out.copies = n.unit, n.of, n.most, n.copies
		if out.name == "" {
			out.name = c.Name
		}
	} else if c, ok := item.Expr.(*query.Call); ok && out.name == "" {
		out.name = c.Name
	}
	return out, nil
}
