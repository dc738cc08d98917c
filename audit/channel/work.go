package channel

import (
	"errors"
	"fmt"
)

// ErrWork reports a matrix and an adjacency that would take too long.
var ErrWork = errors.New("too much work")

// maxWork is how many entries of pairs are looked at.
const maxWork = 1 << 32

func tooMuch(pairs, columns int) error {
	return fmt.Errorf("%w: %d pairs of rows of %d entries; at most %d entries are compared. List the adjacent pairs, or fewer of them", ErrWork, pairs, columns, maxWork)
}
