package query

import (
	"strconv"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// lowering converts PostgreSQL's raw parse tree to the tree of this package. It assumes nothing about the shape of
// the raw tree. Protobuf's getters accept nil, every switch over node types ends in a refusal, and every index is
// checked. So an unknown node is refused, and never causes a panic.
type lowering struct {
	text     text
	places   places
	tokens   []*pg.ScanToken // all tokens except comments
	maxDepth int
	stars    map[int]bool             // the offsets of the asterisks in COUNT(*, name => value)
	alls     map[int]bool             // the offsets of ALL in GROUP BY ALL and ORDER BY ALL
	windows  map[string]*pg.WindowDef // the windows that the WINDOW clause of the current SELECT defines
	sources  sources
	google   bool           // whether the question has GoogleSQL's clause
	zone     *time.Location // in which constants with an offset from UTC are read; nil means UTC
}

// pos returns the position of an offset. For 0 and −1, by which the parser means that the position is unknown, it
// returns fallback. (No expression begins at offset 0, because a statement begins with a keyword.)
func (l *lowering) pos(location int32, fallback Pos) Pos {
	if location <= 0 {
		return fallback
	}
	return l.places.pos(l.text, int(location))
}

func (l *lowering) selectStmt(s *pg.SelectStmt) (*Select, error) {
	if s.GetOp() == pg.SetOperation_SETOP_UNION {
		return l.union(s)
	}
	restore, err := l.with(s.GetWithClause())
	defer restore()
	if err != nil {
		return nil, err
	}
	l.sources.after = max(l.sources.after, l.find(pg.Token_SELECT)+1)
	l.sources.none = len(s.GetFromClause()) == 0
	if distinctOn(s) && !l.google {
		return l.distinctOnRows(s, true)
	}
	items := l.subItems
	if len(s.GetTargetList()) == 0 {
		items = l.items
	}
	return l.selected(s, items)
}

// selected converts a SELECT. The function items converts its list.
func (l *lowering) selected(s *pg.SelectStmt, items func([]*pg.Node, Pos) ([]Item, error)) (*Select, error) {
	start, first := l.text.pos(l.find(pg.Token_SELECT)), len(l.sources.tableNames)
	if err := l.refuseClauses(s); err != nil {
		return nil, err
	}
	outer := l.windows
	l.windows = defined(s)
	defer func() { l.windows = outer }()
	out := &Select{}
	if out.Distinct = len(s.GetDistinctClause()) > 0; out.Distinct {
		out.DistinctAt = l.text.pos(l.find(pg.Token_DISTINCT))
	}
	var err error
	targets, moved := spread(s.GetTargetList())
	if out.Items, err = items(targets, start); err != nil {
		return nil, err
	}
	if out.From, err = l.from(s.GetFromClause(), start); err != nil {
		return nil, err
	}
	if out.Where, err = l.optional(s.GetWhereClause(), start, 1); err != nil {
		return nil, err
	}
	for _, n := range s.GetGroupClause() {
		if l.stands(n) {
			if out.GroupBy, err = keysOf(out.Items); err != nil {
				return nil, err
			}
			continue
		}
		e, err := l.groupItem(n, start, 1)
		if err != nil {
			return nil, err
		}
		out.GroupBy = append(out.GroupBy, atPlace(e, moved))
	}
	if out.Having, err = l.optional(s.GetHavingClause(), start, 1); err != nil {
		return nil, err
	}
	for _, n := range s.GetSortClause() {
		if l.stands(n.GetSortBy().GetNode()) {
			if out.OrderBy, err = l.ordersOf(out.Items, n.GetSortBy(), start); err != nil {
				return nil, err
			}
			continue
		}
		o, err := l.order(n, start, 1)
		if err != nil {
			return nil, err
		}
		o.Expr = atPlace(o.Expr, moved)
		out.OrderBy = append(out.OrderBy, o)
	}
	if out.Limit, err = l.count("LIMIT", s.GetLimitCount(), start); err != nil {
		return nil, err
	}
	if out.Offset, err = l.count("OFFSET", s.GetLimitOffset(), start); err != nil {
		return nil, err
	}
	out.filled()
	return out, l.ofTables(first, out.From)
}

func (l *lowering) items(targets []*pg.Node, start Pos) ([]Item, error) {
	if len(targets) == 0 {
		return nil, &Error{Pos: start, Message: "the SELECT list is empty", Hint: "name an aggregate, such as COUNT(*)"}
	}
	items := make([]Item, len(targets))
	for i, n := range targets {
		t := n.GetResTarget()
		at := l.pos(t.GetLocation(), start)
		if t == nil || len(t.GetIndirection()) > 0 {
			return nil, &Error{Pos: at, Message: "this is not allowed in a SELECT list"}
		}
		e, err := l.expr(t.GetVal(), at, 1)
		if err != nil {
			return nil, err
		}
		items[i] = Item{Expr: e, Alias: t.GetName()}
		if t.GetVal().GetTypeCast() != nil {
			items[i].Name, _ = figured(t.GetVal())
		}
	}
	return items, nil
}

func (l *lowering) order(n *pg.Node, start Pos, depth int) (Order, error) {
	s := n.GetSortBy()
	at := l.pos(s.GetLocation(), start)
	e, err := l.expr(s.GetNode(), at, depth)
	if err != nil {
		return Order{}, err
	}
	return direction(Order{Expr: e}, s, at)
}

// direction adds the direction of an ORDER BY.
func direction(out Order, s *pg.SortBy, at Pos) (Order, error) {
	switch s.GetSortbyDir() {
	case pg.SortByDir_SORTBY_DEFAULT, pg.SortByDir_SORTBY_ASC:
	case pg.SortByDir_SORTBY_DESC:
		out.Desc = true
	default:
		return Order{}, &Error{Pos: at, Message: "ORDER BY … USING is not supported", Hint: "write ASC or DESC"}
	}
	first := s.GetSortbyNulls() == pg.SortByNulls_SORTBY_NULLS_FIRST
	if first || s.GetSortbyNulls() == pg.SortByNulls_SORTBY_NULLS_LAST {
		out.NullsFirst = &first
	}
	return out, nil
}

// count returns the number of LIMIT or OFFSET, or nil if there is none. ALL and NULL mean no limit, as in
// PostgreSQL.
func (l *lowering) count(clause string, n *pg.Node, start Pos) (*int64, error) {
	e, err := l.optional(n, start, 1)
	if digits := n.GetAConst().GetFval().GetFval(); err != nil && strings.Trim(digits, "0123456789") == "" {
		return nil, &Error{Pos: l.pos(n.GetAConst().GetLocation(), start), Message: clause + " takes a whole number below 2⁶³", Hint: "leave " + clause + " out"}
	}
	if e == nil || err != nil {
		return nil, err
	}
	if x, ok := e.(*Literal); ok {
		if x.Kind == NullLiteral {
			return nil, nil
		}
		if v, err := strconv.ParseInt(x.Text, 10, 64); x.Kind == IntegerLiteral && err == nil && v >= 0 {
			return &v, nil
		}
	}
	return nil, &Error{
		Pos: e.Pos(), Message: clause + " takes a whole number of at least 0",
		Hint: "write a constant, such as " + clause + " 10",
	}
}
