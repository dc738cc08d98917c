package audit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// mostPieces limits the intervals and words that a clause lists, and the tokens that each of them lists.
const mostPieces = 6

// event describes, as a clause, the outputs in parts whose log-likelihood ratio is at least t, or at most t. Bins
// become intervals, and a token that was not seen while learning has the ratio 0. The clause distinguishes numbers
// from words, so that it holds for exactly these outputs. whole is false if the clause leaves out a part or
// shortens a token.
func (p *parts) event(atLeast bool, t float64) (clause string, whole bool) {
	in := func(s share) bool { return atLeast && s.ratio >= t || !atLeast && s.ratio <= t }
	unseen := atLeast && 0 >= t || !atLeast && 0 <= t
	pieces := p.intervals(in)
	all := len(pieces) == 1 && pieces[0] == "is a number"
	whole = true
	tokens := p.listed(func(s share) bool { return in(s) != unseen }) // the tokens that the clause names
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

// intervals describes the bins whose share s satisfies in(s). Adjacent bins become one interval.
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

// listed returns the tokens whose share s satisfies wanted(s), the most frequent first.
func (p *parts) listed(wanted func(share) bool) (out []string) {
	for token, s := range p.tokens {
		if wanted(s) {
			out = append(out, token)
		}
	}
	slices.SortFunc(out, p.byCount)
	return out
}

// byCount compares two tokens for sorting: the more frequent token comes first.
func (p *parts) byCount(a, b string) int {
	x, y := p.tokens[a].counts, p.tokens[b].counts
	return cmp.Or(cmp.Compare(y[0]+y[1], x[0]+x[1]), strings.Compare(a, b))
}

// stretch describes the bins from..to as one interval.
func (p *parts) stretch(from, to int) string { return stretch(p.edges, from, to) }

// stretch describes the bins from..to between the given edges as one interval.
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

// token describes one token in words. Tokens from the output's text are quoted, and computed values are not.
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

// list joins up to mostPieces tokens. whole reports whether it lists every token in full.
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

// mostQuoted is the length of the longest token that quote writes in full, in characters.
const mostQuoted = 60

// quote puts a token in quotes. It leaves out the middle of a long one.
func quote(text string) string {
	const end = 15
	if r := []rune(text); len(r) > mostQuoted {
		text = string(r[:mostQuoted-end-1]) + "…" + string(r[len(r)-end:])
	}
	return strconv.Quote(text)
}

// histogram returns the counts of the parts, in at most the given number of entries. The last entry may combine the
// rarest tokens.
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

// mostTerms is the largest number of tokens of one feature whose weights a report lists.
const mostTerms = 1000

// terms returns the weights of all parts, as one [Term] of a report.
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
			name = strconv.Quote(k) // not shortened
		}
		t.Parts = append(t.Parts, Weight{name, p.tokens[k].ratio})
	}
	return []Term{t}
}
