package request

import (
	"errors"
	"strings"

	"dither/curator"
)

// Stopped adds to the hint of an error the releases that the method made before it failed. Their prices stay spent,
// and asking for them again is free.
func Stopped(err error, releases ...string) error {
	var e *curator.Error
	if len(releases) == 0 || !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Hint = "the earlier releases (" + strings.Join(releases, ", ") +
		") stay paid: repeating them is free"
	if e.Hint != "" {
		told.Hint = e.Hint + "; " + told.Hint
	}
	return &told
}

// Partly adds a hint to the error for a price that the policy refuses. The hint says that the refused price is one
// access's part of the price that the user gave, and by how much to raise that price.
func Partly(err error) error {
	var e *curator.Error
	if !errors.As(err, &e) || !errors.Is(err, curator.ErrPriceLimits) {
		return err
	}
	told := *e
	told.Hint = "the price is divided among several accesses, and this is one of them: raise the price"
	if times, inRho := e.TooLow(); times != nil {
		places, _ := times.FloatPrec()
		told.Hint += " to at least " + times.FloatString(places) + " times as much"
		if inRho {
			told.Hint += ", in ρ"
		}
	}
	return &told
}
