package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pos is a position in the text of a question. Line and Column start at 1. A column is a rune, and a line ends with
// "\n".
type Pos struct{ Line, Column int }

// String returns "line:column".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Error is a refusal. Message states the fault and the reason. Hint suggests an alternative, and may be empty.
type Error struct {
	Pos           Pos
	Message, Hint string
}

// Error returns the position and the message, without the hint.
func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// text is a question's text, with methods that convert offsets to positions.
type text string

// pos returns the position of a byte offset. An offset outside the text is moved to its start or end.
func (t text) pos(offset int) Pos {
	offset = min(max(offset, 0), len(t))
	before := string(t[:offset])
	line := strings.LastIndexByte(before, '\n') + 1
	return Pos{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(before[line:])}
}

// runePos returns the position of an offset that counts runes.
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
