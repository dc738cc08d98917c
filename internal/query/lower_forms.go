package query

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Forms that the tree of this package has no node for, and that mean the same as another expression.

// patternCalls maps the operators of regular expressions, and ^@, to the function that means the same. The flag i
// ignores case.
var patternCalls = map[string]struct {
	name, flag string
	not        bool
}{
	"~": {"regexp_like", "", false}, "~*": {"regexp_like", "i", false},
	"!~": {"regexp_like", "", true}, "!~*": {"regexp_like", "i", true},
	"^@": {"starts_with", "", false},
}

// pattern converts x ~ p to REGEXP_LIKE(x, p), and so on. The boolean is false for any other operator.
func (l *lowering) pattern(x *pg.A_Expr, name string, at Pos, depth int) (Expr, bool, error) {
	as, ok := patternCalls[name]
	if !ok {
		return nil, false, nil
	}
	args, err := l.exprs([]*pg.Node{x.GetLexpr(), x.GetRexpr()}, at, depth+1)
	if err != nil {
		return nil, true, err
	}
	if as.flag != "" {
		args = append(args, &Literal{At: at, Kind: StringLiteral, Text: as.flag})
	}
	return negation(&Call{At: at, Name: as.name, Args: args}, as.not), true, nil
}

func negation(x Expr, not bool) Expr {
	if not {
		return &Unary{At: x.Pos(), Op: Not, X: x}
	}
	return x
}

// similar converts SIMILAR TO. PostgreSQL's grammar writes the pattern as a call of similar_to_escape.
func (l *lowering) similar(x *pg.A_Expr, negated bool, at Pos, depth int) (Expr, error) {
	pattern := x.GetRexpr().GetFuncCall()
	if !qualified(pattern, "similar_to_escape") || len(pattern.GetArgs()) != 1 {
		return nil, &Error{Pos: at, Message: "SIMILAR TO … ESCAPE is not supported", Hint: "a backslash escapes % and _"}
	}
	both, err := l.exprs([]*pg.Node{x.GetLexpr(), pattern.GetArgs()[0]}, at, depth+1)
	if err != nil {
		return nil, err
	}
	return &Like{At: at, X: both[0], Pattern: both[1], Not: negated, Similar: true}, nil
}

// escaped converts the pattern of LIKE … ESCAPE to one whose escape character is a backslash.
func (l *lowering) escaped(f *pg.FuncCall, at Pos, depth int) (Expr, error) {
	args, err := l.exprs(f.GetArgs(), at, depth+1)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, a := range args {
		if s, ok := a.(*Literal); ok && s.Kind == StringLiteral {
			texts = append(texts, s.Text)
		}
	}
	if len(texts) != 2 || len([]rune(texts[1])) > 1 {
		return nil, &Error{
			Pos: at, Message: "LIKE … ESCAPE takes a constant pattern and one constant character",
			Hint: "a backslash escapes % and _",
		}
	}
	var out strings.Builder
	taken := false // whether the character before is the escape character
	for _, r := range texts[0] {
		switch {
		case !taken && string(r) == texts[1]:
			taken = true
			continue
		case taken && (r == '%' || r == '_'), r == '\\':
			out.WriteByte('\\')
		}
		taken = false
		out.WriteRune(r)
	}
	if taken {
		return nil, &Error{Pos: at, Message: "the pattern ends in its escape character"}
	}
	return &Literal{At: args[0].Pos(), Kind: StringLiteral, Text: out.String()}, nil
}

// small reports whether an expression has few nodes, so that it may be written more than once.
func small(x Expr) bool {
	n := 0
	_, _ = Rewrite(x, func(e Expr) (Expr, error) {
		if n++; n > 20 {
			return nil, &Error{} // ends the walk
		}
		if _, ok := e.(*Nested); ok {
			n = 21
		}
		return e, nil
	})
	return n <= 20
}

