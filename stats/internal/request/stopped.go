package request

import (
	"errors"
	"strings"

	"dither/curator"
)

// Stopped adds to the hint of an error which releases preceded it. Their prices stay spent, and they are free when
// asked for again.
func Stopped(err error, releases ...string) error {
	var e *curator.Error
	if len(releases) == 0 || !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Hint = "what was released before this (" + strings.Join(releases, ", ") +
		") stays paid, and is free when it is asked for again"
	if e.Hint != "" {
		told.Hint = e.Hint + "; " + told.Hint
	}
	return &told
}

// Partly explains a price that the policy refuses: it is a part of the price that the user asked for.
func Partly(err error) error {
	var e *curator.Error
	if !errors.As(err, &e) || e.Code != curator.CodePolicy || !strings.HasPrefix(e.Message, "a price of ") {
		return err
	}
	told := *e
	told.Hint = "this takes several looks, each at a part of the price, and this is one of them: ask at a larger price"
	return &told
}
