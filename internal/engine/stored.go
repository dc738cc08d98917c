package engine

import (
	"math"

	"dither/internal/bounded"
)

// OwnedFit holds where no unit has more rows of an Owned than its Stored, by what was recorded of the tables below it:
// then there is nothing to leave out. Proof: a unit's rows refer to at most as many rows as it has of the second input,
// and to each refer at most MostPerKey. ∎
func OwnedFit(s *bounded.Source, known func(table string) Sealed) bool {
	return owned(s, known) <= s.Stored
}

// owned bounds the rows of one unit before Stored does.
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
