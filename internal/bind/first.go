package bind

import (
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// firsts returns s with each window function in a subquery of FROM replaced by 1, if WHERE or the condition of a join
// keeps the rows in which it is 1 alone. The replaced functions are the subqueries' First.
//
//	SELECT … FROM (SELECT …, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS n FROM …) q WHERE q.n = 1
//
// Claim: the answer stays the same if the subquery keeps its first rows alone. Proof: a row of the subquery with
// another number makes no row of s: a row of an inner join, or of the outer side of an outer join, that it is part of
// is dropped by the condition n = 1 in WHERE; and a condition n = 1 in the ON of an inner join, or of a left join of
// which the subquery is the right side, lets such a row match nothing. In a left join by ON, a row of the left side
// without another match stays with NULLs in both cases. In a left join with n = 1 in WHERE, such a row has n NULL, and
// WHERE drops it. ∎
func firsts(s *query.Select) *query.Select {
	r := firstsIn(s.From.Relation, numbered(s.Where))
	if r == s.From.Relation {
		return s
	}
	out := *s
	out.From.Relation = r
	return &out
}

// numbered returns the columns that a condition equates with 1, or bounds by it.
func numbered(x query.Expr) (out []*query.Column) {
	if x == nil {
		return nil
	}
	for _, x := range split(x) {
		b, ok := x.(*query.Binary)
		if !ok {
			continue
		}
		l, op, r := b.L, b.Op, b.R
		if _, constant := l.(*query.Literal); constant && op == query.Eq {
			l, r = r, l
		}
		c, isColumn := l.(*query.Column)
		n, isConstant := r.(*query.Literal)
		if isColumn && isConstant && n.Kind == query.IntegerLiteral &&
			((op == query.Eq || op == query.Le) && n.Text == "1" || op == query.Lt && n.Text == "2") {
			out = append(out, c)
		}
	}
	return out
}

func firstsIn(r query.Relation, columns []*query.Column) query.Relation {
	switch r := r.(type) {
	case *query.List:
		out := *r
		out.Items = slices.Clone(r.Items)
		changed := false
		for i, item := range r.Items {
			out.Items[i] = firstsIn(item, columns)
			changed = changed || out.Items[i] != item
		}
		if changed {
			return &out
		}
	case *query.Join:
		on := numbered(r.On)
		inL, inR := columns, columns
		if r.Kind == query.InnerJoin || r.Kind == query.LeftJoin {
			inR = slices.Concat(columns, on)
		}
		if r.Kind == query.InnerJoin {
			inL = inR
		}
		if r.Kind != query.InnerJoin && r.Kind != query.LeftJoin {
			return r
		}
		out := *r
		if out.L, out.R = firstsIn(r.L, inL), firstsIn(r.R, inR); out.L != r.L || out.R != r.R {
			return &out
		}
	case *query.Subquery:
		return firstsOf(r, columns)
	}
	return r
}

// firstsOf returns a subquery with the window function that one of the columns names replaced.
func firstsOf(q *query.Subquery, columns []*query.Column) query.Relation {
	if len(q.Branches) != 1 || q.Lateral || grouped(q.Branches[0]) || q.Branches[0].Distinct || q.Branches[0].Limit != nil {
		return q
	}
	s := q.Branches[0]
	for i, item := range s.Items {
		call, ok := item.Expr.(*query.Call)
		name := item.Alias
		if ok && name == "" {
			name = call.Name
		}
		if !ok || call.Over == nil || len(call.Over.Partition) == 0 || len(call.Args) > 0 || call.Star ||
			!slices.Contains([]string{"row_number", "rank", "dense_rank"}, call.Name) ||
			!slices.ContainsFunc(columns, func(c *query.Column) bool {
				return c.Name == name && (c.Table == "" || c.Table == q.Alias)
			}) {
			continue
		}
		branch, out := *s, *q
		branch.Items = slices.Clone(s.Items)
		branch.Items[i] = query.Item{Expr: &query.Literal{At: call.At, Kind: query.IntegerLiteral, Text: "1"}, Alias: name}
		branch.First = call
		out.Branches = []*query.Select{&branch}
		return &out
	}
	return q
}

// first keeps the first rows of each person, as the window function says: one row, or with RANK all rows that are equal
// in the order.
//
// Claim: the result is a function of each unit's own rows, and a unit has at most one row in it, or with ties as many
// as before. Proof: for one key after the other, the source is joined with one row for each unit, of the least value of
// the key (PerUnit), which depends on the unit's rows alone; a condition on single rows then keeps some of them.
// Without ties, one row for each unit is joined with at most one row (Most) of the same unit. Both joins pair rows of
// one unit, so the claim of bounded.Source holds. ∎
//
// The least value is the first one, with its NULLs where ORDER BY puts them: if NULLs come last, the least value is
// NULL only if all are. If NULLs come first, one NULL is enough.
func (f from) first(r *Relation, call *query.Call) error {
	at := call.Over.At
	unit, err := r.firstUnit(call)
	if err != nil {
		return err
	}
	for _, o := range call.Over.Order {
		if err := f.leastOf(r, o, unit, at); err != nil {
			return err
		}
		if scans(r.Source) > maxScans {
			return Refuse(at, "order by fewer columns", "a window with so many columns in ORDER BY is not supported")
		}
	}
	if call.Name == "row_number" && r.unit.RowsPerUnit > 1 {
		r.oneRow()
	}
	return nil
}

// only drops the names that a SELECT with first rows does not mention.
func (r *Relation) only(s *query.Select) {
	all := false
	var read []*query.Column
	note := func(x query.Expr) {
		_, _ = query.Rewrite(x, func(e query.Expr) (query.Expr, error) {
			switch e := e.(type) {
			case *query.Star:
				all = true
			case *query.Column:
				read = append(read, e)
			}
			return e, nil
		})
	}
	for _, item := range s.Items {
		note(item.Expr)
	}
	for _, x := range s.First.Over.Partition {
		note(x)
	}
	for _, o := range s.First.Over.Order {
		note(o.Expr)
	}
	if all {
		return
	}
	r.Names = slices.DeleteFunc(slices.Clone(r.Names), func(n Name) bool {
		return !n.unit && !slices.ContainsFunc(read, func(c *query.Column) bool {
			return c.Name == n.name && (c.Table == "" || c.Table == n.table)
		})
	})
}

// firstUnit returns a reference to the unit's column, by which the window divides the rows.
func (r *Relation) firstUnit(call *query.Call) (*query.Column, error) {
	if r.public || r.unit.IsRow() {
		return nil, unwindowed(call)
	}
	if by := call.Over.Partition; len(by) == 1 {
		if c, ok := by[0].(*query.Column); ok {
			n, err := r.Find(c)
			if err != nil {
				return nil, err
			}
			if n.unit {
				return c, nil
			}
		}
	}
	e := RefuseHere(call.Over.At, "write PARTITION BY"+strings.TrimPrefix(r.unitName(), ",")+" alone, for the first rows of each person",
		"a window over single rows may divide them by the person alone: other windows compare rows of different persons")
	e.Instead = OverAnswer
	return nil, e
}

// leastOf keeps the rows of each unit that come first in one order.
func (f from) leastOf(r *Relation, o query.Order, unit *query.Column, at query.Pos) error {
	key, err := r.Row(o.Expr)
	if err != nil {
		return err
	}
	if key.Type == value.Boolean {
		if key, err = r.Row(&query.Cast{At: at, X: o.Expr, Type: "integer"}); err != nil {
			return err
		}
	}
	if key.Op == bounded.OpConst {
		return nil
	}
	if key.Type == value.Interval {
		return Refuse(o.Expr.Pos(), "order by EXTRACT(epoch FROM x)", "a window cannot be ordered by an interval here")
	}
	name := Name{table: f.hiddenTable(), name: "key", e: key, merged: true}
	own := r.Names
	r.Names = append(slices.Clone(own), name)
	in := r.materialize()
	column := &query.Column{At: at, Table: name.table, Name: name.name}
	by, err := r.Find(unit)
	if err != nil {
		return err
	}
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{in}, Units: true, Single: true}
	per.Exprs, per.Columns = []*bounded.Expr{by.e}, []bounded.Column{r.output("unit", by.e)}
	aggregates := []*query.Call{{At: at, Name: "min", Args: []query.Expr{column}}}
	if o.Desc {
		aggregates[0].Name = "max"
	}
	null := &query.Is{At: at, X: column, What: query.IsNull}
	nullsFirst := o.Desc
	if o.NullsFirst != nil {
		nullsFirst = *o.NullsFirst
	}
	if nullsFirst {
		aggregates = append(aggregates, &query.Call{At: at, Name: "bool_or", Args: []query.Expr{null}})
	}
	list := &Scope{
		Source: per, computed: r.computed,
		inside: &inside{input: r, rows: r.unit.RowsPerUnit, per: per, keys: []Name{{e: by.e}}},
	}
	var found []*bounded.Expr
	for _, a := range aggregates {
		e, err := list.innerCall(a)
		if err != nil {
			return err
		}
		found = append(found, e)
	}
	join := &bounded.Source{
		Op: bounded.Join, Inputs: []*bounded.Source{in, per}, Units: true, Most: 1, Single: in.Single,
		Columns: append(slices.Clone(in.Columns), per.Columns...),
	}
	names := slices.Clone(r.Names)
	for i := range names {
		names[i].e = shifted(names[i].e, 0, join)
	}
	var refs []query.Expr
	for _, e := range found {
		n := Name{table: f.hiddenTable(), name: "least", e: join.Column(len(in.Columns) + e.Column), merged: true}
		names = append(names, n)
		refs = append(refs, &query.Column{At: at, Table: n.table, Name: n.name})
	}
	r.Scope = Scope{Names: names, Source: join, Columns: join.Columns, computed: r.computed}
	equal := query.Expr(&query.Binary{At: at, Op: query.Eq, L: column, R: refs[0]})
	if nullsFirst {
		equal = &query.Case{At: at, Whens: []query.When{{Cond: refs[1], Result: null}}, Else: equal}
	} else {
		equal = &query.Binary{At: at, Op: query.Or, L: equal, R: &query.Is{At: at, X: refs[0], What: query.IsNull}}
	}
	e, err := r.Condition(equal)
	if err != nil {
		return err
	}
	if err := r.restrict(e, at); err != nil {
		return err
	}
	r.Names = r.Names[:len(own)]
	r.materialize()
	return nil
}

// oneRow keeps one row of each unit. Which one depends on the contents of that unit's rows alone.
func (r *Relation) oneRow() {
	in := r.materialize()
	i := slices.IndexFunc(r.Names, func(n Name) bool { return n.unit })
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{in}, Units: true, Single: true}
	per.Exprs, per.Columns = []*bounded.Expr{r.Names[i].e}, []bounded.Column{r.output("unit", r.Names[i].e)}
	join := &bounded.Source{
		Op: bounded.Join, Inputs: []*bounded.Source{per, in}, Units: true, Most: 1, Single: true,
		Columns: append(slices.Clone(per.Columns), in.Columns...),
	}
	names := slices.Clone(r.Names)
	for i := range names {
		names[i].e = join.Column(names[i].e.Column + 1)
		names[i].copies = min(names[i].copies, 1)
	}
	r.Scope = Scope{Names: names, Source: join, Columns: join.Columns, computed: r.computed}
	r.unit.RowsPerUnit, r.unit.MaxGroups, r.unit.RowsPerGroup = 1, 1, 1
}
