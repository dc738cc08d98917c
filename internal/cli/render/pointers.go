package render

import (
	"math"
)

// TextOrNull returns a pointer to a text, or nil if the text is empty.
func TextOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// NumberOrNull returns a pointer to a number, or nil if it is not finite.
func NumberOrNull(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
