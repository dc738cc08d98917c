package query

import (
	"strconv"
	"strings"
)

// Precedences of PostgreSQL's grammar, loosest first. An operand gets parentheses if it binds more loosely than its
// context requires.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindIs
	bindCompare
	bindRange // the precedence of BETWEEN, IN and LIKE
	bindOther // the precedence of || and of other operators
	bindAdd
	bindMul
	bindNegate
	bindName // the precedence of names, constants, CASE, CAST and calls
)

var binaryBinds = map[BinaryOp]int{
	Or: bindOr, And: bindAnd, Eq: bindCompare, Ne: bindCompare, Lt: bindCompare, Le: bindCompare, Gt: bindCompare,
	Ge: bindCompare, Concat: bindOther, Add: bindAdd, Sub: bindAdd, Mul: bindMul, Div: bindMul, Mod: bindMul,
}

// binds returns the precedence of an expression in the form in which Print writes it.
func binds(e Expr) int {
	switch x := e.(type) {
	case *Unary:
		if x.Op == Not {
			return bindNot
		}
		return bindNegate
	case *Binary:
		return binaryBinds[x.Op]
	case *Between, *In, *Like:
		return bindRange
	case *Nested:
		if x.Kind == InNested {
			return bindRange
		}
	case *Is:
		return bindIs
	case *Literal:
		if strings.HasPrefix(x.Text, "-") && (x.Kind == IntegerLiteral || x.Kind == DecimalLiteral) {
			return bindNegate
		}
	}
	return bindName
}

// Print returns an expression's canonical text. For a tree from Parse, the text parses back to the same tree,
// except for positions.
func Print(e Expr) string {
	var p printer
	p.expr(e, 0)
	return p.out.String()
}

// String returns the question's canonical text. For a tree from Parse, the text parses back to the same tree,
// except for positions, unless it exceeds the limits on a question's size.
func (s *Select) String() string {
	var p printer
	p.write("SELECT ")
	p.options(s.Options)
	if s.Distinct {
		p.write("DISTINCT ")
	}
	for i, item := range s.Items {
		p.comma(i)
		p.expr(item.Expr, 0)
		if item.Alias != "" {
			p.write(" AS " + quote(item.Alias))
		}
	}
	switch {
	case s.From.Relation != nil:
		p.write(" FROM ")
		p.relation(s.From.Relation)
	case !s.From.None():
		p.write(" FROM ")
		p.relation(&Table{Name: s.From.Table, Alias: s.From.Alias})
	}
	p.clause(" WHERE ", s.Where)
	for i, e := range s.GroupBy {
		if i == 0 {
			p.write(" GROUP BY ")
		}
		p.comma(i)
		p.expr(e, 0)
	}
	p.clause(" HAVING ", s.Having)
	for i, o := range s.OrderBy {
		if i == 0 {
			p.write(" ORDER BY ")
		}
		p.comma(i)
		p.order(o)
	}
	if s.Limit != nil {
		p.write(" LIMIT " + strconv.FormatInt(*s.Limit, 10))
	}
	if s.Offset != nil {
		p.write(" OFFSET " + strconv.FormatInt(*s.Offset, 10))
	}
	return p.out.String()
}

type printer struct{ out strings.Builder }

func (p *printer) write(s string) { p.out.WriteString(s) }

func (p *printer) comma(i int) {
	if i > 0 {
		p.write(", ")
	}
}

func (p *printer) clause(word string, e Expr) {
	if e != nil {
		p.write(word)
		p.expr(e, 0)
	}
}

func (p *printer) order(o Order) {
	p.expr(o.Expr, 0)
	if o.Desc {
		p.write(" DESC")
	}
	if o.NullsFirst != nil && *o.NullsFirst {
		p.write(" NULLS FIRST")
	} else if o.NullsFirst != nil {
		p.write(" NULLS LAST")
	}
}

