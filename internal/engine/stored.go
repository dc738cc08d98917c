package engine

import (
	"math"

	"dither/internal/bounded"
)

// OwnedFit reports that no unit has more rows of an Owned than its Stored, by the facts recorded about the tables below
// it. Then no row needs to be left out. Proof: a unit's rows refer to at most as many rows as it has of the second
// input, and at most MostPerKey refer to each. ∎
func OwnedFit(s *bounded.Source, known func(table string) Sealed) bool {
	return owned(s, known) <= s.Stored
}

// owned bounds the rows of one unit before Stored applies.
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
