package bind

import (
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// inner is the SELECT of a subquery in an expression, bound under a policy.
type inner struct {
	rows  *Relation    // its rows, with the conditions that read them alone
	items []query.Expr // its SELECT list, over rows
	// the conditions that read the outer row too: equalities, the other comparisons, and the rest
	equal, compared []linked
	rest            []query.Expr
}

// linked is a comparison of an expression over the subquery's rows with one over the outer row: inner op outer.
type linked struct {
	op           query.BinaryOp
	inner, outer query.Expr
	at           query.Pos
}

// bind binds the SELECT of a subquery.
func (n *nesting) bind(x *query.Nested) (*inner, error) {
	if len(x.Sub.Branches) > 1 {
		sub := *x.Sub
		sub.Alias = hidden + "union"
		r, err := n.subquery(&sub)
		if err != nil {
			return nil, err
		}
		return &inner{rows: r, items: r.references()}, nil
	}
	s := *x.Sub.Branches[0]
	if x.Kind != query.ValueNested { // neither an order nor a repetition changes which values there are
		s.Distinct, s.OrderBy = false, nil
		if x.Kind == query.ExistsNested && s.Limit != nil && *s.Limit > 0 && s.Offset == nil {
			s.Limit = nil
		}
	}
	if err := unordered(&s); err != nil {
		return nil, err
	}
	r, where, err := n.selects(&s)
	if err != nil {
		return nil, err
	}
	r, all, where, err := n.unnested(r, &s, where)
	if err != nil {
		return nil, err
	}
	out := &inner{rows: r}
	if where != nil {
		for _, c := range split(where) {
			if err := n.link(out, c); err != nil {
				return nil, err
			}
		}
	}
	if x.Kind == query.ValueNested && len(all.GroupBy) == 0 && all.Having == nil {
		out.items = items(all)
		return out, nil
	}
	if x.Kind == query.ExistsNested && !grouped(all) {
		return out, nil
	}
	if grouped(all) {
		return out, out.group(x, all)
	}
	names, err := r.list(all.Items)
	if err != nil {
		return nil, err
	}
	if len(names) != len(all.Items) {
		return nil, Refuse(x.At, "select the one column", "a subquery after IN selects no *")
	}
	out.items = items(all)
	return out, nil
}

func items(s *query.Select) (out []query.Expr) {
	for _, i := range s.Items {
		out = append(out, i.Expr)
	}
	return out
}

// references returns a reference to each name of the relation.
func (r *Relation) references() (out []query.Expr) {
	for _, n := range r.Names {
		out = append(out, &query.Column{Table: n.table, Name: n.name})
	}
	return out
}

// group replaces the rows of a grouped subquery by its groups. The keys of the conditions that read the outer row must
// be among those of GROUP BY.
func (in *inner) group(x *query.Nested, s *query.Select) error {
	if len(in.compared)+len(in.rest) > 0 {
		return Refuse(
			x.At,
			"put the condition into a subquery in FROM, or compare a count: (SELECT COUNT(*) FROM … WHERE …) > 3",
			"a subquery with GROUP BY may equate columns with the outer row's, and compare them in no other way",
		)
	}
	all := *s
	all.Items = nil
	if x.Kind != query.ExistsNested {
		all.Items = slices.Clone(s.Items)
	}
	for i := range in.equal {
		all.Items = append(all.Items, query.Item{Expr: in.equal[i].inner})
	}
	if len(all.Items) == 0 {
		all.Items = []query.Item{{Expr: s.GroupBy[0]}}
	}
	r, err := in.rows.perUnit(&all)
	if err != nil {
		return err
	}
	for i := range r.Names {
		r.Names[i].table, r.Names[i].name = hidden+"group", strconv.Itoa(i)
	}
	all.Items = nil
	in.rows, in.items = r, r.references()
	keys := in.items[len(in.items)-len(in.equal):]
	if x.Kind != query.ExistsNested {
		in.items = in.items[:len(s.Items)]
	}
	for i := range in.equal {
		in.equal[i].inner = keys[i]
	}
	return nil
}

// link adds a condition of the subquery: to its rows if it reads them alone, and otherwise to those that link them to
// the outer row.
func (n *nesting) link(in *inner, c query.Expr) error {
	own, outer := n.sides(in, c)
	if !outer {
		e, err := in.rows.Condition(c)
		if err != nil {
			return err
		}
		return in.rows.restrict(e, c.Pos())
	}
	b, ok := c.(*query.Binary)
	if ok && own && Comparisons[b.Op] != "" {
		for _, side := range []linked{
			{b.Op, b.L, b.R, b.At}, {mirrored[b.Op], b.R, b.L, b.At},
		} {
			l, lo := n.sides(in, side.inner)
			r, ro := n.sides(in, side.outer)
			if !l || lo || r || !ro {
				continue
			}
			if side.op == query.Eq {
				in.equal = append(in.equal, side)
			} else {
				in.compared = append(in.compared, side)
			}
			return nil
		}
	}
	in.rest = append(in.rest, c)
	return nil
}

// mirrored is the operator for exchanged sides.
var mirrored = map[query.BinaryOp]query.BinaryOp{
	query.Eq: query.Eq, query.Ne: query.Ne, query.Lt: query.Gt, query.Le: query.Ge, query.Gt: query.Lt, query.Ge: query.Le,
}

// sides reports whether an expression reads columns of the subquery, and of the outer row. As in SQL, a name means a
// column of the subquery if it has such a column.
func (n *nesting) sides(in *inner, x query.Expr) (own, outer bool) {
	_, _ = query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
		if c, ok := x.(*query.Column); ok {
			if n.outside(in, c) {
				outer = true
			} else {
				own = true
			}
		}
		return x, nil
	})
	return own, outer
}

