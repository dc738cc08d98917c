// Package request holds what the statistical methods share when they ask the curator: they check conditions and
// confidences, divide one price among several accesses to the rows, and report which accesses were paid when a method
// stops midway.
package request

import (
	"fmt"

	"dither/curator"
)

// Misuse is the error of a request that cannot be carried out; hint says what to ask instead.
func Misuse(hint, format string, args ...any) error {
	return &curator.Error{Code: curator.CodeUsage, Message: fmt.Sprintf(format, args...), Hint: hint}
}
