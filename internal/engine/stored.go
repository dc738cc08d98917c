package engine

import (
	"math"

	"dither/internal/bounded"
)

// OwnedFit reports whether the facts recorded about the tables below s, a bounded.Owned, prove that no unit has
// more than s.Stored rows there. Then no row needs to be left out. Proof: a unit's rows refer to at most as many
// rows as the unit has in the second input, and at most MostPerKey rows refer to each. ∎
func OwnedFit(s *bounded.Source, known func(table string) Sealed) bool {
	return owned(s, known) <= s.Stored
}

// owned returns an upper bound on the number of rows of one unit in s, before Stored applies.
func owned(s *bounded.Source, known func(table string) Sealed) int64 {
	child, parent := s.Inputs[0], s.Inputs[1]
	if child.Op != bounded.Scan {
		return math.MaxInt64
	}
	each, rows := known(child.Table).MostPerKey, int64(math.MaxInt64)
	switch parent.Op {
	case bounded.Scan:
		if one := known(parent.Table); one.MostRows > 0 {
			rows = one.MostRows
		}
	case bounded.Owned:
		rows = min(owned(parent, known), parent.Stored)
	default:
	}
	if each <= 0 || rows > math.MaxInt64/each {
		return math.MaxInt64
	}
	return each * rows
}
