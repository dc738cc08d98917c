package query

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// optional converts an expression, or returns nil if n is nil.
func (l *lowering) optional(n *pg.Node, at Pos, depth int) (Expr, error) {
	if n == nil {
		return nil, nil
	}
	return l.expr(n, at, depth)
}

// expr converts an expression. The parameter `at` is the position to use if the expression has none of its own. The
// parameter depth is the nesting depth of the expression within its clause, from 1.
func (l *lowering) expr(n *pg.Node, at Pos, depth int) (Expr, error) {
	if depth > l.maxDepth {
		return nil, l.tooDeep(at)
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return l.column(x.ColumnRef, at)
	case *pg.Node_AConst:
		return l.constant(x.AConst, l.pos(x.AConst.GetLocation(), at))
	case *pg.Node_AExpr:
		return l.operation(x.AExpr, l.pos(x.AExpr.GetLocation(), at), depth)
	case *pg.Node_BoolExpr:
		return l.boolean(x.BoolExpr, l.pos(x.BoolExpr.GetLocation(), at), depth)
	case *pg.Node_NullTest:
		negated := x.NullTest.GetNulltesttype() == pg.NullTestType_IS_NOT_NULL
		return l.is(x.NullTest.GetArg(), IsNull, negated, l.pos(x.NullTest.GetLocation(), at), depth)
	case *pg.Node_BooleanTest:
		return l.booleanTest(x.BooleanTest, l.pos(x.BooleanTest.GetLocation(), at), depth)
	case *pg.Node_CaseExpr:
		return l.caseExpr(x.CaseExpr, l.pos(x.CaseExpr.GetLocation(), at), depth)
	case *pg.Node_TypeCast:
		return l.cast(x.TypeCast, l.pos(x.TypeCast.GetLocation(), at), depth)
	case *pg.Node_FuncCall:
		return l.call(x.FuncCall, l.pos(x.FuncCall.GetLocation(), at), depth)
	case *pg.Node_CoalesceExpr:
		return l.form("coalesce", x.CoalesceExpr.GetArgs(), l.pos(x.CoalesceExpr.GetLocation(), at), depth)
	case *pg.Node_MinMaxExpr:
		name := "least"
		if x.MinMaxExpr.GetOp() == pg.MinMaxOp_IS_GREATEST {
			name = "greatest"
		}
		return l.form(name, x.MinMaxExpr.GetArgs(), l.pos(x.MinMaxExpr.GetLocation(), at), depth)
	case *pg.Node_SubLink:
		return l.nested(x.SubLink, l.pos(x.SubLink.GetLocation(), at), depth)
	case *pg.Node_SqlvalueFunction:
		if name, ok := serverWords[x.SqlvalueFunction.GetOp()]; ok && l.sources.none {
			return &Call{At: l.pos(x.SqlvalueFunction.GetLocation(), at), Name: name}, nil
		}
	case *pg.Node_AIndirection:
		if e, err := l.element(x.AIndirection, at, depth); e != nil || err != nil {
			return e, err
		}
	case *pg.Node_GroupingFunc:
		return l.form("grouping", x.GroupingFunc.GetArgs(), l.pos(x.GroupingFunc.GetLocation(), at), depth)
	}
	return nil, l.refuseNode(n, at)
}

// serverWords has the words for a server's names, which a SELECT without FROM may contain, and their functions' names.
var serverWords = map[pg.SQLValueFunctionOp]string{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG: "current_catalog", pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA: "current_schema",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_USER: "current_user", pg.SQLValueFunctionOp_SVFOP_SESSION_USER: "session_user",
	pg.SQLValueFunctionOp_SVFOP_USER: "user", pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE: "current_role",
}

func (l *lowering) tooDeep(at Pos) error {
	return &Error{
		Pos: at, Message: fmt.Sprintf("the expression is nested too deeply: more than %d levels", l.maxDepth),
		Hint: "nest less; for a long chain of ORs of one column write IN (…)",
	}
}

