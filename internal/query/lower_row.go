package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Rows of values, (a, b), stand in comparisons and before IN alone. Each comparison means the same as one of the single
// values, also where some are NULL.

// rowOf returns the elements of (a, b, …), or nil for any other expression.
func rowOf(n *pg.Node) []*pg.Node {
	if r := n.GetRowExpr(); r != nil && len(r.GetArgs()) > 1 {
		return r.GetArgs()
	}
	return nil
}

// rows converts the elements of two rows, which must be as many, and short, because they may be written twice.
func (l *lowering) rows(a, b *pg.Node, at Pos, depth int) (left, right []Expr, err error) {
	if len(rowOf(a)) != len(rowOf(b)) {
		return nil, nil, &Error{
			Pos: at, Message: "rows of values are compared with rows of as many values",
			Hint: "write (a, b) = (1, 2), or (a, b) IN ((1, 2), (3, 4))",
		}
	}
	if left, err = l.exprs(rowOf(a), at, depth); err != nil {
		return nil, nil, err
	}
	if right, err = l.exprs(rowOf(b), at, depth); err != nil {
		return nil, nil, err
	}
	for _, x := range append(append([]Expr(nil), left...), right...) {
		if !small(x) {
			return nil, nil, &Error{Pos: x.Pos(), Message: "a row of values takes short expressions", Hint: "compare the values one by one"}
		}
	}
	return left, right, nil
}

// inRows converts (a, b) IN ((1, 2), …) to a = 1 AND b = 2 OR ….
func (l *lowering) inRows(x *pg.A_Expr, negated bool, at Pos, depth int) (Expr, error) {
	var any []Expr
	for _, n := range x.GetRexpr().GetList().GetItems() {
		left, right, err := l.rows(x.GetLexpr(), n, at, depth+10)
		if err != nil {
			return nil, err
		}
		any = append(any, equalRows(left, right, at))
	}
	if len(any) == 0 || depth+10+len(rowOf(x.GetLexpr())) > l.maxDepth {
		return nil, l.tooDeep(at)
	}
	return negation(balanced(any, at), negated), nil
}

// balanced returns the OR of expressions, nested no deeper than necessary.
func balanced(xs []Expr, at Pos) Expr {
	if len(xs) == 1 {
		return xs[0]
	}
	half := len(xs) / 2
	return &Binary{At: at, Op: Or, L: balanced(xs[:half], at), R: balanced(xs[half:], at)}
}

func equalRows(left, right []Expr, at Pos) (out Expr) {
	for i := range left {
		eq := &Binary{At: at, Op: Eq, L: left[i], R: right[i]}
		if out == nil {
			out = eq
		} else {
			out = &Binary{At: at, Op: And, L: out, R: eq}
		}
	}
	return out
}

// compareRows converts (a, b) op (c, d). The first values that differ decide the order.
func (l *lowering) compareRows(x *pg.A_Expr, op BinaryOp, at Pos, depth int) (Expr, error) {
	left, right, err := l.rows(x.GetLexpr(), x.GetRexpr(), at, depth+3*max(len(rowOf(x.GetLexpr())), 1))
	if err != nil {
		return nil, err
	}
	strict := map[BinaryOp]BinaryOp{Lt: Lt, Le: Lt, Gt: Gt, Ge: Gt}[op]
	switch {
	case op == Eq || op == Ne:
		return negation(equalRows(left, right, at), op == Ne), nil
	case op != Lt && op != Le && op != Gt && op != Ge:
		return nil, &Error{Pos: at, Message: "rows of values can only be compared", Hint: "compute with the values one by one"}
	}
	last := len(left) - 1
	var out Expr = &Binary{At: at, Op: op, L: left[last], R: right[last]}
	for i := last - 1; i >= 0; i-- {
		same := &Binary{At: at, Op: Eq, L: left[i], R: right[i]}
		out = &Binary{
			At: at, Op: Or, L: &Binary{At: at, Op: strict, L: left[i], R: right[i]},
			R: &Binary{At: at, Op: And, L: same, R: out},
		}
	}
	return out, nil
}
