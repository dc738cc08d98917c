package channel

import (
	"errors"
	"fmt"

	"dither/internal/expsum"
)

// ErrWork reports a matrix and an adjacency that would take too long.
var ErrWork = errors.New("too much work")

// Limits on the work. Within them an answer takes seconds at most.
const (
	maxWork   = 1 << 30 // entries of pairs of rows, in floats
	maxPairs  = 1 << 25 // ordered pairs of rows
	maxListed = 1 << 25 // entries of listed pairs, whose ratios are compared one by one
)

// Limits of exact arithmetic, in the units of expsum.Work. A matrix of 201 × 201 powers of e, normalized with as many
// denominators, takes 29 million of them, and 21 million for its leakage; a thousand rows of a thousand large integers,
// normalized, 112 for each entry.
const (
	readUnits     = 1 << 25 // to read a matrix
	entryUnits    = 1 << 7  // and for each entry
	questionUnits = 1 << 25 // to answer a question about it
)

// reading is the work limit for reading a matrix.
func reading(rows, columns int) *expsum.Work {
	return expsum.NewWork(readUnits + int64(min(rows*columns, maxCells))*entryUnits)
}

// question is the work limit for one question.
func question() *expsum.Work { return expsum.NewWork(questionUnits) }

func tooMuch(pairs, columns, most int) error {
	return fmt.Errorf(
		"%w: %d pairs of rows of %d entries; at most %d pairs are compared, and %d entries. List the adjacent pairs, or fewer of them",
		ErrWork,
		pairs,
		columns,
		maxPairs,
		most,
	)
}
