package stats

import (
	"fmt"

	"dither/curator"
)

// misuse refuses what is asked; hint says what to ask instead.
func misuse(hint, format string, args ...any) error {
	return &curator.Error{Code: curator.CodeUsage, Message: fmt.Sprintf(format, args...), Hint: hint}
}
