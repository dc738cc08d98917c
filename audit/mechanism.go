package audit

import (
	"context"

	"dither/privacy"
)

// Side is one of the two neighbouring datasets on which a mechanism runs.
type Side int

// The sides.
const (
	Data Side = iota
	Neighbor
)

// Mechanism is the subject of an audit: something that can be run repeatedly on a dataset and on its neighbour.
type Mechanism interface {
	// Run runs it n times, independently, on one side, and passes each run's whole output, as text, to yield, in order.
	// The bytes belong to yield until it returns. An error of yield ends the runs and is returned.
	Run(ctx context.Context, side Side, n int, yield func(output []byte) error) error
}

// Claim is the promise to check: (Epsilon, Delta)-differential privacy between the two sides, in both directions.
type Claim struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
}
