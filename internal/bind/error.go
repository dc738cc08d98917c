package bind

import (
	"fmt"

	"dither/internal/query"
)

// Error is a refusal: the question is outside what the policy or the dialect allows. It is a function of the question and
// the policy alone.
type Error struct {
	Pos     query.Pos // the zero Pos where no one place is to blame
	Message string
	Hint    string
}

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Column, e.Message)
}

// Refuse makes a refusal, with what to write instead.
func Refuse(at query.Pos, hint, format string, args ...any) *Error {
	return &Error{Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint}
}
