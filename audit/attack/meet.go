package attack

import (
	"strings"
	"unicode/utf8"

	"dither/internal/exact"
)

// verdict says whether two published values can belong to one person.
type verdict int

const (
	no     verdict = iota
	unsure         // possible, but a notation is unknown, so no conclusion follows
	yes
)

// covers reports whether a published value may stand for a known exact value.
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

// meet returns a form for the values that both forms allow. If a notation is not understood, the result may allow
// more values, and the verdict is unsure.
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
	return narrower(a, b), unsure // an unknown notation; a number and a word; two words that differ in case only
}

// narrower returns b if it is exact, and otherwise a.
func narrower(a, b form) form {
	if b.exact() {
		return b
	}
	return a
}

// cut returns the intersection of two spans, with a text that describes it. The verdict is no if the intersection
// is empty.
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

// same reports whether two spans have the same ends.
func (f form) same(g form) bool {
	if (f.low == nil) != (g.low == nil) || (f.high == nil) != (g.high == nil) || f.openLow != g.openLow ||
		f.openHigh != g.openHigh {
		return false
	}
	return (f.low == nil || f.low.Cmp(g.low) == 0) && (f.high == nil || f.high.Cmp(g.high) == 0)
}

// match returns the form for the values that fit both the pattern f and the form g. One star is often written for
// several characters, so a text of another length is not excluded, but unsure.
func (f form) match(g form) (form, verdict) {
	if g.kind == pattern && len(g.prefix) < len(f.prefix) {
		f, g = g, f // the longer prefix is more specific
	}
	switch {
	case g.kind != pattern && !g.exact():
		return narrower(f, g), unsure // for example 2* and 20-29
	case !strings.HasPrefix(strings.ToLower(g.text), strings.ToLower(f.prefix)):
		return form{}, no
	case strings.HasPrefix(g.text, f.prefix) && utf8.RuneCountInString(g.text) == utf8.RuneCountInString(f.text):
		return g, yes
	}
	return g, unsure
}
