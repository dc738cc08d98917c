package cluster

import (
	"context"

	"dither/curator"
	"dither/noise"
)

// source answers accesses: the kernel, or in simulations made-up rows with noise by the kernel's laws.
type source interface {
	// take carries out an access. step is its index in the shares.
	take(ctx context.Context, step int, l access) (*cellSums, error)
	// deviation foretells the standard deviation of the counts' noise, and that of the sums', scaled: from public
	// numbers alone.
	deviation(ctx context.Context, step int, l access) (count, sum float64, err error)
}

// Kinds of an access's cells.
const (
	allRows  = "total"   // one, of all rows
	byCentre = "centres" // by the nearest centre
	// of a grid with so many buckets of each coordinate: that of the last coordinate varies fastest
	byBucket = "buckets"
	bySide   = "sides"  // by the sides of planes: the first is the highest bit of the cell's number
	byLeaf   = "leaves" // by the leaf that the cell of bySide belongs to
)

// access is one access to the rows: counts of rows by cells, and on request sums of their scaled vectors.
type access struct {
	kind    string
	sums    bool
	centres [][]float64
	buckets []int
	planes  []plane
	tree    *treeNode
	leaf    []int // of each cell of the planes
	leaves  int
	about   string // for the ledger
}

// plane is the plane normal·x = offset; a row is beyond it where normal·x is larger.
type plane struct {
	normal []float64
	offset float64
}

// cellSums are released counts and sums, scaled.
type cellSums struct {
	counts               []float64
	sums                 [][]float64
	absent               []bool // of byBucket: no row can be in the cell, and no number of it was released
	countNoise, sumNoise noise.Distribution
	sumUnit              float64
	id                   string
	replayed             bool
	remaining            curator.Loss
}

// take carries out an access and records its release.
func (r *result) take(ctx context.Context, s source, step int, l access) (*cellSums, error) {
	cells, err := s.take(ctx, step, l)
	if err != nil {
		return nil, err
	}
	r.releases, r.paid, r.remaining = append(r.releases, cells.id), r.paid || !cells.replayed, cells.remaining
	return cells, nil
}
