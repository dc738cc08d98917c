package query

import "unicode/utf8"

// places converts offsets of a text to places, as many as there are expressions. It counts lines and characters up to
// some offsets once.
type places struct {
	known []place
}

// place is where a character of the text begins.
type place struct {
	offset int
	at     Pos
}

const placesApart = 256

// pos is text.pos.
func (p *places) pos(t text, offset int) Pos {
	if p.known == nil {
		p.read(t)
	}
	offset = min(max(offset, 0), len(t))
	i := min(offset/placesApart, len(p.known)-1)
	if p.known[i].offset > offset { // it begins after a longer character
		i--
	}
	out := p.known[i].at
	for rest := t[p.known[i].offset:offset]; len(rest) > 0; {
		_, size := utf8.DecodeRuneInString(string(rest))
		out = out.behind(rest[0])
		rest = rest[size:]
	}
	return out
}

// read goes through the text, and notes for each stretch the first character that begins in it or, if none does, after
// it.
func (p *places) read(t text) {
	at := Pos{Line: 1, Column: 1}
	for offset := range string(t) {
		for len(p.known)*placesApart <= offset {
			p.known = append(p.known, place{offset, at})
		}
		at = at.behind(t[offset])
	}
	if p.known == nil {
		p.known = []place{{0, at}}
	}
}

// behind is the place after a character that begins with a byte.
func (p Pos) behind(first byte) Pos {
	if first == '\n' {
		return Pos{Line: p.Line + 1, Column: 1}
	}
	return Pos{Line: p.Line, Column: p.Column + 1}
}