// outside reports whether a reference means a column of the outer row.
func (n *nesting) outside(in *inner, c *query.Column) bool {
	if c.Table != "" {
		return !slices.Contains(in.rows.tables(), c.Table) && !isHidden(c.Table) && slices.Contains(n.base.tables(), c.Table)
	}
	return !in.rows.Has(c.Name) && n.base.Has(c.Name)
}

// nestedJoin is the join that stands for a subquery.
type nestedJoin struct {
	n          *nesting
	key        *bounded.Expr // a column that is not NULL exactly in the rows that the subquery matches
	aggregates []query.Expr  // references to the aggregates, or to the value that was looked up
}

func (j *nestedJoin) found(at query.Pos) query.Expr { return j.n.out.hide(notNull(j.key), at) }

// joined joins the subquery's rows to the outer rows, by the subquery's keys. The join gives each outer row the
// aggregates of the rows that it matches, or, for a public table and for a lookup, the given values.
func (n *nesting) joined(x *query.Nested, in *inner, calls []*query.Call, values ...*bounded.Expr) (*nestedJoin, error) {
	if n.base.public {
		return nil, Refuse(
			x.At,
			"join the public tables to the table of persons, and put the condition there",
			"a subquery in an expression over public rows alone is not supported",
		)
	}
	if len(in.compared)+len(in.rest) > 0 {
		var err error
		if in, err = n.pairedUp(x, in); err != nil {
			return nil, err
		}
	}
	looksUp := in.rows.public || len(values) > 0
	if !looksUp {
		in.rows.materialize()
	}
	var outers, keys []*bounded.Expr
	together := false
	for _, k := range in.equal {
		outer, err := n.out.Row(k.outer)
		if err != nil {
			return nil, err
		}
		own, err := in.rows.Row(k.inner)
		if err != nil {
			return nil, err
		}
		e, err := compare(bounded.OpEq, own, outer, k.at)
		if err != nil {
			return nil, err
		}
		if e.Args[0].Type == value.Real {
			return nil, Refuse(k.at, "compare FLOOR(x) with FLOOR(y)", "a real number cannot link a subquery to a row")
		}
		together = together || n.sameUnit(in, k)
		outers, keys = append(outers, e.Args[1]), append(keys, e.Args[0])
	}
	if !in.rows.public {
		if err := n.sameUnits(x, in, together); err != nil {
			return nil, err
		}
	}
	if len(keys) == 0 { // an uncorrelated subquery over public rows
		one := Constant(value.OfInt(1))
		outers, keys = []*bounded.Expr{one}, []*bounded.Expr{one}
	}
	if looksUp {
		return n.attach(in.rows.keyed(keys, values), outers, len(values)), nil
	}
	per, err := in.perUnit(keys, calls)
	if err != nil {
		return nil, err
	}
	counts := make([]bool, len(per.columns))
	for i, c := range per.columns {
		f := per.source.Aggregates[c.Column-len(keys)].Func
		counts[i] = f == bounded.InnerRows || f == bounded.InnerCount || f == bounded.InnerDistinct
	}
	j := n.attach(per.source, outers, 0)
	for i, c := range per.columns {
		e := n.out.Source.Column(len(n.out.Columns) - len(per.source.Columns) + c.Column)
		if counts[i] { // a row without a match has a count of 0
			if e, err = coalesce([]*bounded.Expr{e, Constant(value.OfInt(0))}, x.At); err != nil {
				return nil, err
			}
		}
		j.aggregates = append(j.aggregates, n.out.hide(e, x.At))
	}
	return j, nil
}

