package audit

import (
	"context"

	"dither/privacy"
)

// Side is one of the two neighbouring data sets that a mechanism is run on.
type Side int

// The sides.
const (
	Data Side = iota
	Neighbor
)

// Mechanism is what is audited: something that can be run, again and again, on a data set and on its neighbour.
type Mechanism interface {
	// Run runs it n times, independently, on one side, and gives each run's whole output, as text, to yield, in order.
	// The bytes are yield's until it returns. An error of yield ends the runs and is returned.
	Run(ctx context.Context, side Side, n int, yield func(output []byte) error) error
}

// Claim is the promise that is checked: (Epsilon, Delta)-differential privacy between the two sides, in both
// directions.
type Claim struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
}
