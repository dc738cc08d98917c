package post

import (
	"cmp"
	"math"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
)

// A question may compute with the answers of several measured questions: with joins, UNION ALL and subqueries in
// expressions, and with the same answer in several places. Each SELECT that aggregates may be one that is measured. The
// outermost that can be is, so that aggregates of one person's rows stay part of a measured question.

// Answer is the answer of a measured question, before it has rows.
type Answer struct {
	Index   int // among the answers that Run gets
	Same    int // the index of the first answer that has the same release; Index if there is none
	From    int // the number of columns of the answers before it
	Columns []Column
	Rows    int  // the largest number of rows
	Open    bool // which rows there are depends on noise, as with unknown keys
}

// Parts gives Several the answers and tables that a question reads.
type Parts struct {
	// Has reports whether the rows that a SELECT reads have a column of a name.
	Has func(of *query.Select, name string) bool
	// Measure plans a measured question, and returns its answer, or a refusal. It is asked again for a question that
	// the
	// text has twice.
	Measure func(*Program) (Answer, error)
	// Whole reports whether GROUP BY of a key leaves out no row that a SELECT reads: whether the key is NULL in none, or
	// NULL is a group. If Whole is nil, no key is known to be so.
	Whole func(of *query.Select, key query.Expr) bool
	// Public returns the rows of a public table, which are exact, or the reason why they are not read. public is false
	// for
	// other tables. If Public is nil, there are no public tables.
	Public func(table string) (a Answer, trouble string, public bool)
}

// Several reads a question as SELECTs over the answers of measured questions, and over public tables. The error is the
// refusal of the first part that is neither measured nor computed from answers.
func Several(tree *query.Select, parts Parts) (*Bound, error) {
	for _, apart := range []bool{true, false} {
		s := &several{binder: &binder{wholes: map[*query.Nested]bind.Whole{}}, tree: tree, Parts: parts, apart: apart}
		s.nested = s.inner
		t, err := s.selects(tree)
		if err != nil {
			return nil, err
		}
		if s.independent() {
			readable(t.of.(selected).by)
			return &Bound{of: t.of, frame: t.frame, inners: s.inners, counts: s.counts, pairs: t.pairs, late: s.late}, nil
		}
	}
	return nil, bind.Refuse(tree.At, "", "this is not supported over several answers")
}

type several struct {
	*binder
	Parts
	tree *query.Select
	used []int // the releases that the question names, in order
	late []int // the answers of Bound.Late
	// A choice of rows by an answer that nothing else uses leaves the intervals of the rows as they are, because its
	// noise
	// is independent of theirs. apart assumes this of each x IN (SELECT …), and choices lists their places in used.
	apart   bool
	choices [][2]int
}

// independent reports whether no answer that chooses rows is used for anything else.
func (s *several) independent() bool {
	for _, c := range s.choices {
		for i, release := range s.used {
			if (i < c[0] || i >= c[1]) && slices.Contains(s.used[c[0]:c[1]], release) {
				return false
			}
		}
	}
	return true
}

// table is bound rows.
type table struct {
	frame
	of    source
	pairs float64 // about the number of rows, to which keys that differ keep joins
	open  bool    // a row may be missing because of noise
}

// selects binds a SELECT: it is measured, or computes with answers.
func (s *several) selects(q *query.Select) (*table, error) {
	var refused error
	if measured(q) && s.tree.Options == nil {
		for i, q := range []*query.Select{q, limited(q, s.Has), atMost(q)} {
			if q == nil {
				continue
			}
			p := divide(q, func(name string) bool { return s.Has(q, name) })
			p.Measured.Catalogs = s.tree.Catalogs
			a, err := s.Measure(p)
			if err == nil {
				s.used = append(s.used, a.Same)
				if i == 1 {
					s.late = append(s.late, a.Index)
				}
				in := frame{
					columns: positions(p.quotients(a.Columns), a.From), most: float64(a.Rows),
					empty: !a.Open && ofGroups(a.Columns, a.Rows),
				}
				out, err := s.over(p.split, &table{in, answered(a.Index), in.most, a.Open})
				return out, p.worded(err)
			}
			if i == 0 {
				refused = err
			}
		}
	}
	used, late, choices, inners := len(s.used), len(s.late), len(s.choices), len(s.inners)
	in, err := s.from(q)
	if err != nil && refused != nil {
		if over, inner := regrouped(q, s.Parts); over != nil {
			s.used, s.late, s.choices, s.inners = s.used[:used], s.late[:late], s.choices[:choices], s.inners[:inners]
			if t, err := s.divided(over, inner); t != nil || err != nil {
				return t, err
			}
		}
	}
	if err != nil {
		if refused != nil && readsRows(q.From.Relation) {
			err = refused
		}
		return nil, err
	}
	return s.over(q, in)
}

