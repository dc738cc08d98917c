package query

import (
	"fmt"
	"maps"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// with makes the names of a WITH clause visible, in order; each definition sees the earlier names. It returns a
// function that restores the earlier names after the statement is converted.
func (l *lowering) with(w *pg.WithClause) (restore func(), err error) {
	before := l.sources.named
	restore = func() { l.sources.named = before }
	if w == nil {
		return restore, nil
	}
	at := l.text.pos(l.find(pg.Token_WITH))
	if w.GetRecursive() {
		return restore, &Error{
			Pos:     at,
			Message: "WITH RECURSIVE is not supported: no bound on one person's rows would hold", Hint: "write WITH",
		}
	}
	l.sources.named = maps.Clone(before)
	if l.sources.named == nil {
		l.sources.named = map[string]named{}
	}
	fresh := map[string]bool{}
	for _, n := range w.GetCtes() {
		c := n.GetCommonTableExpr()
		at := l.pos(c.GetLocation(), at)
		query := c.GetCtequery().GetSelectStmt()
		switch {
		case query == nil:
			return restore, &Error{Pos: at, Message: "WITH takes only SELECT", Hint: "write WITH name AS (SELECT …)"}
		case c.GetSearchClause() != nil || c.GetCycleClause() != nil:
			return restore, &Error{Pos: at, Message: "SEARCH and CYCLE are not supported"}
		case fresh[c.GetCtename()]:
			return restore, &Error{Pos: at, Message: fmt.Sprintf("WITH defines the name %q twice", c.GetCtename())}
		}
		fresh[c.GetCtename()] = true
		already := l.sources.tables
		given, err := l.define(c, query, at)
		if err != nil {
			return restore, err
		}
		given.tables = l.sources.tables - already
		l.sources.named[c.GetCtename()] = given
		l.sources.tables = already // its tables are counted at each use
	}
	return restore, nil
}

// define converts the definition of a name in WITH.
func (l *lowering) define(c *pg.CommonTableExpr, of *pg.SelectStmt, at Pos) (named, error) {
	name, columns := c.GetCtename(), c.GetAliascolnames()
	if plainValues(of) {
		r, err := l.ofValues(of, name, columns, at)
		if err != nil {
			return named{}, err
		}
		if listed, ok := r.(*Constants); ok {
			return named{listed: listed}, nil
		}
		return named{branches: r.(*Subquery).Branches}, nil
	}
	s, err := l.subquery(of, name, at)
	if err == nil {
		err = renamed(s, columns, at)
	}
	if err != nil {
		return named{}, err
	}
	return named{branches: s.Branches}, nil
}

// subquery converts a subquery in FROM, or the definition of a name in WITH.
func (l *lowering) subquery(s *pg.SelectStmt, alias string, at Pos) (*Subquery, error) {
	if l.sources.nested++; l.sources.nested > maxNested {
		return nil, tooNested(at)
	}
	defer func() { l.sources.nested-- }()
	branches, err := l.branches(s, at, 1)
	if err != nil {
		return nil, err
	}
	if branches[0].At.Line > 0 {
		at = branches[0].At
	}
	return &Subquery{At: at, Branches: branches, Alias: alias}, nil
}

func tooNested(at Pos) *Error {
	return &Error{
		Pos: at, Message: fmt.Sprintf("subqueries are nested more than %d deep", maxNested),
		Hint: "nest less",
	}
}

// deep returns the nesting depth of a subquery with these branches, including itself. It visits no more nodes than
// the limit on tables allows.
func deep(branches []*Select) int {
	most := 0
	var relation func(r Relation)
	relation = func(r Relation) {
		switch r := r.(type) {
		case *Subquery:
			most = max(most, deep(r.Branches))
		case *Join:
			relation(r.L)
			relation(r.R)
		case *List:
			for _, item := range r.Items {
				relation(item)
			}
		}
	}
	for _, s := range branches {
		relation(s.From.Relation)
	}
	return most + 1
}

// branches returns the SELECTs that UNION ALL combines, or the single SELECT.
func (l *lowering) branches(s *pg.SelectStmt, at Pos, depth int) ([]*Select, error) {
	if s == nil || depth > maxTables {
		return nil, tooManyTables(at)
	}
	restore, err := l.with(s.GetWithClause())
	defer restore()
	if err != nil {
		return nil, err
	}
	switch s.GetOp() {
	case pg.SetOperation_SETOP_NONE, pg.SetOperation_SET_OPERATION_UNDEFINED:
		out, err := l.branch(s)
		return []*Select{out}, err
	default:
	}
	limits := pg.SelectStmt{LockingClause: s.GetLockingClause(), LimitOption: s.GetLimitOption()}
	if err := l.refuseClauses(&limits); err != nil {
		return nil, err
	}
	left, err := l.branches(s.GetLarg(), at, depth+1)
	if err != nil {
		return nil, err
	}
	right, err := l.branches(s.GetRarg(), at, depth+1)
	if err != nil {
		return nil, err
	}
	out := append(left, right...)
	if s.GetOp() != pg.SetOperation_SETOP_UNION || !s.GetAll() {
		out, err = together(s, left, right, at)
	}
	if err != nil || len(s.GetSortClause()) == 0 && s.GetLimitCount() == nil && s.GetLimitOffset() == nil {
		return out, err
	}
	whole := From{At: at, Relation: &Subquery{At: at, Branches: out}}
	of := &Select{At: at, Items: []Item{{Expr: &Star{At: at}}}, From: whole}
	return []*Select{of}, l.last(s, of, at)
}

// last converts the clauses after the last SELECT of a set operation, which are of the whole.
func (l *lowering) last(s *pg.SelectStmt, out *Select, at Pos) (err error) {
	for _, n := range s.GetSortClause() {
		o, err := l.order(n, at, 1)
		if err != nil {
			return err
		}
		out.OrderBy = append(out.OrderBy, o)
	}
	if out.Limit, err = l.count("LIMIT", s.GetLimitCount(), at); err != nil {
		return err
	}
	out.Offset, err = l.count("OFFSET", s.GetLimitOffset(), at)
	return err
}

// branch converts one SELECT of a subquery. It restricts the tokens to those of this SELECT, so that errors about
// clauses point into it.
func (l *lowering) branch(s *pg.SelectStmt) (*Select, error) {
	outer := l.tokens
	l.tokens = l.window()
	defer func() { l.tokens = outer }()
	at := l.text.pos(l.find(pg.Token_SELECT))
	convert := func() (*Select, error) { return l.selected(s, l.subItems) }
	if distinctOn(s) {
		convert = func() (*Select, error) { return l.distinctOnRows(s, cut(s)) }
	}
	out, err := convert()
	if out != nil {
		out.At = at
		out.series()
	}
	return out, err
}

// window returns the tokens of the next SELECT to convert. SELECTs are converted in the order of the text, so the
// offset after the last one identifies the next.
func (l *lowering) window() []*pg.ScanToken {
	for i, t := range l.tokens {
		if t.GetToken() != pg.Token_SELECT || int(t.GetStart()) < l.sources.after {
			continue
		}
		l.sources.after = int(t.GetEnd())
		return l.tokens[i:min(i+l.length(l.tokens[i:]), len(l.tokens))]
	}
	return l.tokens
}

// length returns the number of tokens that belong to the SELECT at the start of tokens.
func (l *lowering) length(tokens []*pg.ScanToken) int {
	open := 0
	for i, t := range tokens {
		switch t.GetToken() {
		case pg.Token_ASCII_40:
			open++
		case pg.Token_ASCII_41:
			if open--; open < 0 {
				return i
			}
		case pg.Token_UNION, pg.Token_INTERSECT, pg.Token_EXCEPT:
			if open == 0 {
				return i
			}
		default:
		}
	}
	return len(tokens)
}

// subItems converts the SELECT list of a subquery. In it, a star stands for the columns of its source.
func (l *lowering) subItems(targets []*pg.Node, start Pos) ([]Item, error) {
	var out []Item
	for _, n := range targets {
		star, err := l.starOf(n.GetResTarget().GetVal(), l.pos(n.GetResTarget().GetLocation(), start))
		if err != nil {
			return nil, err
		}
		if star != nil {
			out = append(out, Item{Expr: star})
			continue
		}
		items, err := l.items([]*pg.Node{n}, start)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	if len(out) == 0 {
		return nil, &Error{Pos: start, Message: "the SELECT list is empty", Hint: "name columns"}
	}
	return out, nil
}

// starOf returns the Star for * or table.*, or nil for any other expression.
func (l *lowering) starOf(n *pg.Node, at Pos) (*Star, error) {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 || fields[len(fields)-1].GetAStar() == nil {
		return nil, nil
	}
	out := &Star{At: at}
	var names []string
	for _, f := range fields[:len(fields)-1] {
		names = append(names, f.GetString_().GetSval())
	}
	var err error
	if len(names) > 0 {
		out.Table, err = l.tableInSchema(names, "*", at)
	}
	return out, err
}
