package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// Relation is the result of a FROM clause, of a question or a subquery. It has names, which stand for expressions
// over the columns of one table or of a Source, and a condition that is not applied yet. A subquery that only
// selects and renames leaves no node in the Source. So a question with such a subquery has the same plan and the
// same replay key as the question without it.
type Relation struct {
	Scope
	unit     policy.Unit // the unit that owns the rows, and the bounds on one unit's rows
	unitType value.Type  // the type of the unit's column; 0 if each row is a unit
	public   bool
	main     string        // the first private table, or the first public table of a public relation
	Where    *bounded.Expr // nil for all rows
	Keyed    *PublicJoin
}

// Name is a name in a relation, with what is known about its expression.
type Name struct {
	table, name string
	e           *bounded.Expr
	unit        bool   // whether the name is the unit's column
	merged      bool   // whether USING merged the name: only a reference with the table's name means it
	of          origin // the table's column that the name stands for unchanged; zero if there is none
	// for a column of a public table, the declared largest number of rows with one value; 0 if none is declared
	most   int64
	Group  bool  // whether the name is the public column that lists the groups
	copies int64 // the largest number of one unit's rows that stem from one row of the column's table
	whole  Whole // the type of the column's whole numbers in PostgreSQL
}

// origin identifies a column of a table of the policy.
type origin struct {
	table  *policy.Table
	column string
}

// from binds FROM clauses under a policy.
type from struct {
	policy   *policy.Policy
	hidden   *int // the number of hidden names that the question has so far
	computed *int // see Scope
}

// RelationOf binds the FROM clause of a question. It moves conditions that join a comma-separated list of tables
// from tree.Where into the joins. It refuses a relation that has public rows alone.
func RelationOf(p *policy.Policy, tree *query.Select) (*Relation, error) {
	if tree.From.Relation == nil && !selectNests(tree) {
		table, err := tableOf(p, tree)
		if err != nil {
			return nil, err
		}
		if table.Unit.Through == "" {
			return &Relation{
				Scope: Scope{Table: table, alias: aliasOf(tree), Resolved: map[*policy.Column]bool{}, computed: new(int)},
				unit:  table.Unit,
			}, nil
		}
	}
	f := from{p, new(int), new(int)}
	r, err := f.publicJoin(tree)
	if r == nil && err == nil {
		if persons := f.personsOf(tree); persons != tree.From.Relation {
			tree.From.Relation = persons
		}
		all := tree
		if r, tree.Where, err = f.selects(tree); err == nil {
			r, all, tree.Where, err = f.unnested(r, tree, tree.Where)
		}
		if err == nil {
			tree.Items, tree.GroupBy = all.Items, all.GroupBy
		}
	}
	if err == nil && r.public || err != nil && f.onlyPublic(relationIn(tree.From)) {
		return nil, Refuse(
			tree.From.At,
			"join it to a table of persons, or read its source directly",
			"all tables in FROM are public, so there is nothing to protect",
		)
	}
	if err != nil {
		return nil, err
	}
	if r.Source != nil { // for callers, the table's unit is the relation's unit
		r.Table = &policy.Table{Name: r.main, Unit: r.unit, MinUnits: leastUnits(p, r.Source)}
	}
	return r, nil
}

// onlyPublic reports whether a FROM clause names public tables alone, outside subqueries.
func (f from) onlyPublic(r query.Relation) bool {
	switch r := r.(type) {
	case *query.Table:
		t := f.policy.Table(r.Name)
		return t != nil && t.Public
	case *query.Join:
		return f.onlyPublic(r.L) && f.onlyPublic(r.R)
	case *query.List:
		return !slices.ContainsFunc(r.Items, func(r query.Relation) bool { return !f.onlyPublic(r) })
	}
	return false
}

// leastUnits returns the largest min_units of the tables that a source reads.
func leastUnits(p *policy.Policy, s *bounded.Source) (least int64) {
	s.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan {
			least = max(least, p.Table(s.Table).MinUnits)
		}
	})
	return least
}

// selects returns the relation of a SELECT, and the part of its WHERE that is still to be applied.
func (f from) selects(s *query.Select) (*Relation, query.Expr, error) {
	if s.From.None() {
		return nil, nil, Refuse(s.At, "add FROM and a table's name", "the subquery has no table")
	}
	s = firsts(limitedLaterals(s))
	if list, ok := s.From.Relation.(*query.List); ok {
		return f.list(list, s.Where)
	}
	r, err := f.relation(relationIn(s.From))
	if err == nil && s.OfUnits {
		if n, err := r.item(s.Items[0]); err != nil || !n.unit {
			return nil, nil, Refuse(s.At, "select the person's column alone on both sides",
				"INTERSECT and EXCEPT of other columns are not supported: whether a row stays would depend on other persons' rows")
		}
	}
	return r, s.Where, err
}

