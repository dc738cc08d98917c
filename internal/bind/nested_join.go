package bind

import (
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// nestedJoin is the join that stands for a subquery.
type nestedJoin struct {
	n          *nesting
	key        *bounded.Expr // a column that is not NULL exactly in the rows that the subquery matches
	aggregates []query.Expr  // references to the aggregates, or to the value that was looked up
}

func (j *nestedJoin) found(at query.Pos) query.Expr { return j.n.hide(notNull(j.key), at) }

// joined joins the subquery's rows to the outer rows, by the subquery's keys. The join gives each outer row the
// aggregates of the rows that it matches, or, for a public table and for a lookup, the given values.
func (n *nesting) joined(x *query.Nested, in *inner, calls []*query.Call, values ...*bounded.Expr) (*nestedJoin, error) {
	if scans(n.out.Source)+scans(in.rows.Source) > maxScans {
		return nil, Refuse(x.At, "nest fewer of them, or write NOT EXISTS for NOT IN", "these subqueries are nested too deeply")
	}
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
	together := in.own
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
		if err := n.sameUnits(x, in, together, calls); err != nil {
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
		j.aggregates = append(j.aggregates, n.hide(e, x.At))
	}
	return j, nil
}

// maxScans bounds how often a relation with subqueries reads tables, and so the length of the engine's statement. A NOT
// IN joins its subquery three times, and so does each NOT IN inside it.
const maxScans = 150

// scans returns how often a source reads tables.
func scans(s *bounded.Source) (n int) {
	if s == nil {
		return 1
	}
	s.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan {
			n++
		}
	})
	return n
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
	list := &Scope{Source: per, inside: scope, computed: in.rows.computed}
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
	l.Scope = Scope{Names: names, Source: join, Columns: join.Columns, computed: l.computed}
	out := &nestedJoin{n: n, key: join.Column(first)}
	for i := range values {
		out.aggregates = append(out.aggregates, n.hide(join.Column(first+keys+i), query.Pos{}))
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
func (n *nesting) sameUnits(x *query.Nested, in *inner, together bool, calls []*query.Call) error {
	s := joining{l: n.base, r: in.rows, at: x.At}
	ofRows := x.Kind == query.ValueNested && (n.base.unit.IsRow() || in.rows.unit.IsRow())
	if !ofRows {
		if err := s.sameUnits(); err != nil {
			return err
		}
		if together {
			return nil
		}
	}
	hint := "ask the subquery first, " + nearExtrema(in.rows, calls) + "and write its answer as a constant"
	if ofRows {
		return Refuse(x.At, hint,
			"this subquery would pair different persons' rows: each row of a table is a unit of its own")
	}
	if n.shown && x.Kind == query.ValueNested && len(in.equal)+len(in.compared)+len(in.rest) == 0 {
		hint += "; for a share of all groups together, write 1.0 * COUNT(*) / SUM(COUNT(*)) OVER ()"
	}
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
