package query

import pg "github.com/pganalyze/pg_query_go/v6"

// Nested is a subquery in an expression: X IN (Sub), EXISTS (Sub), or (Sub), the one value that Sub selects. X has the
// expressions of a row (a, b) IN (SELECT …), and is empty for the other kinds. X NOT IN (Sub) and X <> ALL (Sub) are
// NOT X IN (Sub), and X = ANY (Sub) is X IN (Sub). The columns of Sub may be those of the SELECTs around it.
type Nested struct {
	At   Pos
	Kind NestedKind
	X    []Expr
	Sub  *Subquery // its Alias is ""
	// Apart is whether Sub is a side of INTERSECT or EXCEPT, so that the columns of the other side are no columns of it.
	Apart bool
}

// NestedKind distinguishes Nesteds.
type NestedKind int

// The kinds of Nested.
const (
	InNested NestedKind = iota + 1
	ExistsNested
	ValueNested
)

// Pos returns the position of IN, EXISTS or the parenthesis.
func (x *Nested) Pos() Pos { return x.At }

func (*Nested) isExpr() {}

// nested converts a subquery in an expression.
func (l *lowering) nested(x *pg.SubLink, at Pos, depth int) (Expr, error) {
	out := &Nested{At: at}
	not := false
	operator := operatorName(x.GetOperName())
	switch x.GetSubLinkType() {
	case pg.SubLinkType_EXISTS_SUBLINK:
		out.Kind = ExistsNested
	case pg.SubLinkType_EXPR_SUBLINK:
		out.Kind = ValueNested
	case pg.SubLinkType_ANY_SUBLINK:
		if len(x.GetOperName()) > 0 && operator != "=" {
			return nil, &Error{
				Pos: at, Message: "ANY and SOME take = only",
				Hint: "compare with one value: x > (SELECT MIN(y) …) for x > ANY (SELECT y …)",
			}
		}
		out.Kind = InNested
	case pg.SubLinkType_ALL_SUBLINK:
		if operator != "<>" {
			return nil, &Error{
				Pos: at, Message: "ALL takes <> only",
				Hint: "compare with one value: x > (SELECT MAX(y) …) for x > ALL (SELECT y …), where no y is NULL",
			}
		}
		out.Kind, not = InNested, true
	case pg.SubLinkType_ARRAY_SUBLINK:
		return nil, &Error{Pos: at, Message: "arrays are not supported", Hint: noSubquery}
	default:
		return nil, &Error{Pos: at, Message: "this subquery is not supported here", Hint: noSubquery}
	}
	var err error
	if out.Kind == InNested {
		row := []*pg.Node{x.GetTestexpr()}
		if r := x.GetTestexpr().GetRowExpr(); r != nil && len(r.GetArgs()) > 1 {
			row = r.GetArgs()
		}
		if out.X, err = l.exprs(row, at, depth+1); err != nil {
			return nil, err
		}
	}
	if out.Kind == InNested && len(out.X) == 1 {
		if list, err := l.inArray(x.GetSubselect().GetSelectStmt(), at, depth+1); list != nil || err != nil {
			return &In{At: at, X: out.X[0], List: list, Not: not}, err
		}
	}
	outer := l.sources.value
	l.sources.value = out.Kind == ValueNested
	defer func() { l.sources.value = outer }()
	if out.Sub, err = l.subquery(x.GetSubselect().GetSelectStmt(), "", at); err != nil {
		return nil, err
	}
	if out.Kind == ValueNested {
		if c := constantOf(out.Sub); c != nil {
			return c, nil
		}
	}
	if tableless(out.Sub) {
		return nil, noTable(out.Sub.At)
	}
	if not {
		return &Unary{At: at, Op: Not, X: out}, nil
	}
	return out, nil
}

func (p *printer) nested(x *Nested) {
	switch x.Kind {
	case InNested:
		if len(x.X) == 1 {
			p.expr(x.X[0], bindRange+1)
		} else {
			p.list(x.X)
		}
		p.write(" IN ")
	case ExistsNested:
		p.write("EXISTS ")
	default:
	}
	p.selects(x.Sub)
}