// keyed returns a source of the keys and values of a relation's rows.
func (r *Relation) keyed(keys, values []*bounded.Expr) *bounded.Source {
	base := r.base()
	out := &bounded.Source{
		Op:     bounded.Select,
		Inputs: []*bounded.Source{base},
		Where:  r.Where,
		Units:  base.Units,
		Single: base.Single,
	}
	for _, e := range slices.Concat(keys, values) {
		out.Exprs, out.Columns = append(out.Exprs, e), append(out.Columns, r.output("subquery", e))
	}
	return out
}

// perUnitSource is one row for each unit and each value of the keys, and the columns of aggregates.
type perUnitSource struct {
	source  *bounded.Source
	columns []*bounded.Expr
}

// perUnit groups the subquery's rows, which are materialized, by unit and keys.
func (in *inner) perUnit(keys []*bounded.Expr, calls []*query.Call) (*perUnitSource, error) {
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{in.rows.Source}, Units: true}
	scope := &inside{input: in.rows, rows: in.rows.unit.RowsPerUnit, per: per}
	for _, e := range keys {
		per.Exprs, per.Columns = append(per.Exprs, e), append(per.Columns, in.rows.output("key", e))
		scope.keys = append(scope.keys, Name{e: e})
	}
	per.Loose = !slices.ContainsFunc(per.Exprs, in.rows.standsForUnit)
	out := &perUnitSource{source: per}
	list := &Scope{Source: per, inside: scope}
	for _, c := range calls {
		e, err := list.innerCall(c)
		if err != nil {
			return nil, err
		}
		out.columns = append(out.columns, e)
	}
	return out, nil
}

// standsForUnit reports whether an expression over a materialized relation is the unit's column.
func (r *Relation) standsForUnit(e *bounded.Expr) bool {
	return e.Op == bounded.OpColumn && r.UnitStands(e)
}

// attach joins a source to the outer rows: each row meets at most one row whose first columns, the keys, equal outers.
// Of the columns after the keys, it gives references to the first `values`.
func (n *nesting) attach(s *bounded.Source, outers []*bounded.Expr, values int) *nestedJoin {
	l := n.out
	keys := len(outers)
	join := &bounded.Source{
		Op:     bounded.Join,
		Inputs: []*bounded.Source{l.Source, s},
		Units:  l.Source.Units,
		Left:   true,
		Most:   1,
		Single: l.Source.Single,
	}
	for i := range keys {
		join.Pairs, join.Within = append(join.Pairs, bounded.Pair{L: outers[i], R: i}), append(join.Within, i)
	}
	join.Columns = slices.Clone(l.Columns)
	for _, c := range s.Columns {
		nullable := *c.Column
		nullable.Nullable = true
		c.Column = &nullable
		join.Columns = append(join.Columns, c)
	}
	first := len(l.Columns)
	names := slices.Clone(l.Names)
	for i := range names { // the columns of the first input keep their indices
		names[i].e = shifted(names[i].e, 0, join)
	}
	l.Scope = Scope{Names: names, Source: join, Columns: join.Columns}
	out := &nestedJoin{n: n, key: join.Column(first)}
	for i := range values {
		out.aggregates = append(out.aggregates, l.hide(join.Column(first+keys+i), query.Pos{}))
	}
	return out
}

