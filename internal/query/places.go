package query

import "unicode/utf8"

// places converts byte offsets to positions. A question has many expressions, so places counts lines and characters
// once, and remembers the position at every placesApart bytes.
type places struct {
	known []place
}

// place is the offset and the position of a character.
type place struct {
	offset int
	at     Pos
}

const placesApart = 256

// pos returns the same result as text.pos.
func (p *places) pos(t text, offset int) Pos {
	if p.known == nil {
		p.read(t)
	}
	offset = min(max(offset, 0), len(t))
	i := min(offset/placesApart, len(p.known)-1)
	// this character begins after offset, because a character of several bytes precedes it
	if p.known[i].offset > offset {
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

// read scans the text once. For each stretch of placesApart bytes it records the first character that begins at or
// after the start of the stretch.
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

// behind returns the position after a character. The parameter first is the character's first byte.
func (p Pos) behind(first byte) Pos {
	if first == '\n' {
		return Pos{Line: p.Line + 1, Column: 1}
	}
	return Pos{Line: p.Line, Column: p.Column + 1}
}
