package query

import (
	"strconv"
	"strings"
)

// Precedences of PostgreSQL's grammar, loosest first. An operand is put in parentheses if it binds more loosely than its
// place demands.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindIs
	bindCompare
	bindRange // BETWEEN, IN, LIKE
	bindAdd
	bindMul
	bindNegate
	bindName // names, constants, CASE, CAST, calls
)

var binaryBinds = map[BinaryOp]int{
	Or: bindOr, And: bindAnd, Eq: bindCompare, Ne: bindCompare, Lt: bindCompare, Le: bindCompare, Gt: bindCompare,
	Ge: bindCompare, Add: bindAdd, Sub: bindAdd, Mul: bindMul, Div: bindMul, Mod: bindMul,
}

// binds is how tightly an expression holds together as Print writes it.
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
	case *Is:
		return bindIs
	case *Literal:
		if strings.HasPrefix(x.Text, "-") && (x.Kind == IntegerLiteral || x.Kind == DecimalLiteral) {
			return bindNegate
		}
	}
	return bindName
}

// Print is an expression's canonical text. For a tree from Parse it parses back to the same tree, positions aside.
func Print(e Expr) string {
	var p printer
	p.expr(e, 0)
	return p.String()
}

// String is the question's canonical text. For a tree from Parse it parses back to the same tree, positions aside, unless
// it has grown beyond the limits on a question's size.
func (s *Select) String() string {
	var p printer
	p.WriteString("SELECT ")
	for i, item := range s.Items {
		p.comma(i)
		p.expr(item.Expr, 0)
		if item.Alias != "" {
			p.WriteString(" AS " + quote(item.Alias))
		}
	}
	p.WriteString(" FROM " + quote(s.From.Table))
	if s.From.Alias != "" {
		p.WriteString(" AS " + quote(s.From.Alias))
	}
	p.clause(" WHERE ", s.Where)
	for i, e := range s.GroupBy {
		if i == 0 {
			p.WriteString(" GROUP BY ")
		}
		p.comma(i)
		p.expr(e, 0)
	}
	p.clause(" HAVING ", s.Having)
	for i, o := range s.OrderBy {
		if i == 0 {
			p.WriteString(" ORDER BY ")
		}
		p.comma(i)
		p.order(o)
	}
	if s.Limit != nil {
		p.WriteString(" LIMIT " + strconv.FormatInt(*s.Limit, 10))
	}
	if s.Offset != nil {
		p.WriteString(" OFFSET " + strconv.FormatInt(*s.Offset, 10))
	}
	return p.String()
}

type printer struct{ strings.Builder }

func (p *printer) comma(i int) {
	if i > 0 {
		p.WriteString(", ")
	}
}

func (p *printer) clause(word string, e Expr) {
	if e != nil {
		p.WriteString(word)
		p.expr(e, 0)
	}
}

func (p *printer) order(o Order) {
	p.expr(o.Expr, 0)
	if o.Desc {
		p.WriteString(" DESC")
	}
	if o.NullsFirst != nil && *o.NullsFirst {
		p.WriteString(" NULLS FIRST")
	} else if o.NullsFirst != nil {
		p.WriteString(" NULLS LAST")
	}
}

// expr writes an expression in a place that demands at least a binding.
func (p *printer) expr(e Expr, least int) {
	if binds(e) < least {
		p.WriteString("(")
		defer p.WriteString(")")
	}
	switch x := e.(type) {
	case *Column:
		if x.Table != "" {
			p.WriteString(quote(x.Table) + ".")
		}
		p.WriteString(quote(x.Name))
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
		p.WriteString(" AND ")
		p.expr(x.Hi, bindRange+1)
	case *In:
		p.expr(x.X, bindRange+1)
		p.word(x.Not, "IN ")
		p.list(x.List)
	case *Like:
		p.expr(x.X, bindRange+1)
		p.word(x.Not, "LIKE ")
		p.expr(x.Pattern, bindRange+1)
	case *Is:
		p.expr(x.X, bindIs+1)
		p.WriteString(" IS ")
		if x.Not {
			p.WriteString("NOT ")
		}
		p.WriteString(x.What.String())
	case *Case:
		p.caseExpr(x)
	case *Cast:
		p.WriteString("CAST(")
		p.expr(x.X, 0)
		p.WriteString(" AS " + castName(x.Type) + ")")
	case *Call:
		p.call(x)
	}
}

// castName is the type's name in PostgreSQL's sense of it: its "real" is single precision.
func castName(t string) string {
	if t == "real" {
		return "double precision"
	}
	return t
}

func (p *printer) word(not bool, word string) {
	if not {
		p.WriteString(" NOT")
	}
	p.WriteString(" " + word)
}

func (p *printer) list(es []Expr) {
	p.WriteString("(")
	for i, e := range es {
		p.comma(i)
		p.expr(e, 0)
	}
	p.WriteString(")")
}

func (p *printer) literal(x *Literal) {
	switch x.Kind {
	case IntegerLiteral, DecimalLiteral:
		p.WriteString(x.Text)
	case StringLiteral:
		p.WriteString(quoteText(x.Text))
	case DateLiteral:
		p.WriteString("DATE " + quoteText(x.Text))
	case BooleanLiteral:
		p.WriteString(strings.ToUpper(strconv.FormatBool(x.Bool)))
	case NullLiteral:
		p.WriteString("NULL")
	}
}

func (p *printer) unary(x *Unary) {
	if x.Op == Not {
		p.WriteString("NOT ")
		p.expr(x.X, bindNot)
		return
	}
	p.WriteString("-")
	p.expr(x.X, bindNegate+1) // parentheses around another minus: "--" would begin a comment
}

func (p *printer) binary(x *Binary) {
	own := binaryBinds[x.Op]
	left := own // left-associative
	if own == bindCompare {
		left++ // not associative at all
	}
	p.expr(x.L, left)
	p.WriteString(" " + x.Op.String() + " ")
	p.expr(x.R, own+1)
}

func (p *printer) caseExpr(x *Case) {
	p.WriteString("CASE")
	p.clause(" ", x.Operand)
	for _, w := range x.Whens {
		p.WriteString(" WHEN ")
		p.expr(w.Cond, 0)
		p.WriteString(" THEN ")
		p.expr(w.Result, 0)
	}
	p.clause(" ELSE ", x.Else)
	p.WriteString(" END")
}

func (p *printer) call(x *Call) {
	if forms[x.Name] {
		p.WriteString(x.Name) // a keyword, which quotes would make an ordinary name
	} else {
		p.WriteString(quote(x.Name))
	}
	switch {
	case x.Star:
		p.WriteString("(*)")
	case x.Distinct:
		p.WriteString("(DISTINCT ")
		for i, e := range x.Args {
			p.comma(i)
			p.expr(e, 0)
		}
		p.WriteString(")")
	default:
		p.list(x.Args)
	}
}
