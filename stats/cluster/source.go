package cluster

import (
	"context"

	"dither/curator"
	"dither/noise"
)

// source makes accesses. It is the kernel or, in simulations, made-up rows with noise from the kernel's
// distributions.
type source interface {
	// take makes the access with the given index in the shares.
	take(ctx context.Context, step int, l access) (*cellSums, error)
	// deviation returns the standard deviations of the noise on the counts and on the scaled sums. It uses public
	// numbers alone.
	deviation(ctx context.Context, step int, l access) (count, sum float64, err error)
}

// Kinds of cells that an access counts.
const (
	allRows  = "total"   // a single cell with all rows
	byCentre = "centres" // one cell for each centre, with the rows nearest to it
	// one cell for each combination of the coordinates' buckets; the last coordinate varies fastest
	byBucket = "buckets"
	// one cell for each combination of the sides of planes; the first plane is the highest bit of the cell's number
	bySide = "sides"
	byLeaf = "leaves" // one cell for each leaf, which joins cells of bySide
)

// access is one access to the rows. It counts the rows of each cell, and if sums is set also adds up their scaled
// vectors.
type access struct {
	kind    string
	sums    bool
	centres [][]float64
	buckets []int
	planes  []plane
	tree    *treeNode
	leaf    []int // leaf of each combination of sides
	leaves  int
	about   string // description for the ledger
}

// plane is the plane normal·x = offset. A row x is beyond it if normal·x > offset.
type plane struct {
	normal []float64
	offset float64
}

// cellSums are released counts and sums in scaled units, by cell.
type cellSums struct {
	counts               []float64
	sums                 [][]float64
	absent               []bool // for byBucket: no row can be in the cell, so its count is 0 without noise
	countNoise, sumNoise noise.Distribution
	sumUnit              float64
	id                   string
	replayed             bool
	remaining            curator.Loss
	limits               *curator.Limits
}

// take makes an access and records its release in the result.
func (r *result) take(ctx context.Context, s source, step int, l access) (*cellSums, error) {
	cells, err := s.take(ctx, step, l)
	if err != nil {
		return nil, err
	}
	r.releases, r.paid, r.remaining = append(r.releases, cells.id), r.paid || !cells.replayed, cells.remaining
	r.limits = cells.limits
	return cells, nil
}