// constantsBesidePersons refuses a table of constants beside rows of persons.
func constantsBesidePersons(r *query.Constants) error {
	if r.Series {
		return Refuse(r.At,
			"group by the column itself, because the answer has all its known groups; or aggregate the rows first: "+
				"FROM generate_series(…) d LEFT JOIN (SELECT day, COUNT(*) AS n FROM t GROUP BY day) q ON q.day = d; "+
				"for the rows that are open on each of a few days, select "+
				"COUNT(*) FILTER (WHERE begun <= DATE '2025-01-01' AND ended > DATE '2025-01-01') for each",
			"generate_series is not supported beside rows of persons")
	}
	return Refuse(r.At,
		"group by the column itself, because the answer has all its known groups, or by CASE column WHEN 'a' THEN 'b' END; or aggregate "+
			"the rows in a subquery, and join its answer with these values",
		"VALUES of several rows is not supported beside rows of persons")
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
		if r.Lateral {
			return nil, Refuse(r.At, "put it behind the tables whose columns it reads, with LEFT JOIN LATERAL (…) q ON TRUE",
				"LATERAL is not supported here")
		}
		return f.subquery(r)
	case *query.Join:
		return f.join(r)
	case *query.Constants:
		return nil, constantsBesidePersons(r)
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

// whole returns the relation that FROM table AS alias selects from: all rows of the table.
func (f from) whole(t *policy.Table, alias string) (*Relation, error) {
	out := &Relation{
		Scope:  Scope{Table: t, alias: alias, Resolved: map[*policy.Column]bool{}, computed: f.computed},
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

// owned replaces the relation of a table that references its unit through another table. The new source,
// bounded.Owned, gives each row to the unit of the row that it references.
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

// scan returns a source of all columns of the relation's one table, in the table's order.
func (r *Relation) scan() *bounded.Source {
	out := &bounded.Source{Op: bounded.Scan, Table: r.Table.Name, Columns: r.Columns}
	if r.unit.Column != "" && !r.public {
		out.Unit, out.Units = r.Table.Column(r.unit.Column), true
	}
	return out
}

// over makes s the relation's source, from which its rows come. The columns of s are the relation's names, in order.
// There is no condition left.
func (r *Relation) over(s *bounded.Source) {
	r.Scope = Scope{Names: r.Names, Source: s, Columns: s.Columns, computed: r.computed}
	r.Where = nil
	for i := range r.Names {
		r.Names[i].e = s.Column(i)
	}
}

// materialize makes each name a column of the relation's source, and returns the source. It adds a node only if a
// name stands for an expression or a condition is still to be applied.
func (r *Relation) materialize() *bounded.Source {
	base := r.base()
	if r.Where != nil || slices.ContainsFunc(r.Names, func(n Name) bool { return n.e.Op != bounded.OpColumn }) {
		return r.project()
	}
	r.Scope = Scope{Names: r.Names, Source: base, Columns: base.Columns, computed: r.computed}
	return base
}

// base returns the source (bounded.Source) of the columns that the relation's names refer to.
func (r *Relation) base() *bounded.Source {
	if r.Source == nil {
		return r.scan()
	}
	return r.Source
}

// project makes the relation's names, in order, the columns of its source, and returns the source.
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

// restrict adds a condition to the relation.
func (r *Relation) restrict(e *bounded.Expr, at query.Pos) error {
	r.Where = Conjunction(r.Where, e)
	if r.Where.Weight() > bounded.MaxWeight {
		return Refuse(at, "simplify it", "the conditions are too large when they are expanded")
	}
	return nil
}

// subquery binds a SELECT in FROM, or several SELECTs joined by UNION ALL.
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

// selected binds one SELECT in FROM.
func (f from) selected(s *query.Select) (*Relation, error) {
	if err := unordered(s); err != nil {
		return nil, f.ofPublicRows(s, err)
	}
	r, where, err := f.selects(s)
	if err != nil {
		return nil, err
	}
	if r, s, where, err = f.unnested(r, s, where); err != nil {
		return nil, err
	}
	if s.Distinct {
		if s, err = r.distinct(s); err != nil {
			return nil, err
		}
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
	if s, err = f.windows(r, s); err != nil {
		return nil, err
	}
	r.Names, err = r.list(s.Items)
	return r, err
}

// list translates the SELECT list of a subquery.
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

// maxColumns bounds the columns of a subquery. Nested subqueries that select * twice would double their number at
// each level.
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

// item translates one item of a SELECT list other than a star. A name that stands for a column keeps what is known
// about the column, such as rows_per_value.
func (r *Relation) item(item query.Item) (Name, error) {
	e, err := r.Row(item.Expr)
	if err != nil {
		return Name{}, err
	}
	if IsUntypedNull(e) {
		return Name{}, Refuse(item.Expr.Pos(), "write CAST(NULL AS integer)", "NULL alone has no type")
	}
	out := Name{name: item.Alias, e: e, whole: r.Whole(item.Expr)}
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
