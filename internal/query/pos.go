package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pos is a place in the text of a question. Both numbers start at 1; a column is a rune, a line ends with "\n".
type Pos struct{ Line, Column int }

// String is "line:column".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Error is a refusal. Message gives the fault and the reason, Hint an alternative (it may be empty).
type Error struct {
	Pos           Pos
	Message, Hint string
}

// Error is the position and the message, without the hint.
func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// text is a question's text, with methods that convert offsets to places.
type text string

// pos turns a byte offset into a place, clamped to the text, whose end is a place too.
func (t text) pos(offset int) Pos {
	offset = min(max(offset, 0), len(t))
	before := string(t[:offset])
	line := strings.LastIndexByte(before, '\n') + 1
	return Pos{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(before[line:])}
}

// runePos is pos for an offset that counts runes.
func (t text) runePos(runes int) Pos {
	for offset := range string(t) {
		if runes <= 0 {
			return t.pos(offset)
		}
		runes--
	}
	return t.pos(len(t))
}

func (t text) refuse(offset int, hint, format string, args ...any) *Error {
	return &Error{Pos: t.pos(offset), Message: fmt.Sprintf(format, args...), Hint: hint}
}