// divided binds the forms of regrouped. It returns none if a part has no answer.
func (s *several) divided(over, inner *query.Select) (*table, error) {
	in, err := s.from(over)
	if err != nil {
		return nil, nil
	}
	p := divide(inner, func(name string) bool { return s.Has(inner, name) })
	p.Measured.Catalogs = s.tree.Catalogs
	a, err := s.Measure(p)
	switch {
	case err != nil:
		return nil, nil
	case a.Open:
		return nil, bind.Refuse(over.At, "name the values: WHERE key IN ('a', 'b'); or add up the groups that are released: "+
			"FROM (SELECT key, COUNT(*) AS n FROM t GROUP BY key) q WHERE key IN (SELECT …)",
			"this question is measured by the keys that stand beside its ranking, whose values are unknown: "+
				"rows of small groups would be missing")
	}
	s.late = append(s.late, a.Index)
	return s.over(over, in)
}

// over binds a SELECT over rows.
func (s *several) over(q *query.Select, in *table) (*table, error) {
	t, err := s.bindSelect(q, in.frame)
	if err != nil {
		return nil, err
	}
	return &table{t.frame(), selected{in.of, t}, min(in.pairs, t.most), in.open && !t.whole}, nil
}

// readsRows reports whether FROM has a table, outside subqueries.
func readsRows(r query.Relation) bool {
	switch r := r.(type) {
	case nil, *query.Table:
		return true
	case *query.Join:
		return readsRows(r.L) || readsRows(r.R)
	case *query.List:
		for _, item := range r.Items {
			if readsRows(item) {
				return true
			}
		}
	}
	return false
}

// from binds FROM.
func (s *several) from(q *query.Select) (*table, error) {
	if q.From.None() {
		return &table{frame{most: 1}, lone{}, 1, false}, nil
	}
	if q.From.Relation == nil {
		return s.relation(&query.Table{At: q.From.At, Name: q.From.Table, Alias: q.From.Alias}, q.From.At)
	}
	list, ok := q.From.Relation.(*query.List)
	if !ok {
		return s.relation(q.From.Relation, q.From.At)
	}
	out, err := s.relation(list.Items[0], list.At)
	for _, item := range list.Items[1:] {
		if err != nil {
			return nil, err
		}
		var next *table
		if next, err = s.relation(item, item.Pos()); err == nil {
			out, err = s.join(out, next, &query.Join{At: item.Pos(), Kind: query.InnerJoin}, conjuncts(q.Where))
		}
	}
	return out, err
}

func (s *several) relation(r query.Relation, at query.Pos) (*table, error) {
	switch r := r.(type) {
	case *query.Subquery:
		out, err := s.subquery(r)
		if err == nil {
			out.table = r.Alias
		}
		return out, err
	case *query.Join:
		left, err := s.relation(r.L, r.L.Pos())
		if err != nil {
			return nil, err
		}
		right, err := s.relation(r.R, r.At)
		if err != nil {
			return nil, err
		}
		return s.join(left, right, r, nil)
	case *query.Table:
		return s.public(r)
	case *query.Constants:
		return s.constants(r)
	}
	return nil, bind.Refuse(at, "", "this cannot stand in FROM")
}

// public binds a public table. Its rows are exact.
func (s *several) public(r *query.Table) (*table, error) {
	if s.Public != nil {
		a, trouble, public := s.Public(r.Name)
		switch {
		case trouble != "":
			return nil, bind.Refuse(r.At, "join it to a table of persons, before the aggregates",
				"the rows of the public table %q are not read beside an answer: %s", r.Name, trouble)
		case public:
			rows := frame{columns: a.Columns, table: cmp.Or(r.Alias, r.Name), most: float64(a.Rows)}
			if slices.ContainsFunc(a.Columns, func(c Column) bool { return c.Noisy }) { // a stream
				s.used = append(s.used, a.Same)
			}
			return &table{rows, answered(a.Index), rows.most, false}, nil
		}
	}
	return nil, bind.Refuse(r.At, "aggregate the table in a subquery first", "rows of persons cannot be combined with an answer")
}

