package stats

import (
	"context"

	"dither/curator"
	"dither/noise"
)

// kmSource is what clustering asks of rows: the kernel; in simulations, rows that are made up, with noise by the kernel's laws.
type kmSource interface {
	// look takes the look that stands at a place in the order of kmShares.
	look(ctx context.Context, step int, l kmLook) (*kmCells, error)
	// deviation foretells the standard deviation of the counts' noise, and that of the sums', scaled: from public numbers alone.
	deviation(ctx context.Context, step int, l kmLook) (count, sum float64, err error)
}

// What a look's cells are.
const (
	kmTotal   = "total"   // one, of all rows
	kmCentres = "centres" // by the nearest centre
	kmBuckets = "buckets" // of a grid with so many buckets of each coordinate: that of the last coordinate varies fastest
	kmSides   = "sides"   // by the sides of planes: the first is the highest bit of the cell's number
	kmLeaves  = "leaves"  // by the leaf that the cell of kmSides belongs to
)

// kmLook is one look: counts of rows by cells, and on request sums of their scaled vectors.
type kmLook struct {
	kind    string
	sums    bool
	centres [][]float64
	buckets []int
	planes  []kmPlane
	tree    *kmNode
	leaf    []int // of each cell of the planes
	leaves  int
	about   string // for the ledger
}

// kmPlane is the plane normal·x = offset; a row is beyond it where normal·x is larger.
type kmPlane struct {
	normal []float64
	offset float64
}

// kmCells are released counts and sums, scaled.
type kmCells struct {
	counts               []float64
	sums                 [][]float64
	absent               []bool // of kmBuckets: no row can be in the cell, and no number of it was released
	countNoise, sumNoise noise.Distribution
	sumUnit              float64
	id                   string
	replayed             bool
	remaining            curator.Loss
}

// look takes a look and keeps account.
func (r *kmResult) look(ctx context.Context, s kmSource, step int, l kmLook) (*kmCells, error) {
	cells, err := s.look(ctx, step, l)
	if err != nil {
		return nil, err
	}
	r.releases, r.paid, r.remaining = append(r.releases, cells.id), r.paid || !cells.replayed, cells.remaining
	return cells, nil
}
