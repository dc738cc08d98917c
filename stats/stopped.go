package stats

import (
	"errors"
	"strings"

	"dither/curator"
)

// stopped says of the error that ended a plan of several looks which of them were taken before it. They are recorded, and what was paid for them stays spent.
func stopped(err error, releases ...string) error {
	var e *curator.Error
	if len(releases) == 0 || !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Hint = "what was released before this (" + strings.Join(releases, ", ") + ") stays paid, and is free when it is asked for again"
	if e.Hint != "" {
		told.Hint = e.Hint + "; " + told.Hint
	}
	return &told
}

// partly says of a price that the policy does not take where it comes from: it is a part of the one that was asked for.
func partly(err error) error {
	var e *curator.Error
	if !errors.As(err, &e) || e.Code != curator.CodePolicy || !strings.HasPrefix(e.Message, "a price of ") {
		return err
	}
	told := *e
	told.Hint = "this takes several looks, each at a part of the price, and this is one of them: ask at a larger price"
	return &told
}