// subquery binds the SELECTs of a subquery, which UNION ALL combines.
func (s *several) subquery(r *query.Subquery) (*table, error) {
	var all []*table
	for _, q := range r.Branches {
		t, err := s.selects(q)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return unite(all, r)
}

// unite binds UNION ALL. The first SELECT names the columns.
func unite(all []*table, r *query.Subquery) (*table, error) {
	out := &table{of: united{}}
	width := len(all[0].columns)
	items, columns := make([][]*node, len(all)), make([]Column, width)
	for i, t := range all {
		if len(t.columns) != width {
			return nil, bind.Refuse(r.Branches[i].At, "select the same columns in each",
				"the SELECTs of UNION ALL have %d and %d columns", width, len(t.columns))
		}
		out.most, out.pairs, out.ranked = out.most+t.most, out.pairs+t.pairs, out.ranked || t.ranked
		out.open, out.empty = out.open || t.open, out.empty || t.empty
		if out.chosen == "" {
			out.chosen = t.chosen
		}
		out.sifted = out.sifted || t.sifted
	}
	for c := range width {
		ns, both := make([]*node, len(all)), &node{}
		for i, t := range all {
			ns[i] = t.column(c)
		}
		typ, err := alike(r.At, ns...)
		if err != nil {
			return nil, err
		}
		both.depends("", ns...)
		both.wide(ns...)
		columns[c] = Column{Width: max(both.width, 1), Name: all[0].columns[c].Name, Type: typ, Noisy: both.noisy, Why: both.why}
		for i, n := range ns {
			columns[c].whole = max(columns[c].whole, all[i].columns[c].whole)
			items[i] = append(items[i], as(n, both))
		}
	}
	out.columns = columns
	for i, t := range all {
		out.of = append(out.of.(united), selected{t.of, &stage{items: items[i], columns: columns}})
	}
	return out, nil
}

// column returns a column of rows as an expression. A column of NULLs alone has no type.
func (t *table) column(i int) *node {
	n := (&scope{frame: t.frame}).field(i)
	if t.columns[i].untyped {
		n.typ = 0
	}
	return n
}

// as returns a column of one SELECT as a column of the UNION ALL.
func as(n, of *node) *node {
	out := *n
	out.eval = func(e *env, r *row) Cell {
		c := n.eval(e, r)
		return certain(c, n, of)
	}
	return &out
}

// inner binds a subquery in an expression.
func (s *several) inner(of *scope, x *query.Nested) (*node, error) {
	for _, q := range x.Sub.Branches {
		if c := bind.OuterColumn(q); c != nil && !q.From.None() {
			return nil, bind.Refuse(c.At,
				"group a subquery of FROM by the column that it is compared with, and join the two answers: JOIN (SELECT x, COUNT(*) AS n FROM t GROUP BY x) q ON q.x = p.x",
				"this subquery is an answer of its own, and cannot read column %q of the question around it", c.Table+"."+c.Name)
		}
	}
	first, sifting := len(s.used), of.sifting
	of.sifting = false
	t, err := s.subquery(x.Sub)
	if err != nil {
		return nil, err
	}
	n := s.binder.subquery(t.of)
	switch {
	case x.Kind == query.ExistsNested:
		return n.exists(t.frame), nil
	case len(t.columns) != max(len(x.X), 1):
		return nil, bind.Refuse(x.At, "select as many columns as it is compared with",
			"this subquery over an answer has %d columns", len(t.columns))
	case x.Kind == query.InNested:
		left, err := of.bindAll(x.X)
		if err != nil {
			return nil, err
		}
		out, err := n.in(left, t.frame, x.At)
		if err == nil && s.apart && sifting && out.noisy && !slices.ContainsFunc(left, func(x *node) bool { return x.noisy }) {
			s.choices = append(s.choices, [2]int{first, len(s.used)})
			out.noisy, out.why, of.sifted = false, "", true
		}
		return out, err
	case t.most > 1:
		return nil, severalValues(x)
	}
	s.wholes[x] = t.columns[0].whole
	return n.value(t.frame), nil
}

// conjuncts returns the operands of AND.
func conjuncts(x query.Expr) []query.Expr {
	if x == nil {
		return nil
	}
	if b, ok := x.(*query.Binary); ok && b.Op == query.And {
		return append(conjuncts(b.L), conjuncts(b.R)...)
	}
	return []query.Expr{x}
}

// paired returns about the number of rows of a join.
func paired(l, r *table, keys bool) float64 {
	if keys { // keys usually differ, so this is no bound: Run stops at mostPairs
		return math.Max(l.pairs, r.pairs)
	}
	return l.pairs * r.pairs
}

// mostPaired returns a bound on the number of rows of a join. A side that is kept has a row at least for each of its rows.
func mostPaired(l, r *table, keepL, keepR bool) float64 {
	out := l.most * r.most
	switch {
	case keepL && keepR:
		return math.Max(out, l.most+r.most)
	case keepL:
		return math.Max(out, l.most)
	case keepR:
		return math.Max(out, r.most)
	}
	return out
}