func (l *lowering) exprs(ns []*pg.Node, at Pos, depth int) ([]Expr, error) {
	var out []Expr
	for _, n := range ns {
		e, err := l.expr(n, at, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (l *lowering) column(c *pg.ColumnRef, at Pos) (Expr, error) {
	at = l.pos(c.GetLocation(), at)
	var names []string
	for _, f := range c.GetFields() {
		switch f.GetNode().(type) {
		case *pg.Node_String_:
			names = append(names, f.GetString_().GetSval())
		case *pg.Node_AStar:
			return nil, &Error{
				Pos: at, Message: "* is not answered: single rows are never returned",
				Hint: "name aggregates, such as COUNT(*) or AVG(x); `dither tables` shows the columns",
			}
		default:
			return nil, &Error{Pos: at, Message: "this column name is not supported"}
		}
	}
	n := len(names)
	if n == 0 {
		return nil, &Error{Pos: at, Message: "this column name is not supported"}
	}
	out := &Column{At: at, Name: names[n-1]}
	var err error
	if n > 1 {
		out.Table, err = l.tableInSchema(names[:n-1], quote(out.Name), at)
	}
	return out, err
}

// binaryOps maps the names of operators to those of the tree. The scanner has already replaced "!=" by "<>".
var binaryOps = map[string]BinaryOp{
	"+": Add, "-": Sub, "*": Mul, "/": Div, "%": Mod, "||": Concat, "=": Eq, "<>": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge,
}

// operation converts PostgreSQL's A_Expr: an operator, or one of many other forms that its grammar treats as
// operators.
func (l *lowering) operation(x *pg.A_Expr, at Pos, depth int) (Expr, error) {
	no := func(message, hint string) (Expr, error) { return nil, &Error{Pos: at, Message: message, Hint: hint} }
	name := operatorName(x.GetName())
	switch x.GetKind() {
	case pg.A_Expr_Kind_AEXPR_OP:
		return l.operator(x, name, at, depth)
	case pg.A_Expr_Kind_AEXPR_IN:
		return l.in(x, name == "<>", at, depth)
	case pg.A_Expr_Kind_AEXPR_LIKE:
		return l.like(x, name == "!~~", at, depth)
	case pg.A_Expr_Kind_AEXPR_ILIKE:
		return l.like(x, name == "!~~*", at, depth)
	case pg.A_Expr_Kind_AEXPR_BETWEEN:
		return l.between(x, false, at, depth)
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return l.between(x, true, at, depth)
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return l.form("nullif", []*pg.Node{x.GetLexpr(), x.GetRexpr()}, at, depth)
	case pg.A_Expr_Kind_AEXPR_BETWEEN_SYM:
		return l.symmetric(x, false, at, depth)
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return l.symmetric(x, true, at, depth)
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return l.similar(x, name == "!~", at, depth)
	case pg.A_Expr_Kind_AEXPR_DISTINCT:
		return l.distinct(x, false, at, depth)
	case pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return l.distinct(x, true, at, depth)
	case pg.A_Expr_Kind_AEXPR_OP_ANY:
		return l.anyOf(x, name, false, at, depth)
	case pg.A_Expr_Kind_AEXPR_OP_ALL:
		return l.anyOf(x, name, true, at, depth)
	default:
		return no("this operation is not supported", "")
	}
}

// operatorName returns the name of an operator. For a qualified name it returns OPERATOR(schema.name), which no
// table of this package contains.
func operatorName(names []*pg.Node) string {
	if len(names) == 1 {
		return names[0].GetString_().GetSval()
	}
	out := "OPERATOR("
	for i, n := range names {
		if i > 0 {
			out += "."
		}
		out += n.GetString_().GetSval()
	}
	return out + ")"
}

func (l *lowering) operator(x *pg.A_Expr, name string, at Pos, depth int) (Expr, error) {
	if x.GetLexpr() == nil {
		switch name {
		case "-":
			return l.negate(x.GetRexpr(), at, depth)
		case "+":
			return l.expr(x.GetRexpr(), at, depth+1)
		}
		return nil, refusePrefix(name, at)
	}
	if e, ok, err := l.pattern(x, name, at, depth); ok {
		return e, err
	}
	if name == "^" {
		return l.form("power", []*pg.Node{x.GetLexpr(), x.GetRexpr()}, at, depth)
	}
	op, ok := binaryOps[name]
	if !ok {
		return nil, refuseOperator(name, at)
	}
	if rowOf(x.GetLexpr()) != nil && rowOf(x.GetRexpr()) != nil {
		return l.compareRows(x, op, at, depth)
	}
	both, err := l.exprs([]*pg.Node{x.GetLexpr(), x.GetRexpr()}, at, depth+1)
	if err != nil {
		return nil, err
	}
	return &Binary{At: at, Op: op, L: both[0], R: both[1]}, nil
}

func (l *lowering) in(x *pg.A_Expr, negated bool, at Pos, depth int) (Expr, error) {
	if rowOf(x.GetLexpr()) != nil {
		return l.inRows(x, negated, at, depth)
	}
	left, err := l.expr(x.GetLexpr(), at, depth+1)
	if err != nil {
		return nil, err
	}
	list, err := l.exprs(x.GetRexpr().GetList().GetItems(), at, depth+1)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &Error{Pos: at, Message: "IN needs a list of values", Hint: "name them, as in IN (1, 2, 3)"}
	}
	return &In{At: at, X: left, List: list, Not: negated}, nil
}

func (l *lowering) like(x *pg.A_Expr, negated bool, at Pos, depth int) (Expr, error) {
	anyCase := x.GetKind() == pg.A_Expr_Kind_AEXPR_ILIKE
	// PostgreSQL's grammar represents ESCAPE as a call of like_escape
	if escape := x.GetRexpr().GetFuncCall(); qualified(escape, "like_escape") {
		left, err := l.expr(x.GetLexpr(), at, depth+1)
		if err != nil {
			return nil, err
		}
		pattern, err := l.escaped(escape, at, depth+1)
		return &Like{At: at, X: left, Pattern: pattern, Not: negated, AnyCase: anyCase}, err
	}
	both, err := l.exprs([]*pg.Node{x.GetLexpr(), x.GetRexpr()}, at, depth+1)
	if err != nil {
		return nil, err
	}
	return &Like{At: at, X: both[0], Pattern: both[1], Not: negated, AnyCase: anyCase}, nil
}

func (l *lowering) between(x *pg.A_Expr, negated bool, at Pos, depth int) (Expr, error) {
	bounds := x.GetRexpr().GetList().GetItems()
	if len(bounds) != 2 {
		return nil, &Error{Pos: at, Message: "BETWEEN needs two bounds", Hint: "name both, as in BETWEEN 1 AND 10"}
	}
	all, err := l.exprs([]*pg.Node{x.GetLexpr(), bounds[0], bounds[1]}, at, depth+1)
	if err != nil {
		return nil, err
	}
	return &Between{At: at, X: all[0], Lo: all[1], Hi: all[2], Not: negated}, nil
}