// distinct converts a IS [NOT] DISTINCT FROM b. They are not distinct if a = b, or if both are NULL.
func (l *lowering) distinct(x *pg.A_Expr, not bool, at Pos, depth int) (Expr, error) {
	both, err := l.exprs([]*pg.Node{x.GetLexpr(), x.GetRexpr()}, at, depth+1)
	if err != nil {
		return nil, err
	}
	a, b := both[0], both[1]
	if s, ok := a.(*Literal); ok {
		a, b = b, Expr(s)
	}
	equal := &Binary{At: at, Op: Eq, L: a, R: b}
	if s, ok := b.(*Literal); ok {
		if s.Kind == NullLiteral {
			return &Is{At: at, X: a, What: IsNull, Not: !not}, nil
		}
		return &Is{At: at, X: equal, What: IsTrue, Not: !not}, nil
	}
	if !small(a) || !small(b) {
		return nil, &Error{
			Pos: at, Message: "IS DISTINCT FROM is not supported between such long expressions",
			Hint: "use a <> b, and a IS NULL where that matters",
		}
	}
	null := &Binary{At: at, Op: And, L: &Is{At: at, X: a, What: IsNull}, R: &Is{At: at, X: b, What: IsNull}}
	return negation(&Call{At: at, Name: "coalesce", Args: []Expr{equal, null}}, !not), nil
}

// symmetric converts BETWEEN SYMMETRIC, which takes its bounds in either order.
func (l *lowering) symmetric(x *pg.A_Expr, negated bool, at Pos, depth int) (Expr, error) {
	e, err := l.between(x, false, at, depth+2)
	if err != nil {
		return nil, err
	}
	b := e.(*Between)
	if !small(b.X) || !small(b.Lo) || !small(b.Hi) {
		return nil, &Error{
			Pos: at, Message: "BETWEEN SYMMETRIC is not supported between such long expressions",
			Hint: "use BETWEEN with the smaller bound first",
		}
	}
	turned := &Between{At: at, X: b.X, Lo: b.Hi, Hi: b.Lo}
	return negation(&Binary{At: at, Op: Or, L: b, R: turned}, negated), nil
}

// anyOf converts x = ANY (array) and x <> ALL (array) to IN, and LIKE ANY and NOT LIKE ALL to a chain of LIKE.
func (l *lowering) anyOf(x *pg.A_Expr, name string, all bool, at Pos, depth int) (Expr, error) {
	not := strings.HasPrefix(name, "!") || name == "<>"
	positive := strings.TrimPrefix(name, "!")
	if name == "<>" {
		positive = "="
	}
	if not != all || !slices.Contains([]string{"=", "~~", "~~*"}, positive) {
		return nil, &Error{
			Pos: at, Message: "ANY and ALL take an array, and = ANY, <> ALL, LIKE ANY or NOT LIKE ALL before it",
			Hint: "use IN, or several comparisons with OR",
		}
	}
	left, err := l.expr(x.GetLexpr(), at, depth+1)
	if err != nil {
		return nil, err
	}
	list, err := l.array(x.GetRexpr(), at, depth+1)
	if err != nil {
		return nil, err
	}
	if positive == "=" {
		return &In{At: at, X: left, List: list, Not: not}, nil
	}
	if depth+len(list) > l.maxDepth {
		return nil, l.tooDeep(at)
	}
	var out Expr
	for _, p := range list {
		like := &Like{At: at, X: left, Pattern: p, AnyCase: positive == "~~*"}
		if out == nil {
			out = like
			continue
		}
		out = &Binary{At: at, Op: Or, L: out, R: like}
	}
	return negation(out, not), nil
}

