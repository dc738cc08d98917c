package channel

import (
	"errors"
	"fmt"

	"dither/internal/expsum"
)

// ErrWork reports a matrix and an adjacency for which a computation would take too long.
var ErrWork = errors.New("too much work")

// Limits on the work in floats. Within them, a result takes a few seconds at most.
const (
	maxWork   = 1 << 30 // entries of all pairs of rows, computed in floats
	maxPairs  = 1 << 25 // ordered pairs of rows
	maxListed = 1 << 25 // entries of listed pairs, whose ratios are compared one by one
)

// Limits on exact arithmetic, in units of [expsum.Work]. For scale: a matrix of 201 × 201 powers of e, normalized
// with as many denominators, takes 29 million units to read, and 21 million for its leakage. A normalized matrix of
// 1,000 × 1,000 large integers takes 112 units an entry.
const (
	readUnits     = 1 << 25 // for reading a matrix
	entryUnits    = 1 << 7  // more for each entry
	questionUnits = 1 << 25 // for one computation on a matrix
)

// reading returns the work limit for reading a matrix of this size.
func reading(rows, columns int) *expsum.Work {
	return expsum.NewWork(readUnits + int64(min(rows*columns, maxCells))*entryUnits)
}

// question returns the work limit for one computation on a matrix.
func question() *expsum.Work { return expsum.NewWork(questionUnits) }

func tooMuch(pairs, columns, most int) error {
	return fmt.Errorf(
		"%w: %d pairs of rows with %d entries; the limits are %d pairs and %d entries. List the adjacent pairs, or "+
			"fewer of them",
		ErrWork,
		pairs,
		columns,
		maxPairs,
		most,
	)
}
