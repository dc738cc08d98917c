package plan

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// relation is what a question, or a subquery, selects from, as it is put together: names that stand for expressions over the
// columns of one table or of a source, with a condition that is still to be applied. Subqueries that only select and rename thus
// leave no trace: the question is the one that could have been written without them, and replays it.
type relation struct {
	lowering
	unit     policy.Unit // whose rows these are, and how many of one there may be
	unitType value.Type  // of the unit's column; 0 where rows are units
	public   bool
	main     string        // the first table of persons, or of public rows
	where    *bounded.Expr // nil for all rows
	keyed    *publicGroups
}

// named is a name in a relation, and what is known of it.
type named struct {
	table, name string
	e           *bounded.Expr
	unit        bool   // it is the unit's column
	merged      bool   // by USING: only with its table's name it is meant
	of          origin // the table's column that it is, unchanged, if it is one
	most        int64  // of public rows: so many at most have one value of it; 0 if nobody says
	group       bool   // it is the public column that says which groups there are
	copies      int64  // so many rows at most of one unit stem from one row of the table of which it is a column
}

// origin is a column of a table.
type origin struct {
	table  *policy.Table
	column string
}

// from puts relations together.
type from struct{ policy *policy.Policy }

// relationOf is what a question selects from.
func relationOf(p *policy.Policy, tree *query.Select) (*relation, error) {
	if tree.From.Relation == nil {
		table, err := tableOf(p, tree)
		if err != nil {
			return nil, err
		}
		if table.Unit.Through == "" {
			return &relation{lowering: lowering{table: table, alias: aliasOf(tree), read: map[*policy.Column]bool{}}, unit: table.Unit}, nil
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
		return nil, refuse(tree.From.At, "join it to a table of persons, or read its source directly", "this holds public rows alone, and nothing to protect")
	}
	if r.source != nil { // what asks for a table's unit, finds the relation's
		r.table = &policy.Table{Name: r.main, Unit: r.unit, MinUnits: leastUnits(p, r.source)}
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
func (f from) selects(s *query.Select) (*relation, query.Expr, error) {
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

func (f from) relation(r query.Relation) (*relation, error) {
	switch r := r.(type) {
	case *query.Table:
		return f.table(r)
	case *query.Subquery:
		return f.subquery(r)
	case *query.Join:
		return f.join(r)
	}
	return nil, refuse(r.Pos(), "", "this cannot stand in FROM")
}

func (f from) table(r *query.Table) (*relation, error) {
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
func (f from) whole(t *policy.Table, alias string) (*relation, error) {
	out := &relation{lowering: lowering{table: t, alias: alias, read: map[*policy.Column]bool{}}, unit: t.Unit, public: t.Public, main: t.Name}
	for _, c := range t.Columns {
		out.names = append(out.names, named{
			table: alias, name: c.Name, e: out.declared(c), unit: !t.Public && c.Name == t.Unit.Column, of: origin{t, c.Name}, most: t.RowsPerValue[c.Name],
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
func (f from) owned(r *relation) error {
	t := r.table
	to := t.References[t.Unit.Through]
	owner := f.policy.Owner(t)
	parent, err := f.whole(f.policy.Table(to.Table), to.Table)
	if err != nil {
		return err
	}
	child := r.scan()
	out := &bounded.Source{Op: bounded.Owned, Inputs: []*bounded.Source{child, parent.materialize()}, Columns: child.Columns, Units: true, Stored: t.Stored()}
	key := func(s *bounded.Source, name string) int {
		return slices.IndexFunc(s.Columns, func(c bounded.Column) bool { return c.Name == name })
	}
	out.ChildKey, out.ParentKey = key(child, t.Unit.Through), key(parent.source, to.Column)
	r.over(out)
	r.unit.Column, r.unit.Through = owner.Unit.Column, ""
	r.unitType = owner.Column(owner.Unit.Column).Type
	return nil
}

// scan reads the one table, all its columns in its order.
func (r *relation) scan() *bounded.Source {
	out := &bounded.Source{Op: bounded.Scan, Table: r.table.Name, Columns: r.columns}
	if r.unit.Column != "" && !r.public {
		out.Unit, out.Units = r.table.Column(r.unit.Column), true
	}
	return out
}

// over makes the relation one over a source that gives its names in their order.
func (r *relation) over(s *bounded.Source) {
	r.lowering = lowering{names: r.names, source: s, columns: s.Columns}
	r.where = nil
	for i := range r.names {
		r.names[i].e = s.Column(i)
	}
}

// materialize makes a source of which each name is a column, and which the relation is over from then on. Where names are all that
// a subquery gave, there is nothing to do.
func (r *relation) materialize() *bounded.Source {
	base := r.base()
	if r.where != nil || slices.ContainsFunc(r.names, func(n named) bool { return n.e.Op != bounded.OpColumn }) {
		return r.project()
	}
	r.lowering = lowering{names: r.names, source: base, columns: base.Columns}
	return base
}

// base is the source that names are over.
func (r *relation) base() *bounded.Source {
	if r.source == nil {
		return r.scan()
	}
	return r.source
}

// project makes a source that gives the relation's names, in their order.
func (r *relation) project() *bounded.Source {
	base := r.base()
	same := r.where == nil && len(r.names) == len(base.Columns)
	for i, n := range r.names {
		same = same && n.e.Op == bounded.OpColumn && n.e.Column == i
	}
	if !same {
		out := &bounded.Source{Op: bounded.Select, Inputs: []*bounded.Source{base}, Where: r.where, Units: base.Units, Single: base.Single}
		for _, n := range r.names {
			out.Exprs, out.Columns = append(out.Exprs, n.e), append(out.Columns, r.output(n.name, n.e))
		}
		base = out
	}
	r.over(base)
	return base
}

// restrict adds a condition.
func (r *relation) restrict(e *bounded.Expr, at query.Pos) error {
	r.where = conjunction(r.where, e)
	if r.where.Weight() > bounded.MaxWeight {
		return refuse(at, "simplify it", "the conditions are too large once they are written out")
	}
	return nil
}

// subquery is a SELECT in FROM, or several under UNION ALL.
func (f from) subquery(q *query.Subquery) (*relation, error) {
	var out *relation
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
	for i := range out.names {
		out.names[i].table, out.names[i].merged = q.Alias, false
	}
	return out, nil
}

// selected is one SELECT in FROM.
func (f from) selected(s *query.Select) (*relation, error) {
	r, where, err := f.selects(s)
	if err != nil {
		return nil, err
	}
	if s.Distinct {
		return nil, r.distinct(s)
	}
	if where != nil {
		e, err := r.condition(where)
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
	r.names, err = r.list(s.Items)
	return r, err
}

// list lowers the SELECT list of a subquery.
func (r *relation) list(items []query.Item) ([]named, error) {
	var out []named
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
		return nil, refuse(items[0].Expr.Pos(), "select fewer", "a subquery gives at most %d columns", maxColumns)
	}
	return out, nil
}

// maxColumns bounds what a subquery gives: a list of stars could double it again and again.
const maxColumns = 1000

func (r *relation) star(x *query.Star) ([]named, error) {
	var out []named
	for i := range r.names {
		if n := r.names[i]; x.Table == "" && !n.merged || x.Table != "" && n.table == x.Table {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, refuse(x.At, suggestion(x.Table, r.tables()), "there is no table %q here", x.Table)
	}
	return out, nil
}

// item is one name that a SELECT list gives. A column keeps what is known of it.
func (r *relation) item(item query.Item) (named, error) {
	e, err := r.row(item.Expr)
	if err != nil {
		return named{}, err
	}
	if isUntypedNull(e) {
		return named{}, refuse(item.Expr.Pos(), "write CAST(NULL AS integer)", "NULL alone has no type")
	}
	out := named{name: item.Alias, e: e}
	if c, ok := item.Expr.(*query.Column); ok {
		n, err := r.find(c)
		if err != nil {
			return named{}, err
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
