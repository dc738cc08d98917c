package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// The names of the subquery that distinctOnRows writes, and of its last column.
const (
	firstRows = "first_rows"
	rowNumber = "row_number"
)

// distinctOnRows converts SELECT DISTINCT ON (a) x, … FROM … ORDER BY a, b to
//
//	SELECT x, … FROM (SELECT x, …, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) FROM …) WHERE row_number = 1
//
// which has the same rows. If ordered is set, it is ordered by the first expressions of ORDER BY that are output
// columns: by all of them if a LIMIT or an OFFSET cuts rows off.
func (l *lowering) distinctOnRows(s *pg.SelectStmt, ordered bool) (*Select, error) {
	at := l.text.pos(l.find(pg.Token_DISTINCT))
	var by []*pg.Node
	for _, n := range s.GetDistinctClause() {
		by = append(by, output(s, n))
	}
	order, err := l.afterKeys(s, by, at)
	if err != nil {
		return nil, err
	}
	number := &pg.FuncCall{
		Funcname: []*pg.Node{pg.MakeStrNode(rowNumber)}, Over: &pg.WindowDef{PartitionClause: by, OrderClause: order},
	}
	target := &pg.ResTarget{Name: rowNumber, Val: &pg.Node{Node: &pg.Node_FuncCall{FuncCall: number}}}
	inner, err := l.selected(&pg.SelectStmt{
		TargetList: append(s.GetTargetList()[:len(s.GetTargetList()):len(s.GetTargetList())], &pg.Node{Node: &pg.Node_ResTarget{ResTarget: target}}),
		FromClause: s.GetFromClause(), WhereClause: s.GetWhereClause(), GroupClause: s.GetGroupClause(), HavingClause: s.GetHavingClause(),
		WindowClause: s.GetWindowClause(), IntoClause: s.GetIntoClause(), LockingClause: s.GetLockingClause(),
		GroupDistinct: s.GetGroupDistinct(), LimitOption: s.GetLimitOption(),
	}, l.subItems)
	if err != nil {
		return nil, err
	}
	inner.At = at
	out := &Select{From: From{At: at, Relation: &Subquery{At: at, Branches: []*Select{inner}, Alias: firstRows}}}
	one := &Literal{At: at, Kind: IntegerLiteral, Text: "1"}
	out.Where = &Binary{At: at, Op: Eq, L: &Column{At: at, Table: firstRows, Name: rowNumber}, R: one}
	if out.Items, err = outputs(inner.Items[:len(inner.Items)-1]); err != nil {
		return nil, err
	}
	if ordered {
		if err := l.orderOutputs(out, inner.Items, s, at); err != nil {
			return nil, err
		}
	}
	if out.Limit, err = l.count("LIMIT", s.GetLimitCount(), at); err != nil {
		return nil, err
	}
	out.Offset, err = l.count("OFFSET", s.GetLimitOffset(), at)
	return out, err
}

// cut reports whether a SELECT has LIMIT or OFFSET.
func cut(s *pg.SelectStmt) bool { return s.GetLimitCount() != nil || s.GetLimitOffset() != nil }

// outputs returns references to the output columns of a subquery, and names those that have no name.
func outputs(items []Item) (out []Item, err error) {
	for i := range items {
		item := &items[i]
		name := item.Alias
		switch x := item.Expr.(type) {
		case *Star:
			out = append(out, Item{Expr: &Star{At: x.At}})
			continue
		case *Column:
			if name == "" {
				name = x.Name
			}
		case *Call:
			if name == "" {
				name = x.Name
			}
		}
		if name == "" {
			return nil, &Error{
				Pos: item.Expr.Pos(), Message: "this column of SELECT DISTINCT ON needs a name", Hint: "name it, as in y + 1 AS z",
			}
		}
		item.Alias = name
		out = append(out, Item{Expr: &Column{At: item.Expr.Pos(), Name: name}, Alias: name})
	}
	return out, nil
}

// orderOutputs orders out by the first expressions of ORDER BY that are among its output columns, items.
func (l *lowering) orderOutputs(out *Select, items []Item, s *pg.SelectStmt, at Pos) error {
	for _, n := range s.GetSortClause() {
		o, err := l.order(&pg.Node{Node: &pg.Node_SortBy{SortBy: &pg.SortBy{
			Node: output(s, n.GetSortBy().GetNode()), SortbyDir: n.GetSortBy().GetSortbyDir(), SortbyNulls: n.GetSortBy().GetSortbyNulls(),
		}}}, at, 1)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(items, func(item Item) bool { return Print(item.Expr) == Print(o.Expr) })
		switch known := i >= 0 && i < len(out.Items); {
		case !known && cut(s):
			return &Error{
				Pos:     l.pos(n.GetSortBy().GetLocation(), at),
				Message: "SELECT DISTINCT ON with LIMIT is ordered by selected columns alone",
				Hint:    "select this expression too",
			}
		case !known:
			return nil
		}
		o.Expr = out.Items[i].Expr
		out.OrderBy = append(out.OrderBy, o)
	}
	return nil
}

// output returns the expression of an output column that a number or an alias stands for, and any other expression as
// it is.
func output(s *pg.SelectStmt, n *pg.Node) *pg.Node {
	targets := s.GetTargetList()
	if i := n.GetAConst().GetIval(); i != nil && i.GetIval() >= 1 && int(i.GetIval()) <= len(targets) {
		return targets[i.GetIval()-1].GetResTarget().GetVal()
	}
	fields := n.GetColumnRef().GetFields()
	if len(fields) != 1 || fields[0].GetString_() == nil {
		return n
	}
	for _, t := range targets {
		if t.GetResTarget().GetName() == fields[0].GetString_().GetSval() {
			return t.GetResTarget().GetVal()
		}
	}
	return n
}

// afterKeys returns ORDER BY without the expressions of DISTINCT ON, which must be the first of it, in any order.
func (l *lowering) afterKeys(s *pg.SelectStmt, by []*pg.Node, at Pos) ([]*pg.Node, error) {
	texts := map[string]bool{}
	for _, n := range by {
		e, err := l.expr(n, at, 1)
		if err != nil {
			return nil, err
		}
		texts[Print(e)] = true
	}
	var out []*pg.Node
	for i, n := range s.GetSortClause() {
		o := n.GetSortBy()
		of := output(s, o.GetNode())
		e, err := l.expr(of, at, 1)
		if err != nil {
			return nil, err
		}
		if key := texts[Print(e)]; key && len(out) == 0 {
			continue
		} else if i < len(texts) && !key {
			return nil, &Error{
				Pos: l.pos(o.GetLocation(), at), Message: "the first expressions of ORDER BY must be those of DISTINCT ON",
				Hint: "begin ORDER BY with them",
			}
		}
		out = append(out, &pg.Node{Node: &pg.Node_SortBy{SortBy: &pg.SortBy{
			Node: of, SortbyDir: o.GetSortbyDir(), SortbyNulls: o.GetSortbyNulls(), Location: o.GetLocation(),
		}}})
	}
	return out, nil
}