// sameUnit reports whether an equality implies that the unit is the same.
func (n *nesting) sameUnit(in *inner, k linked) bool {
	a, ok := k.outer.(*query.Column)
	b, too := k.inner.(*query.Column)
	if !ok || !too {
		return false
	}
	outer, err := n.base.Find(a)
	if err != nil {
		return false
	}
	own, err := in.rows.Find(b)
	return err == nil && together(*outer, *own)
}

// sameUnits refuses a subquery over rows of persons that are not the outer row's person's.
func (n *nesting) sameUnits(x *query.Nested, in *inner, together bool) error {
	s := joining{l: n.base, r: in.rows, at: x.At}
	if err := s.sameUnits(); err != nil {
		return err
	}
	if together {
		return nil
	}
	hint := "ask the subquery first, and write its answer as a constant"
	if both := shared(n.base.tables(), in.rows.tables()); both != "" {
		hint = "for the same person's rows, give the subquery's table an alias and equate its unit's column with that of " +
			query.QuoteName(both) + "; for all persons' rows, " + hint
	} else if unit := s.unitHint(); strings.HasPrefix(unit, "add ") {
		hint = "for the same person's rows, " + unit + " to its WHERE; for all persons' rows, " + hint
	}
	return Refuse(x.At, hint, "this subquery would pair different persons' rows: nothing in it equates the units")
}

// together reports whether an equality of two columns implies that the unit is the same. Both are unit columns, or one
// table has its unit through the other, or both have it through the same column of a third.
func together(l, r Name) bool {
	through := func(a origin) bool { return a.table != nil && a.column != "" && a.table.Unit.Through == a.column }
	switch {
	case l.unit && r.unit:
		return true
	case through(l.of) && refers(l.of, r.of), through(r.of) && refers(r.of, l.of):
		return true
	case through(l.of) && through(r.of):
		a, b := l.of.table.References[l.of.column], r.of.table.References[r.of.column]
		return a.Table == b.Table && a.Column == b.Column
	}
	return false
}

