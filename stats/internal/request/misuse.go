// Package request holds the parts that statistical methods share when they ask the curator. It checks conditions
// and confidence levels, divides one price among several accesses to the rows, and reports the accesses that were
// paid when a method stops midway.
package request

import (
	"fmt"

	"dither/curator"
)

// Misuse returns the error for a request that cannot be carried out. hint suggests a valid request.
func Misuse(hint, format string, args ...any) error {
	return &curator.Error{Code: curator.CodeUsage, Message: fmt.Sprintf(format, args...), Hint: hint}
}
