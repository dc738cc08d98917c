package bind

import (
	"fmt"
	"math/big"

	"dither/internal/query"
)

// Error is a refusal of a question that the policy or the dialect does not allow. It depends on the question and
// the policy alone.
type Error struct {
	Pos     query.Pos // zero if no single position is to blame
	Message string
	Hint    string
	Price   bool // the refusal is of a price outside the policy's limits for one question
	// for a price below the policy's minimum: how many times as high it must be, rounded up, and whether that is meant in ρ
	Times *big.Rat
	InRho bool
	Many  bool // the refusal is of more groups than an answer may have
	Firm  bool // the question over fewer keys would be another question
	Bare  bool // the refusal is of a question without an aggregate
	// the form is refused over rows of persons, and supported over the rows of an answer, which package post computes
	Outer   bool
	Instead Instead // the form that the planner may suggest in this question's own names
}

// Instead is a form to write instead of a refused one.
type Instead string

// The forms that the planner tries and suggests.
const (
	UnitsFirst   Instead = "units first"   // a subquery that aggregates the rows of each unit
	NearExtremum Instead = "near extremum" // a quantile near the least or the greatest value
	PublicValue  Instead = "public value"  // the value of a subquery that aggregates public rows, as a constant
	OverAnswer   Instead = "over answer"   // a window function over the rows of an answer
)

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Column, e.Message)
}

// RefuseHere returns a refusal of a form that is supported over the rows of an answer.
func RefuseHere(at query.Pos, hint, format string, args ...any) *Error {
	e := Refuse(at, hint, format, args...)
	e.Outer = true
	return e
}

// Refuse returns a refusal. The hint says what to write instead, and may be empty.
func Refuse(at query.Pos, hint, format string, args ...any) *Error {
	return &Error{Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// OfPublicValue reports whether the question would be answered with a constant for a subquery that aggregates public rows.
func (e *Error) OfPublicValue() bool { return e.Instead == PublicValue }

// OfUnits reports whether the question would be answered around a subquery that aggregates the rows of each unit.
func (e *Error) OfUnits() bool { return e.Instead == UnitsFirst }
