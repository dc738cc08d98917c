package query

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// boolean converts AND, OR and NOT. PostgreSQL represents a chain of ANDs as one node with many arguments. The tree
// of this package nests them to the left.
func (l *lowering) boolean(x *pg.BoolExpr, at Pos, depth int) (Expr, error) {
	args, op := x.GetArgs(), And
	switch x.GetBoolop() {
	case pg.BoolExprType_NOT_EXPR:
		if len(args) != 1 {
			return nil, &Error{Pos: at, Message: "NOT takes one condition"}
		}
		arg, err := l.expr(args[0], at, depth+1)
		if err != nil {
			return nil, err
		}
		return &Unary{At: at, Op: Not, X: arg}, nil
	case pg.BoolExprType_OR_EXPR:
		op = Or
	case pg.BoolExprType_AND_EXPR:
	default:
		return nil, &Error{Pos: at, Message: "this is not supported here"}
	}
	var out Expr
	for i, arg := range args {
		e, err := l.expr(arg, at, depth+len(args)-max(i, 1)) // the argument's depth in the nested chain
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = e
			continue
		}
		out = &Binary{At: at, Op: op, L: out, R: e}
	}
	if out == nil {
		return nil, &Error{Pos: at, Message: op.String() + " takes two conditions"}
	}
	return out, nil
}

func (l *lowering) is(arg *pg.Node, what IsWhat, negated bool, at Pos, depth int) (Expr, error) {
	e, err := l.expr(arg, at, depth+1)
	if err != nil {
		return nil, err
	}
	return &Is{At: at, X: e, What: what, Not: negated}, nil
}

func (l *lowering) booleanTest(x *pg.BooleanTest, at Pos, depth int) (Expr, error) {
	switch x.GetBooltesttype() {
	case pg.BoolTestType_IS_TRUE:
		return l.is(x.GetArg(), IsTrue, false, at, depth)
	case pg.BoolTestType_IS_NOT_TRUE:
		return l.is(x.GetArg(), IsTrue, true, at, depth)
	case pg.BoolTestType_IS_FALSE:
		return l.is(x.GetArg(), IsFalse, false, at, depth)
	case pg.BoolTestType_IS_NOT_FALSE:
		return l.is(x.GetArg(), IsFalse, true, at, depth)
	case pg.BoolTestType_IS_UNKNOWN:
		return l.is(x.GetArg(), IsUnknown, false, at, depth)
	case pg.BoolTestType_IS_NOT_UNKNOWN:
		return l.is(x.GetArg(), IsUnknown, true, at, depth)
	default:
		return nil, &Error{Pos: at, Message: "this is not supported here"}
	}
}

func (l *lowering) caseExpr(x *pg.CaseExpr, at Pos, depth int) (Expr, error) {
	out := &Case{At: at}
	var err error
	if out.Operand, err = l.optional(x.GetArg(), at, depth+1); err != nil {
		return nil, err
	}
	for _, n := range x.GetArgs() {
		w := n.GetCaseWhen()
		when := l.pos(w.GetLocation(), at)
		both, err := l.exprs([]*pg.Node{w.GetExpr(), w.GetResult()}, when, depth+1)
		if err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, When{Cond: both[0], Result: both[1]})
	}
	if len(out.Whens) == 0 {
		return nil, &Error{Pos: at, Message: "CASE needs a WHEN"}
	}
	if out.Else, err = l.optional(x.GetDefresult(), at, depth+1); err != nil {
		return nil, err
	}
	return out, nil
}

// forms are the functions that have a grammar of their own. PostgreSQL treats a quoted "coalesce"(…) as an ordinary
// call. In this package it would become the same tree as COALESCE(…), so it is refused.
var forms = map[string]bool{"coalesce": true, "nullif": true, "least": true, "greatest": true, "grouping": true}

func (l *lowering) form(name string, args []*pg.Node, at Pos, depth int) (Expr, error) {
	list, err := l.exprs(args, at, depth+1)
	if err != nil {
		return nil, err
	}
	return &Call{At: at, Name: name, Args: list}, nil
}

// combination returns the values of COUNT(DISTINCT (a, b)) and COUNT(DISTINCT a, b), or nil for any other call. Other
// databases leave out rows in which some value of the second form is NULL: then the boolean is true.
func combination(f *pg.FuncCall, name string) (values []*pg.Node, complete bool) {
	args := f.GetArgs()
	if name != "count" || !f.GetAggDistinct() || len(args) == 0 {
		return nil, false
	}
	if r := args[0].GetRowExpr(); r != nil && len(args) == 1 {
		if len(r.GetArgs()) > 1 {
			return r.GetArgs(), false
		}
		return nil, false
	}
	if len(args) < 2 || slices.ContainsFunc(args, func(n *pg.Node) bool { return n.GetNamedArgExpr() != nil }) {
		return nil, false
	}
	return args, true
}

// complete adds the condition that no argument of a call is NULL to its FILTER.
func complete(x *Call) {
	for _, a := range x.Args {
		c := Expr(&Is{At: x.At, X: a, What: IsNull, Not: true})
		if x.Filter != nil {
			c = &Binary{At: x.At, Op: And, L: x.Filter, R: c}
		}
		x.Filter = c
	}
}

