package bind

import (
	"strings"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/text"
	"dither/internal/value"
)

// textCall translates a function of texts. Over known values it is computed here, for each value. Of unknown texts,
// engines compute LOWER and UPPER of the letters A to Z alone, so that all engines agree.
func (l *Scope) textCall(x *query.Call, name string) (*bounded.Expr, error) {
	f, _ := text.Named(name)
	if x.Filter != nil {
		return nil, Refuse(x.At, "", "FILTER needs an aggregate, and %s is not one", x.Name)
	}
	if x.Star || x.Distinct || len(x.Args) < f.Least || len(x.Args) > f.Most {
		return nil, Refuse(x.At, "", "%s takes %d to %d arguments", x.Name, f.Least, f.Most)
	}
	args, err := l.rows(x.Args)
	if err != nil {
		return nil, err
	}
	if name == "substring" && len(args) == 2 && args[1].Type == value.Text { // SUBSTRING(x FROM 'pattern')
		return l.substringOf(x, args)
	}
	return l.texts(name, args, x.At)
}

// substringOf builds SUBSTRING(x FROM 'pattern'), the first match of a regular expression.
func (l *Scope) substringOf(x *query.Call, args []*bounded.Expr) (*bounded.Expr, error) {
	if p := args[1]; p.Op == bounded.OpConst && strings.Contains(p.Const.Text, "(") {
		return nil, Refuse(x.At, "leave the parentheses out; or write SPLIT_PART, or SUBSTRING(x FROM 1 FOR 4)",
			"SUBSTRING of a pattern with parentheses is not supported")
	}
	return l.texts("regexp_substr", args, x.At)
}

// texts builds the function of texts with a name.
func (l *Scope) texts(name string, args []*bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	f, _ := text.Named(name)
	for i, a := range args {
		t := f.Param(i)
		switch {
		case IsUntypedNull(a) && t == 0:
			args[i] = Constant(value.NullOf(value.Text))
		case IsUntypedNull(a):
			args[i] = Constant(value.NullOf(t))
		case t != 0 && a.Type != t:
			hint := ""
			if t == value.Text {
				hint = "write CAST(… AS text)"
			}
			return nil, Refuse(at, hint, "%s needs %s as argument %d, and this is of type %s",
				strings.ToUpper(name), withArticle(t), i+1, a.Type)
		}
	}
	if e := foldedOf(name, args); e != nil {
		if _, known := l.Known(args[0]); !known {
			return e, nil
		}
	}
	p := &pointwise{Scope: l, result: f.Type, of: func(v []value.Value) (value.Value, bool) { return f.Of(v...) }, at: at}
	p.work = func(v []value.Value) int { return text.Work(name, v) }
	p.none = func(v []value.Value) error { return noText(name, v, at) }
	p.unknown = func(e *bounded.Expr) error { return unknownText(name, e, at) }
	return p.build(args)
}

// joined translates a || b. One of the operands must be a text.
func (l *Scope) joined(x *query.Binary) (*bounded.Expr, error) {
	args, err := l.rows([]query.Expr{x.L, x.R})
	if err != nil {
		return nil, err
	}
	for _, a := range args {
		if IsUntypedNull(a) || a.Type == value.Text {
			return l.texts("||", args, x.At)
		}
	}
	return nil, Refuse(x.At, "write CAST(… AS text) || …", "|| joins texts, and neither operand is one")
}

func withArticle(t value.Type) string {
	if t == value.Integer || t == value.Interval {
		return "an " + t.String()
	}
	return "a " + t.String()
}

// foldedOf returns the expression that an engine computes for a function of an unknown text, or nil if there is none.
func foldedOf(name string, args []*bounded.Expr) *bounded.Expr {
	switch name {
	case "lower", "upper":
		return inCase(name, args[0])
	case "starts_with":
		if args[1].Op == bounded.OpConst && !args[1].Const.Null {
			prefix := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(args[1].Const.Text)
			return matching(args[0], prefix+"%")
		}
	case "regexp_like", "similar_to":
		return likesOf(name, args)
	}
	return engineText(name, args)
}