// pairedUp returns the subquery's rows beside the outer columns that its conditions read, so that each of these
// conditions reads one row:
//
//	EXISTS (SELECT … FROM v w WHERE w.who = v.who AND w.d > v.d AND w.d <= v.d + 90)
//	FROM (SELECT who, d FROM v GROUP BY who, d) o JOIN v w ON w.who = o.who AND w.d > o.d AND w.d <= o.d + 90
//
// The keys are then the outer columns. A row in which one of them is NULL has no match, so each condition must be
// untrue for it.
func (n *nesting) pairedUp(x *query.Nested, in *inner) (*inner, error) {
	var on query.Expr
	var columns []*query.Column // of the outer row
	add := func(c query.Expr) error {
		c, err := query.Rewrite(c, func(x query.Expr) (query.Expr, error) {
			c, ok := x.(*query.Column)
			if !ok || !n.outside(in, c) {
				return x, nil
			}
			i := slices.IndexFunc(columns, func(o *query.Column) bool { return o.Table == c.Table && o.Name == c.Name })
			if i < 0 {
				i = len(columns)
				columns = append(columns, c)
			}
			return &query.Column{At: c.At, Table: hidden + "outer", Name: strconv.Itoa(i)}, nil
		})
		on = both(on, c)
		return err
	}
	for _, k := range slices.Concat(in.equal, in.compared) {
		if names(k.outer, isHidden) { // the subquery's rows have hidden names of their own, which would be taken for it
			return nil, Refuse(
				k.at,
				"put one of the subqueries into a subquery in FROM, and give its value a name",
				"a subquery that is compared with another subquery, and reads the outer row in further ways, is not supported",
			)
		}
		if err := add(&query.Binary{At: k.at, Op: k.op, L: k.inner, R: k.outer}); err != nil {
			return nil, err
		}
	}
	for _, c := range in.rest {
		if !strict(c, false) {
			return nil, Refuse(
				c.Pos(),
				"link the subquery by comparisons, each joined to the others by AND",
				"this condition of a subquery, which reads the outer row too, is not supported",
			)
		}
		if err := add(c); err != nil {
			return nil, err
		}
	}
	outer, err := n.base.copied().distinctOf(columns)
	if err != nil {
		return nil, err
	}
	rows, err := beside(outer, in.rows, &query.Join{At: x.At, Kind: query.InnerJoin, On: on})
	if err != nil {
		return nil, err
	}
	out := &inner{rows: rows, items: in.items}
	for i, c := range columns {
		own := &query.Column{At: c.At, Table: hidden + "outer", Name: strconv.Itoa(i)}
		out.equal = append(out.equal, linked{op: query.Eq, inner: own, outer: c, at: c.At})
	}
	return out, nil
}

// names reports whether x has a column with such a table's name.
func names(x query.Expr, is func(table string) bool) bool {
	found := false
	_, _ = query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
		c, ok := x.(*query.Column)
		found = found || ok && is(c.Table)
		return x, nil
	})
	return found
}

// distinctOf returns one row for each unit and each combination of values of some columns.
func (r *Relation) distinctOf(columns []*query.Column) (*Relation, error) {
	if r.unit.IsRow() || r.public {
		return nil, Refuse(
			columns[0].At,
			"equate columns only",
			"a subquery over a table in which each row is a unit may equate columns, and compare them in no other way",
		)
	}
	input := r.materialize()
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{input}, Units: true}
	out := &Relation{unit: r.unit, unitType: r.unitType, main: r.main}
	for i, c := range columns {
		n, err := r.Find(c)
		if err != nil {
			return nil, err
		}
		if err := n.unfilled(c.At); err != nil {
			return nil, err
		}
		if n.e.Type == value.Real {
			return nil, Refuse(
				c.At,
				"compare it with a MIN or MAX: x > (SELECT MIN(y) FROM … WHERE …)",
				"a real number cannot link a subquery to a row by two conditions",
			)
		}
		per.Exprs, per.Columns = append(per.Exprs, n.e), append(per.Columns, r.output(n.name, n.e))
		name := *n
		name.table, name.name, name.merged, name.most = hidden+"outer", strconv.Itoa(i), true, 0
		out.Names = append(out.Names, name)
	}
	per.Loose = !slices.ContainsFunc(per.Exprs, r.standsForUnit)
	out.over(per)
	return out, nil
}

// strict reports whether a condition is never TRUE if some column in it is NULL, or, for a value, whether the value is
// NULL then.
func strict(x query.Expr, of bool) bool {
	all := func(xs ...query.Expr) bool {
		return !slices.ContainsFunc(xs, func(x query.Expr) bool { return !strict(x, true) })
	}
	switch x := x.(type) {
	case *query.Column, *query.Literal:
		return of
	case *query.Unary:
		return x.Op == query.Negate && all(x.X)
	case *query.Cast:
		return all(x.X)
	case *query.Between:
		return !of && !x.Not && all(x.X, x.Lo, x.Hi)
	case *query.Binary:
		switch x.Op {
		case query.Add, query.Sub, query.Mul:
			return of && all(x.L, x.R)
		case query.Eq, query.Ne, query.Lt, query.Le, query.Gt, query.Ge:
			return !of && all(x.L, x.R)
		default:
		}
	}
	return false
}