// thresholds converts WIDTH_BUCKET(x, ARRAY[a, b, …]), the number of thresholds that x reaches.
func (l *lowering) thresholds(args []*pg.Node, at Pos, depth int) (Expr, error) {
	x, err := l.expr(args[0], at, depth+1)
	if err != nil {
		return nil, err
	}
	list, err := l.array(args[1], at, depth+1)
	if err != nil {
		return nil, err
	}
	out := &Case{At: at}
	if len(list) > 100 || !small(x) {
		return nil, &Error{Pos: at, Message: "WIDTH_BUCKET of so many thresholds is not supported", Hint: "use at most 100 thresholds, of a column"}
	}
	when := func(op BinaryOp, threshold Expr, n int) {
		out.Whens = append(out.Whens, When{
			Cond:   &Binary{At: at, Op: op, L: x, R: threshold},
			Result: &Literal{At: at, Kind: IntegerLiteral, Text: strconv.Itoa(n)},
		})
	}
	for i := len(list) - 1; i >= 0; i-- {
		when(Ge, list[i], i+1)
	}
	when(Lt, list[0], 0)
	return out, nil
}

func (l *lowering) call(f *pg.FuncCall, at Pos, depth int) (Expr, error) {
	names := f.GetFuncname()
	if len(names) == 0 {
		return nil, &Error{Pos: at, Message: "this is not supported here"}
	}
	name := names[len(names)-1].GetString_().GetSval()
	if err := l.refuseCall(f, name, at); err != nil {
		return nil, err
	}
	deep := depth
	if countsIf(name) {
		deep++ // the arguments of what conditional makes of it are one level deeper
	}
	if isForeign(name) {
		deep += foreignDepth
	}
	if a := f.GetArgs(); name == "width_bucket" && len(a) == 2 {
		return l.thresholds(a, at, deep)
	}
	written := f.GetArgs()
	several, all := combination(f, name)
	if several != nil {
		written = several
	}
	args, named, star, err := l.arguments(written, at, deep)
	if err != nil {
		return nil, err
	}
	if out := l.otherZone(f, name, args, at); out != nil {
		return out, nil
	}
	if out, err := l.zoned(name, args, at); out != nil || err != nil {
		return out, err
	}
	if name == "date_trunc" && len(args) == 3 { // the third argument is a zone
		if _, err := l.zoned("timezone", []Expr{args[2], args[1]}, at); err != nil {
			return nil, err
		}
		args = args[:2]
	}
	if name == "time_bucket" && len(args) == 3 {
		if out, err := l.shifted(args, at); out != nil || err != nil {
			return out, err
		}
	}
	filter, err := l.optional(f.GetAggFilter(), at, depth+1)
	if err != nil {
		return nil, err
	}
	within, err := l.within(f, at, depth+1)
	if err != nil {
		return nil, err
	}
	star = star || f.GetAggStar()
	if qualified(f, "position") { // POSITION(a IN b), whose arguments PostgreSQL's grammar turns around
		name = "strpos"
	}
	out := &Call{
		At: at, Name: name, Args: args, Star: star, Distinct: f.GetAggDistinct(), Filter: filter,
		Within: within, Named: named,
	}
	if all {
		complete(out)
	}
	if f.GetOver() != nil {
		if out.Over, err = l.over(f.GetOver(), at, depth+1); err != nil {
			return nil, err
		}
	}
	if e := l.dayOfWeek(out); e != nil {
		return e, nil
	}
	if e, err := shownAs(out); e != nil || err != nil {
		return e, err
	}
	if as := foreign(out); as != nil {
		return as, nil
	}
	return conditional(out), nil
}

// refuseCall refuses calls that the tree cannot represent.
func (l *lowering) refuseCall(f *pg.FuncCall, name string, at Pos) error {
	no := func(message, hint string) error { return &Error{Pos: at, Message: message, Hint: hint} }
	grammar := f.GetFuncformat() == pg.CoercionForm_COERCE_SQL_SYNTAX
	switch {
	case grammar && name == "overlaps":
		return no("OVERLAPS is not supported", "write a < d AND c < b for the spans a to b and c to d")
	case len(f.GetFuncname()) > 1 && !grammar && f.GetFuncname()[0].GetString_().GetSval() != "pg_catalog":
		return no("a function's name cannot have a schema here", "write "+quote(name)+"(…)")
	case forms[name]:
		return no(strings.ToUpper(name)+" must not be in quotes here", "write "+strings.ToUpper(name)+"(…)")
	case f.GetFuncVariadic():
		return no("VARIADIC is not supported", "give the values one by one")
	}
	return refuseOrdered(f, name, at)
}

// qualified reports whether a call has a name of the form schema.name. PostgreSQL's grammar represents its own
// functions as pg_catalog.name.
func qualified(f *pg.FuncCall, name string) bool {
	names := f.GetFuncname()
	return len(names) == 2 && names[1].GetString_().GetSval() == name
}
