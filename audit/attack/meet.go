package attack

import (
	"strings"
	"unicode/utf8"

	"dither/internal/exact"
)

// verdict is whether two published values can belong to one person.
type verdict int

const (
	no     verdict = iota
	unsure         // it is not understood, and so possible: conclude nothing from it
	yes
)

// covers reports whether a published value may be a known one, which is exact.
func covers(published, known string) verdict {
	if published == known {
		return yes
	}
	out, x := no, exactly(known)
	for _, f := range parse(published) {
		_, v := meet(f, x)
		out = max(out, v)
	}
	return out
}

// meet is what two forms leave together, or one that holds it where they are not understood.
func meet(a, b form) (form, verdict) {
	switch {
	case a.kind == anything:
		return b, yes
	case b.kind == anything || a.text == b.text:
		return a, yes
	case a.kind == span && b.kind == span:
		return a.cut(b)
	case a.kind == pattern:
		return a.match(b)
	case b.kind == pattern:
		return b.match(a)
	case a.kind == word && b.kind == word && !strings.EqualFold(a.text, b.text):
		return form{}, no
	}
	return narrower(a, b), unsure // a notation that is not known; a number and a word; Flu and flu
}

// narrower is the one that is exact, if any is.
func narrower(a, b form) form {
	if b.exact() {
		return b
	}
	return a
}

// cut is what two spans have in common.
func (f form) cut(g form) (form, verdict) {
	out := f
	if g.low != nil {
		if out.low == nil || g.low.Cmp(out.low) > 0 {
			out.low, out.openLow = g.low, g.openLow
		} else if g.low.Cmp(out.low) == 0 {
			out.openLow = out.openLow || g.openLow
		}
	}
	if g.high != nil {
		if out.high == nil || g.high.Cmp(out.high) < 0 {
			out.high, out.openHigh = g.high, g.openHigh
		} else if g.high.Cmp(out.high) == 0 {
			out.openHigh = out.openHigh || g.openHigh
		}
	}
	switch {
	case out.empty():
		return form{}, no
	case out.same(f):
	case out.same(g):
		out.text = g.text
	case out.exact():
		out.text = exact.FormatRat(out.low)
	default:
		out.text = f.text + " and " + g.text
	}
	return out, yes
}

// same reports spans with the same ends.
func (f form) same(g form) bool {
	if (f.low == nil) != (g.low == nil) || (f.high == nil) != (g.high == nil) || f.openLow != g.openLow ||
		f.openHigh != g.openHigh {
		return false
	}
	return (f.low == nil || f.low.Cmp(g.low) == 0) && (f.high == nil || f.high.Cmp(g.high) == 0)
}

// match is what a pattern leaves of another form. One star is often written for all the characters that follow, so that
// other lengths are not excluded.
func (f form) match(g form) (form, verdict) {
	if g.kind == pattern && len(g.prefix) < len(f.prefix) {
		f, g = g, f // the longer prefix says more
	}
	switch {
	case g.kind != pattern && !g.exact():
		return narrower(f, g), unsure // 2* and 20-29
	case !strings.HasPrefix(strings.ToLower(g.text), strings.ToLower(f.prefix)):
		return form{}, no
	case strings.HasPrefix(g.text, f.prefix) && utf8.RuneCountInString(g.text) == utf8.RuneCountInString(f.text):
		return g, yes
	}
	return g, unsure
}
