package audit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The most pieces of a range, and of tokens in one piece, that are written out.
const mostPieces = 6

// event writes a set of parts. Bins are intervals of numbers; a token that was never seen has the score 0. Whatever is
// a number is told apart from what is none, so that the clause holds of exactly the outputs that the event has.
func (p *parts) event(atLeast bool, t float64) (clause string, whole bool) {
	in := func(s share) bool { return atLeast && s.ratio >= t || !atLeast && s.ratio <= t }
	unseen := atLeast && 0 >= t || !atLeast && 0 <= t
	pieces := p.intervals(in)
	all := len(pieces) == 1 && pieces[0] == "is a number"
	whole = true
	tokens := p.listed(func(s share) bool { return in(s) != unseen }) // those that are named
	names, listedAll := p.list(tokens)
	switch n := len(tokens); {
	case unseen && n == 0 && (all || p.bins == nil):
		return p.name + " is anything", true
	case unseen && n == 0:
		pieces = append(pieces, "is no number")
	case unseen && (all || p.bins == nil):
		pieces, whole = []string{noneOf(n) + names}, listedAll
	case unseen:
		pieces, whole = append(pieces, "is no number and "+strings.TrimPrefix(noneOf(n), "is ")+names), listedAll
	case n == 1:
		pieces, whole = append(pieces, "is "+names), listedAll
	case n > 1:
		pieces, whole = append(pieces, "is one of "+names), listedAll
	}
	if n := len(pieces); n > mostPieces {
		pieces, whole = append(pieces[:mostPieces-1],
			"is in another of "+number(float64(n-mostPieces+1))+" such parts"), false
	}
	if len(pieces) == 0 {
		return p.name + " is nothing at all", true
	}
	return p.name + " " + strings.Join(pieces, " or "), whole
}

func noneOf(n int) string {
	if n == 1 {
		return "is not "
	}
	return "is none of "
}

// intervals are the bins of a kind, those side by side as one.
func (p *parts) intervals(in func(share) bool) (pieces []string) {
	for i := 0; i < len(p.bins); i++ {
		if !in(p.bins[i]) {
			continue
		}
		from := i
		for i+1 < len(p.bins) && in(p.bins[i+1]) {
			i++
		}
		pieces = append(pieces, "is "+p.stretch(from, i))
	}
	return pieces
}

// listed are the tokens of a kind, the most frequent first.
func (p *parts) listed(wanted func(share) bool) (out []string) {
	for token, s := range p.tokens {
		if wanted(s) {
			out = append(out, token)
		}
	}
	slices.SortFunc(out, p.byCount)
	return out
}

// byCount puts the more frequent token first.
func (p *parts) byCount(a, b string) int {
	x, y := p.tokens[a].counts, p.tokens[b].counts
	return cmp.Or(cmp.Compare(y[0]+y[1], x[0]+x[1]), strings.Compare(a, b))
}

// stretch writes bins from..to as one interval.
func (p *parts) stretch(from, to int) string { return stretch(p.edges, from, to) }

// stretch writes what lies between edges, from bin to bin.
func stretch(edges []float64, from, to int) string {
	switch {
	case from == 0 && to == len(edges):
		return "a number"
	case from == 0:
		return "< " + number(edges[to])
	case to == len(edges):
		return "≥ " + number(edges[from-1])
	}
	return "in [" + number(edges[from-1]) + ", " + number(edges[to]) + ")"
}

// token writes one: what was computed has no quotes, since no output holds it.
func (f feature) token(text string) string {
	switch {
	case text == "" && f.is == ofCoordinate:
		return "missing"
	case text == "":
		return "empty"
	case f.is == ofFigure || f.is == ofDifference:
		return strings.ReplaceAll(text, "-", "−")
	}
	return quote(text)
}

// list writes some tokens, if not too many, and reports whether that is all of them, in full.
func (p *parts) list(tokens []string) (text string, whole bool) {
	more := ""
	if n := len(tokens) - mostPieces; n > 0 {
		tokens, more = tokens[:mostPieces], " or "+number(float64(n))+" others"
	}
	texts := make([]string, len(tokens))
	whole = more == ""
	for i, t := range tokens {
		texts[i] = p.token(t)
		whole = whole && len([]rune(t)) <= mostQuoted
	}
	return strings.Join(texts, ", ") + more, whole
}

// mostQuoted is the longest token that is written in full.
const mostQuoted = 60

// quote writes a token, a long one by its begin and its end.
func quote(text string) string {
	const end = 15
	if r := []rune(text); len(r) > mostQuoted {
		text = string(r[:mostQuoted-end-1]) + "…" + string(r[len(r)-end:])
	}
	return strconv.Quote(text)
}

// histogram is what the parts show, at most so many of them.
func (p *parts) histogram(most int) Histogram {
	h := Histogram{Of: p.name, Runs: p.runs}
	add := func(name string, s share) {
		h.Parts = append(h.Parts, name)
		for side := range h.Counts {
			h.Counts[side] = append(h.Counts[side], s.counts[side])
		}
	}
	for i, s := range p.bins {
		add(strings.TrimPrefix(p.stretch(i, i), "in "), s)
	}
	tokens := slices.SortedFunc(maps.Keys(p.tokens), p.byCount)
	var others share
	for i, t := range tokens {
		if len(p.bins)+i < most-1 || len(p.bins)+len(tokens) <= most {
			add(p.token(t), p.tokens[t])
			continue
		}
		for side := range others.counts {
			others.counts[side] += p.tokens[t].counts[side]
		}
	}
	if others.counts != [2]int{} {
		add("others", others)
	}
	return h
}

// mostTerms is how many tokens of a feature have their weights told.
const mostTerms = 1000

// terms are the weights of all parts.
func (p *parts) terms() []Term {
	t := Term{Of: p.name}
	for i, s := range p.bins {
		t.Parts = append(t.Parts, Weight{p.stretch(i, i), s.ratio})
	}
	tokens := slices.SortedFunc(maps.Keys(p.tokens), p.byCount)
	t.Omitted = max(0, len(tokens)-mostTerms)
	for _, k := range tokens[:len(tokens)-t.Omitted] {
		name := p.token(k)
		if len(k) > mostQuoted {
			name = strconv.Quote(k) // in full
		}
		t.Parts = append(t.Parts, Weight{name, p.tokens[k].ratio})
	}
	return []Term{t}
}
