package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Grouping is an item of GROUP BY other than a plain expression: ROLLUP (Args), CUBE (Args), GROUPING SETS (Args), or a
// list that counts as one, (a, b) or (). It occurs in GROUP BY and inside other Groupings only.
//
//   - Together: Args are expressions, none or at least two. A single expression in parentheses is an expression.
//   - Rollup, Cube: Args are expressions and Together of at least two; at least one.
//   - Sets: Args are expressions and Groupings of any kind; at least one.
type Grouping struct {
	At   Pos
	Kind GroupingKind
	Args []Expr
}

// GroupingKind distinguishes Groupings.
type GroupingKind int

// The kinds of Grouping.
const (
	Together GroupingKind = iota + 1
	Rollup
	Cube
	Sets
)

var groupingNames = map[GroupingKind]string{Rollup: "ROLLUP ", Cube: "CUBE ", Sets: "GROUPING SETS "}

// Pos returns the position of the keyword or the parenthesis.
func (x *Grouping) Pos() Pos { return x.At }

func (*Grouping) isExpr() {}

// groupItem converts one item of GROUP BY.
func (l *lowering) groupItem(n *pg.Node, at Pos, depth int) (Expr, error) {
	if depth > l.maxDepth {
		return nil, l.tooDeep(at)
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_GroupingSet:
		return l.groupingSet(x.GroupingSet, l.pos(x.GroupingSet.GetLocation(), at), depth)
	case *pg.Node_RowExpr:
		if x.RowExpr.GetRowFormat() == pg.CoercionForm_COERCE_IMPLICIT_CAST {
			return l.together(x.RowExpr.GetArgs(), l.pos(x.RowExpr.GetLocation(), at), depth)
		}
	}
	return l.expr(n, at, depth)
}

func (l *lowering) groupingSet(s *pg.GroupingSet, at Pos, depth int) (Expr, error) {
	out := &Grouping{At: at}
	switch s.GetKind() {
	case pg.GroupingSetKind_GROUPING_SET_EMPTY:
		out.Kind = Together
		return out, nil
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		out.Kind = Rollup
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		out.Kind = Cube
	case pg.GroupingSetKind_GROUPING_SET_SETS:
		out.Kind = Sets
	default:
		return nil, &Error{Pos: at, Message: "this is not supported here"}
	}
	for _, n := range s.GetContent() {
		e, err := l.groupItem(n, at, depth+1)
		if err != nil {
			return nil, err
		}
		if g, ok := e.(*Grouping); ok && out.Kind != Sets && (g.Kind != Together || len(g.Args) == 0) {
			return nil, &Error{
				Pos: g.At, Message: "ROLLUP and CUBE take expressions, and lists of them",
				Hint: "use GROUPING SETS",
			}
		}
		out.Args = append(out.Args, e)
	}
	if len(out.Args) == 0 {
		return nil, &Error{Pos: at, Message: "a grouping set needs something to group by"}
	}
	return out, nil
}

// together converts (a, b), which GROUP BY treats as one item.
func (l *lowering) together(args []*pg.Node, at Pos, depth int) (Expr, error) {
	out := &Grouping{At: at, Kind: Together}
	for _, n := range args {
		e, err := l.expr(n, at, depth+1)
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, e)
	}
	if len(out.Args) < 2 {
		return nil, &Error{
			Pos: at, Message: "rows of values are not supported",
			Hint: "list or compare the values one by one",
		}
	}
	return out, nil
}

// grouping prints a Grouping.
func (p *printer) grouping(x *Grouping) {
	p.write(groupingNames[x.Kind])
	p.list(x.Args)
}