// expr writes an expression. It adds parentheses if the expression's precedence is below the parameter least.
func (p *printer) expr(e Expr, least int) {
	if binds(e) < least {
		p.write("(")
		defer p.write(")")
	}
	switch x := e.(type) {
	case *Star:
		if x.Table != "" {
			p.write(quote(x.Table) + ".")
		}
		p.write("*")
	case *Column:
		if x.Table != "" {
			p.write(quote(x.Table) + ".")
		}
		p.write(quote(x.Name))
	case *Literal:
		p.literal(x)
	case *Unary:
		p.unary(x)
	case *Binary:
		p.binary(x)
	case *Between:
		p.expr(x.X, bindRange+1)
		p.word(x.Not, "BETWEEN ")
		p.expr(x.Lo, bindRange+1)
		p.write(" AND ")
		p.expr(x.Hi, bindRange+1)
	case *In:
		p.expr(x.X, bindRange+1)
		p.word(x.Not, "IN ")
		if _, ok := x.List[0].(*Nested); ok && len(x.List) == 1 { // IN ((SELECT …)) would be IN (SELECT …)
			p.write("(+")
			p.expr(x.List[0], bindName)
			p.write(")")
		} else {
			p.list(x.List)
		}
	case *Like:
		p.expr(x.X, bindRange+1)
		word := "LIKE "
		if x.AnyCase {
			word = "ILIKE "
		}
		if x.Similar {
			word = "SIMILAR TO "
		}
		p.word(x.Not, word)
		p.expr(x.Pattern, bindRange+1)
	case *Is:
		p.expr(x.X, bindIs+1)
		p.write(" IS ")
		if x.Not {
			p.write("NOT ")
		}
		p.write(x.What.String())
	case *Case:
		p.caseExpr(x)
	case *Cast:
		p.write("CAST(")
		p.expr(x.X, 0)
		p.write(" AS " + castName(x.Type) + ")")
	case *Call:
		p.call(x)
	case *Nested:
		p.nested(x)
	case *Grouping:
		p.grouping(x)
	}
}

// castName returns a type's name in PostgreSQL, where "real" means single precision.
func castName(t string) string {
	if t == "real" {
		return "double precision"
	}
	return t
}

func (p *printer) word(not bool, word string) {
	if not {
		p.write(" NOT")
	}
	p.write(" " + word)
}

func (p *printer) list(es []Expr) {
	p.write("(")
	for i, e := range es {
		p.comma(i)
		p.expr(e, 0)
	}
	p.write(")")
}

func (p *printer) literal(x *Literal) {
	switch x.Kind {
	case IntegerLiteral, DecimalLiteral:
		p.write(x.Text)
	case StringLiteral:
		p.write(QuoteText(x.Text))
	case DateLiteral:
		p.write("DATE " + QuoteText(x.Text))
	case TimestampLiteral:
		p.write("TIMESTAMP " + QuoteText(x.Text))
	case TimeLiteral:
		p.write("TIME " + QuoteText(x.Text))
	case IntervalLiteral:
		p.write("INTERVAL " + QuoteText(x.Text))
	case BooleanLiteral:
		p.write(strings.ToUpper(strconv.FormatBool(x.Bool)))
	case NullLiteral:
		p.write("NULL")
	}
}

func (p *printer) unary(x *Unary) {
	if x.Op == Not {
		p.write("NOT ")
		p.expr(x.X, bindNot)
		return
	}
	p.write("-")
	p.expr(x.X, bindNegate+1) // another minus gets parentheses, because "--" would begin a comment
}

func (p *printer) binary(x *Binary) {
	own := binaryBinds[x.Op]
	left := own // the operators are left-associative
	if own == bindCompare {
		left++ // comparisons are not associative at all
	}
	p.expr(x.L, left)
	p.write(" " + x.Op.String() + " ")
	p.expr(x.R, own+1)
}

func (p *printer) caseExpr(x *Case) {
	p.write("CASE")
	p.clause(" ", x.Operand)
	for _, w := range x.Whens {
		p.write(" WHEN ")
		p.expr(w.Cond, 0)
		p.write(" THEN ")
		p.expr(w.Result, 0)
	}
	p.clause(" ELSE ", x.Else)
	p.write(" END")
}

func (p *printer) call(x *Call) {
	switch {
	case forms[x.Name]:
		p.write(x.Name) // a keyword; in quotes it would be an ordinary name
	case x.Name == "rollup" || x.Name == "cube": // without quotes, GROUP BY would take these for keywords
		p.write(`"` + x.Name + `"`)
	default:
		p.write(quote(x.Name))
	}
	switch {
	case x.Star:
		p.write("(*")
		p.named(x.Named, false)
		p.write(")")
	default:
		p.write("(")
		if x.Distinct {
			p.write("DISTINCT ")
		}
		if x.Distinct && len(x.Args) > 1 {
			p.list(x.Args)
		} else {
			for i, e := range x.Args {
				p.comma(i)
				p.expr(e, 0)
			}
		}
		p.named(x.Named, len(x.Args) == 0)
		p.write(")")
	}
	if x.Within != nil {
		p.write(" WITHIN GROUP (ORDER BY ")
		p.order(*x.Within)
		p.write(")")
	}
	if x.Filter != nil {
		p.write(" FILTER (WHERE ")
		p.expr(x.Filter, 0)
		p.write(")")
	}
	if x.Over != nil {
		p.over(x.Over)
	}
}
