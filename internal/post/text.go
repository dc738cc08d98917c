package post

import (
	"strconv"
	"strings"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/text"
	"dither/internal/value"
)

// textCall builds a function of texts. Where PostgreSQL raises an error, or the text would be too long, it is NULL, so
// that no released number raises an error, and no expression makes texts that grow without bound.
func textCall(name string, args []*node, at query.Pos) (*node, error) {
	f, ok := text.Named(name)
	if !ok || len(args) < f.Least || len(args) > f.Most {
		return nil, bind.Refuse(at, "", "wrong number of arguments for %s", name)
	}
	if name == "substring" && len(args) == 2 && args[1].typ == value.Text { // SUBSTRING(x FROM 'pattern')
		return textCall("regexp_substr", args, at)
	}
	for i, a := range args {
		if a.typ == value.Interval {
			args[i] = spanText(a)
			a = args[i]
		}
		if t := f.Param(i); t != 0 && a.typ != 0 && a.typ != t {
			hint := ""
			if t == value.Text {
				hint = "write CAST(x AS text)"
			}
			return nil, bind.Refuse(at, hint, "%s needs a value of type %s as argument %d, and this is of type %s",
				strings.ToUpper(name), t, i+1, a.typ)
		}
	}
	out := general(f.Type, whyText, func(vs []value.Value) value.Value {
		in := make([]value.Value, len(vs))
		for i, v := range vs {
			in[i] = v
			if v.Null {
				in[i] = value.NullOf(value.Text)
			}
		}
		out, ok := f.Of(in...)
		if !ok {
			return value.NullOf(f.Type)
		}
		return out
	}, args...)
	width, work := textWidths(name, args)
	if out.fixed == nil && f.Type == value.Text {
		out.width = width
	}
	out.work = capped(out.work + work)
	return out, nil
}

// joined builds a || b, of which one is a text.
func joined(a, b *node, at query.Pos) (*node, error) {
	if a.typ != value.Text && b.typ != value.Text && a.typ != 0 && b.typ != 0 {
		return nil, bind.Refuse(at, "write CAST(x AS text)", "|| needs a text, and these are of type %s and %s", a.typ, b.typ)
	}
	return textCall("||", []*node{a, b}, at)
}

// like binds LIKE, ILIKE and SIMILAR TO.
func (s *scope) like(x *query.Like) (*node, error) {
	both, err := s.bindAll([]query.Expr{x.X, x.Pattern})
	if err != nil {
		return nil, err
	}
	name := "like"
	switch {
	case x.Similar:
		name = "similar_to"
	case x.AnyCase:
		name = "ilike"
	}
	if both[1].fixed == nil {
		return nil, bind.Refuse(x.Pattern.Pos(), "write LIKE 'a%'", "a pattern is a constant")
	}
	n, err := textCall(name, both, x.At)
	if err != nil {
		return nil, err
	}
	return unless(x.Not, n), nil
}

// ofShortest writes the shortest decimal that is x.
func ofShortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