// likesOf returns the LIKEs that mean the same as a regular expression, or nil if there are none. If case does not
// count, the letters A to Z match in either case, as for ILIKE.
func likesOf(name string, args []*bounded.Expr) *bounded.Expr {
	for _, a := range args[1:] {
		if a.Op != bounded.OpConst || a.Const.Null {
			return nil
		}
	}
	of, e, anyCase := text.Likes, args[0], false
	if name == "similar_to" {
		of = text.SimilarLikes
	}
	if len(args) == 3 {
		if anyCase = args[2].Const.Text == "i"; !anyCase && args[2].Const.Text != "c" && args[2].Const.Text != "" {
			return nil
		}
	}
	patterns, ok := of(args[1].Const.Text)
	if !ok {
		return nil
	}
	if anyCase {
		e = inCase("lower", e)
	}
	var out *bounded.Expr
	for _, p := range patterns {
		if anyCase {
			p = text.Fold(p, false)
		}
		if out == nil {
			out = matching(e, p)
		} else {
			out = Logical(bounded.OpOr, out, matching(e, p))
		}
	}
	return out
}

// inCase builds LOWER or UPPER of the letters A to Z.
func inCase(name string, e *bounded.Expr) *bounded.Expr {
	return &bounded.Expr{Op: bounded.OpFold, Type: value.Text, Args: []*bounded.Expr{e}, Text: name, Nullable: e.Nullable}
}

// matching builds e LIKE pattern.
func matching(e *bounded.Expr, pattern string) *bounded.Expr {
	return &bounded.Expr{
		Op: bounded.OpLike, Type: value.Boolean, Args: []*bounded.Expr{e}, Text: pattern, Nullable: e.Nullable,
	}
}

// patterned reports whether a function takes a regular expression.
func patterned(name string) bool {
	return strings.HasPrefix(name, "~") || strings.HasPrefix(name, "regexp") || name == "similar_to"
}

// noText returns the refusal of a function that has no value for these arguments.
func noText(name string, args []value.Value, at query.Pos) error {
	var list []string
	for _, a := range args {
		list = append(list, quoted(a))
	}
	hint := "check its arguments: PostgreSQL raises an error here, or the text would be too long"
	if patterned(name) {
		hint = "dither computes regular expressions of literal characters, . | ( ) [ ] ^ $ * + ? { } and \\d \\w \\s; or write LIKE"
	}
	shown := strings.Join(list, ", ")
	if len(shown) > 200 {
		shown = "…"
	}
	return Refuse(at, hint, "%s(%s) has no value", strings.ToUpper(name), shown)
}

// unknownText returns the refusal of a function of an expression without known values.
func unknownText(name string, e *bounded.Expr, at query.Pos) error {
	what := "this argument"
	if e.Op == bounded.OpColumn {
		what = "column " + query.QuoteName(e.Name)
	}
	hint := "the owner can declare its values; or write CASE WHEN … LIKE 'a%' THEN … END"
	if name == "regexp_like" || name == "similar_to" {
		hint = "write LIKE 'a%', or several of them with OR; or the owner can declare its values"
	}
	if _, ok := engineNames[name]; ok && e.Type == value.Text {
		hint = "the owner can declare the values of " + what + "; or write a constant that counts from the start"
		return Refuse(at, hint, "%s of unknown values takes constants: numbers from 0 or 1 to 4096, and texts of 1 to 64 ASCII characters",
			strings.ToUpper(name))
	}
	if e.Type != value.Text {
		hint = "the owner can declare bounds of at most 10,000 values; or use the value itself"
	}
	return Refuse(at, hint, "%s is computed only over known values, and those of %s are not known",
		strings.ToUpper(name), what)
}

// readConstant reads a text as a value of a type. A number must be one that a question may contain.
func readConstant(s string, t value.Type) (value.Value, bool) {
	v, ok := text.Read(s, t)
	if !ok || !IsNumber(t) {
		return v, ok
	}
	kind := query.DecimalLiteral
	if t == value.Integer {
		kind = query.IntegerLiteral
	}
	e, err := Literal(&query.Literal{Kind: kind, Text: strings.TrimSpace(s)})
	if err != nil {
		return value.Value{}, false
	}
	return e.Const, true
}

// castText builds CAST of a value to text, or of a text to another type, over known values.
func (l *Scope) castText(e *bounded.Expr, to value.Type, at query.Pos) (*bounded.Expr, error) {
	p := &pointwise{Scope: l, result: to, at: at}
	p.of = func(v []value.Value) (value.Value, bool) {
		switch {
		case v[0].Null:
			return value.NullOf(to), true
		case to == value.Text:
			return value.OfText(text.Of(v[0])), true
		}
		return readConstant(v[0].Text, to)
	}
	p.none = func(v []value.Value) error {
		return Refuse(at, "use CASE", "%s is not the text of a value of type %s", quoted(v[0]), to)
	}
	p.unknown = func(a *bounded.Expr) error {
		if to == value.Text {
			return unknownText("cast to text", a, at)
		}
		return Refuse(at, "use CASE", "%s cannot be cast to %s", e.Type, to)
	}
	return p.build([]*bounded.Expr{e})
}