// array converts ARRAY[…], or a constant such as '{a,b}', to the list of its elements.
func (l *lowering) array(n *pg.Node, at Pos, depth int) ([]Expr, error) {
	no := &Error{Pos: at, Message: "ANY and ALL take a constant array here", Hint: "write x IN (1, 2, 3)"}
	cast := ""
	if c := n.GetTypeCast(); c != nil {
		names := c.GetTypeName().GetNames()
		if len(c.GetTypeName().GetArrayBounds()) != 1 || len(names) == 0 {
			return nil, no
		}
		to, ok := types[names[len(names)-1].GetString_().GetSval()]
		if !ok {
			return nil, no
		}
		n, cast = c.GetArg(), to
	}
	var out []Expr
	var err error
	switch {
	case n.GetAArrayExpr() != nil:
		out, err = l.exprs(n.GetAArrayExpr().GetElements(), at, depth)
	case n.GetAConst().GetSval() != nil:
		out, err = elements(n.GetAConst().GetSval().GetSval(), cast, l.pos(n.GetAConst().GetLocation(), at))
	case n.GetFuncCall() != nil:
		out = l.split(n.GetFuncCall(), cast, at)
	default:
		return nil, no
	}
	if err == nil && len(out) == 0 {
		return nil, no
	}
	return out, err
}

// split returns the texts of STRING_TO_ARRAY('a,b', ','), whose arguments are constants; nil for any other call.
func (l *lowering) split(f *pg.FuncCall, cast string, at Pos) (out []Expr) {
	args := f.GetArgs()
	names := f.GetFuncname()
	if len(names) != 1 || names[0].GetString_().GetSval() != "string_to_array" || len(args) != 2 || cast != "" && cast != "text" {
		return nil
	}
	list, by := args[0].GetAConst().GetSval(), args[1].GetAConst().GetSval()
	if list.GetSval() == "" || by.GetSval() == "" {
		return nil
	}
	at = l.pos(args[0].GetAConst().GetLocation(), at)
	for _, s := range strings.Split(list.GetSval(), by.GetSval()) {
		out = append(out, &Literal{At: at, Kind: StringLiteral, Text: s})
	}
	return out
}

// elements returns the elements of an array's text, such as {a,"b c",NULL}. They are numbers if the array is cast to
// an array of numbers, or if it has no cast and every element is an integer.
func elements(text, cast string, at Pos) ([]Expr, error) {
	no := &Error{Pos: at, Message: "this is not the text of an array", Hint: "write ARRAY['a', 'b'], or x IN ('a', 'b')"}
	inside, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	if inside, closed := strings.CutSuffix(inside, "}"); ok && closed {
		return items(inside, cast, at, no)
	}
	return nil, no
}

func items(inside, cast string, at Pos, no *Error) (out []Expr, err error) {
	var texts []string
	var quotedAt []bool
	for rest := inside; ; {
		rest = strings.TrimLeft(rest, " ")
		text, quoted := "", strings.HasPrefix(rest, `"`)
		if quoted {
			end := 1
			for ; end < len(rest) && rest[end] != '"'; end++ {
				if rest[end] == '\\' {
					end++
				}
				if end < len(rest) {
					text += rest[end : end+1]
				}
			}
			if end >= len(rest) {
				return nil, no
			}
			rest = strings.TrimLeft(rest[end+1:], " ")
		} else {
			end := strings.IndexByte(rest, ',')
			if end < 0 {
				end = len(rest)
			}
			text, rest = strings.TrimRight(rest[:end], " "), rest[end:]
			if text == "" || strings.ContainsAny(text, `{}"\`) {
				return nil, no
			}
		}
		texts, quotedAt = append(texts, text), append(quotedAt, quoted)
		if rest == "" {
			break
		}
		if rest[0] != ',' {
			return nil, no
		}
		rest = rest[1:]
	}
	whole := func(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }
	numbers := cast == "integer" || cast == "real" || cast == "" && !slices.ContainsFunc(texts, func(s string) bool { return !whole(s) })
	for i, s := range texts {
		var e Expr = &Literal{At: at, Kind: StringLiteral, Text: s}
		switch {
		case !quotedAt[i] && strings.EqualFold(s, "null"):
			e = &Literal{At: at, Kind: NullLiteral}
		case numbers && whole(s):
			e = &Literal{At: at, Kind: IntegerLiteral, Text: s}
		case numbers:
			if strings.Trim(s, "0123456789.eE+-") != "" || !strings.ContainsAny(s, "0123456789") {
				return nil, no
			}
			e = &Literal{At: at, Kind: DecimalLiteral, Text: s}
		}
		out = append(out, e)
	}
	return out, nil
}
