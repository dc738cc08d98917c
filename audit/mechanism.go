package audit

import (
	"context"

	"dither/privacy"
)

// Side is one of the two neighbouring datasets on which a mechanism runs.
type Side int

// The two datasets of an audit: the data and its neighbour.
const (
	Data Side = iota
	Neighbor
)

// Mechanism is the subject of an audit: a mechanism that can be run many times on a dataset and on its neighbour.
type Mechanism interface {
	// Run runs the mechanism n times on one side. The runs are independent. Run passes the whole output of each
	// run, as text, to yield, in order. The slice is valid only until yield returns. If yield returns an error, Run
	// stops and returns that error.
	Run(ctx context.Context, side Side, n int, yield func(output []byte) error) error
}

// Claim is the promise that an audit checks: (Epsilon, Delta)-differential privacy between the two sides, in both
// directions.
type Claim struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
}
