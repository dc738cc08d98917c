package text

import (
	"strings"

	"dither/internal/value"
)

// stepsOf is the number of steps that count as one unit of work.
const stepsOf = 256

// Work returns about how much computing the function with a name takes for these values, in units of a few
// microseconds. A match takes as many steps as the product of the lengths of the text and of the pattern. A search for
// all matches begins anew after each one.
func Work(name string, args []value.Value) int {
	all := 0
	for _, a := range args {
		all += len(a.Text)
	}
	steps := all
	if len(args) > 1 {
		s := len(args[0].Text)
		switch name {
		case "like", "ilike", "translate":
			steps += s * len(args[1].Text)
		case "~", "regexp_like", "regexp_substr":
			steps += s * sizeOf(args[1].Text, false)
		case "~*":
			steps += s * sizeOf(args[1].Text, true)
		case "similar_to":
			pattern, _ := similarPattern(args[1].Text)
			steps += s * sizeOf(pattern, false)
		case "regexp_count":
			steps += s * s * sizeOf(args[1].Text, false)
		case "regexp_replace":
			flags := args[len(args)-1].Text
			n := s * sizeOf(args[1].Text, len(args) == 4 && strings.Contains(flags, "i"))
			if len(args) == 4 && strings.Contains(flags, "g") {
				n *= s
			}
			steps += n
		}
	}
	return 1 + steps/stepsOf
}

// sizeOf returns the size of a pattern, or 0 if it is not supported.
func sizeOf(pattern string, anyCase bool) int {
	p, ok := compiledOf(pattern, anyCase)
	if !ok {
		return 0
	}
	return p.size
}
