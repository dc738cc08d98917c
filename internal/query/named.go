package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Argument is a named argument of a call, Name => value. It has one value, or several in parentheses. A value is a
// *Literal, or, for an unquoted word as in bounds => auto, a *Column without a table.
type Argument struct {
	At     Pos
	Name   string
	Values []Expr // at least one
}

// Pair returns the two values of name => (a, b). ok is false for any other argument.
func (a *Argument) Pair() (lo, hi Expr, ok bool) {
	if len(a.Values) != 2 {
		return nil, nil, false
	}
	return a.Values[0], a.Values[1], true
}

// Word returns the word of name => word, or "" for any other argument.
func (a *Argument) Word() string {
	if c, ok := a.Values[0].(*Column); ok && len(a.Values) == 1 {
		return c.Name
	}
	return ""
}

// arguments separates the plain arguments of a call from the named ones, which come last. star reports whether the
// call was COUNT(*, name => value), in which rewritten replaced the asterisk.
func (l *lowering) arguments(
	args []*pg.Node, at Pos, depth int,
) (plain []Expr, named []Argument, star bool, err error) {
	if star = l.starred(args); star {
		args = args[1:]
	}
	for _, n := range args {
		if x := n.GetNamedArgExpr(); x != nil {
			a, err := l.named(x, at, depth+1)
			if err != nil {
				return nil, nil, false, err
			}
			for _, o := range named {
				if o.Name == a.Name {
					return nil, nil, false,
						&Error{
							Pos: a.At, Message: "the argument " + quote(a.Name) + " is given twice",
							Hint: "leave one out",
						}
				}
			}
			named = append(named, a)
			continue
		}
		e, err := l.expr(n, at, depth+1)
		if err != nil {
			return nil, nil, false, err
		}
		if star || len(named) > 0 {
			return nil, nil, false,
				&Error{
					Pos: e.Pos(), Message: "a plain argument cannot follow * or a named argument",
					Hint: "put it first",
				}
		}
		plain = append(plain, e)
	}
	return plain, named, star, nil
}

func (l *lowering) named(x *pg.NamedArgExpr, at Pos, depth int) (Argument, error) {
	a := Argument{At: l.pos(x.GetLocation(), at), Name: x.GetName()}
	values := []*pg.Node{x.GetArg()}
	if row := x.GetArg().GetRowExpr(); row != nil && row.GetRowFormat() == pg.CoercionForm_COERCE_IMPLICIT_CAST &&
		len(row.GetArgs()) > 1 {
		values = row.GetArgs()
	}
	for _, n := range values {
		e, err := l.expr(n, a.At, depth)
		if err != nil {
			return a, err
		}
		c, word := e.(*Column)
		if _, constant := e.(*Literal); !constant && (!word || c.Table != "") {
			return a, &Error{
				Pos: e.Pos(), Message: "the value of " + quote(a.Name) + " must be a constant",
				Hint: "write it out, as in " + quote(a.Name) + " => 2, or => (0, 100)",
			}
		}
		a.Values = append(a.Values, e)
	}
	return a, nil
}

// starred reports whether the first argument was an asterisk in the text, as in COUNT(*, name => value).
// PostgreSQL's grammar does not have that form. In any other position, the method constant refuses such an
// asterisk.
func (l *lowering) starred(args []*pg.Node) bool {
	return len(args) > 0 && l.stars[int(args[0].GetAConst().GetLocation())]
}

func (p *printer) named(named []Argument, first bool) {
	for _, a := range named {
		if !first {
			p.write(", ")
		}
		first = false
		p.write(quote(a.Name) + " => ")
		if len(a.Values) > 1 {
			p.list(a.Values)
			continue
		}
		p.expr(a.Values[0], 0)
	}
}
