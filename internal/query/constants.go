package query

import (
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Constants is a table of constants: (VALUES (1, 'a'), (2, 'b')) q (x, y) with at least two rows, or the values from one
// constant to another, generate_series(1, 10, 3) q (x). It may be combined with an answer.
type Constants struct {
	At      Pos
	Rows    [][]Expr // for a Series: one row of the first value, the last value and the step, which may be missing
	Series  bool
	Alias   string
	Columns []string
}

// Pos returns the position of VALUES, or of the function.
func (r *Constants) Pos() Pos { return r.At }

func (*Constants) isRelation() {}

// series is the name of the function in FROM whose rows are constants.
const series = "generate_series"

// called converts a function in FROM.
func (l *lowering) called(x *pg.RangeFunction, n *pg.Node) (Relation, error) {
	at := l.text.pos(l.after(pg.Token_FROM))
	functions := x.GetFunctions()
	if len(functions) != 1 || x.GetOrdinality() || len(x.GetColdeflist()) > 0 || len(functions[0].GetList().GetItems()) == 0 {
		return nil, l.refuseSource(n, at)
	}
	call := functions[0].GetList().GetItems()[0].GetFuncCall()
	name := ""
	for _, part := range call.GetFuncname() { // the last one, after pg_catalog
		name = part.GetString_().GetSval()
	}
	at = l.pos(call.GetLocation(), at)
	out := &Constants{At: at, Series: name == series, Alias: x.GetAlias().GetAliasname()}
	if out.Alias == "" {
		out.Alias = name
	}
	out.Columns = []string{out.Alias}
	if names := x.GetAlias().GetColnames(); len(names) == 1 {
		out.Columns[0] = names[0].GetString_().GetSval()
	} else if len(names) > 1 {
		return nil, l.refuseSource(n, at)
	}
	args := call.GetArgs()
	switch {
	case out.Series && (len(args) == 2 || len(args) == 3):
		row, err := l.exprs(args, at, 1)
		out.Rows = [][]Expr{row}
		return out, err
	case name == "unnest" && len(args) == 1:
		list, err := l.array(args[0], at, 1)
		for _, x := range list {
			out.Rows = append(out.Rows, []Expr{x})
		}
		if len(list) == 1 { // as VALUES of one row
			one := &Select{At: at, From: From{At: at}, Items: []Item{{Expr: list[0], Alias: out.Columns[0]}}}
			return &Subquery{At: at, Branches: []*Select{one}, Alias: out.Alias}, nil
		}
		return out, err
	}
	return nil, l.refuseSource(n, at)
}

// plainValues reports whether a statement is VALUES alone, without WITH, ORDER BY or LIMIT.
func plainValues(s *pg.SelectStmt) bool {
	return len(s.GetValuesLists()) > 0 && s.GetWithClause() == nil && len(s.GetSortClause()) == 0 && s.GetLimitCount() == nil &&
		s.GetLimitOffset() == nil && len(s.GetLockingClause()) == 0
}

// ofValues converts VALUES in FROM or WITH. One row (VALUES (a, b)) q (x, y) is (SELECT a AS x, b AS y) q. Columns
// without a name are column1, column2, …, as in PostgreSQL.
func (l *lowering) ofValues(s *pg.SelectStmt, alias string, names []*pg.Node, at Pos) (Relation, error) {
	if err := l.counted(1, at); err != nil {
		return nil, err
	}
	out := &Constants{At: at, Alias: alias}
	for _, n := range s.GetValuesLists() {
		row, err := l.exprs(n.GetList().GetItems(), at, 1)
		if err != nil {
			return nil, err
		}
		if out.Rows = append(out.Rows, row); len(row) != len(out.Rows[0]) || len(row) == 0 {
			return nil, &Error{Pos: at, Message: "the rows of VALUES have different numbers of columns", Hint: "give each row the same columns"}
		}
	}
	if len(names) > len(out.Rows[0]) {
		return nil, &Error{Pos: at, Message: "VALUES has fewer columns than its alias names", Hint: "name each column once, as in (VALUES (1, 2), (3, 4)) q (a, b)"}
	}
	for i := range out.Rows[0] {
		name := "column" + strconv.Itoa(i+1)
		if i < len(names) {
			name = names[i].GetString_().GetSval()
		}
		out.Columns = append(out.Columns, name)
	}
	if len(out.Rows) > 1 {
		return out, nil
	}
	one := &Select{At: at, From: From{At: at}}
	for i, x := range out.Rows[0] {
		one.Items = append(one.Items, Item{Expr: x, Alias: out.Columns[i]})
	}
	return &Subquery{At: at, Branches: []*Select{one}, Alias: alias}, nil
}

// series makes SELECT f(generate_series(a, b)), … into SELECT f(generate_series), … FROM generate_series(a, b).
func (s *Select) series() {
	if !s.From.None() || len(s.GroupBy) > 0 || s.Having != nil {
		return
	}
	var from *Constants
	calls, items := 0, slices.Clone(s.Items)
	for i, item := range items {
		items[i].Expr = Replace(item.Expr, func(e Expr) (Expr, bool) {
			c, ok := e.(*Call)
			if !ok || c.Name != series || c.Over != nil || c.Filter != nil || len(c.Args) != 2 && len(c.Args) != 3 {
				return e, false
			}
			calls++
			from = &Constants{At: c.At, Series: true, Rows: [][]Expr{c.Args}, Alias: series, Columns: []string{series}}
			if items[i].Alias == "" {
				items[i].Alias = series
			}
			return &Column{At: c.At, Name: series}, true
		})
	}
	if calls == 1 {
		s.Items, s.From = items, From{At: from.At, Relation: from}
	}
}

func (p *printer) constants(r *Constants) {
	if r.Series {
		p.write(series)
		p.list(r.Rows[0])
	} else {
		p.write("(VALUES ")
		for i, row := range r.Rows {
			p.comma(i)
			p.list(row)
		}
		p.write(")")
	}
	if p.alias(r.Alias); r.Alias == "" {
		return
	}
	p.write(" (")
	for i, name := range r.Columns {
		p.comma(i)
		p.write(quote(name))
	}
	p.write(")")
}
