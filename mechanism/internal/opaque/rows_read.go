package opaque

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
)

// Reader reads opened Rows.
type Reader Rows

// OpenRows opens rows. It returns ErrRows unless they are sealed and have this number of predictors.
func OpenRows(r *Rows, predictors int) (*Reader, error) {
	if r == nil || !r.sealed || len(r.x) != predictors {
		return nil, ErrRows
	}
	return (*Reader)(r), nil
}

// Grid says what an integer of a predictor stands for: 2^Grid.
func (r *Reader) Grid() int { return r.grid }

// Reach is the bound of the predictors' norm, on the grid.
func (r *Reader) Reach() int64 { return r.reach }

// Most is the bound of a unit's rows.
func (r *Reader) Most() int64 { return r.shape.Most }

// Rows is the number of rows.
func (r *Reader) Rows() int64 { return r.rows }

// Record is the number of bytes of a row.
func (r *Reader) Record() int { return r.record }

// Stored reports whether the rows are in a file: then Read uses its scratch.
func (r *Reader) Stored() bool { return r.file != nil }

// Units is the number of units.
func (r *Reader) Units() int64 {
	if r.starts != nil {
		return int64(len(r.starts))
	}
	return r.rows
}

// Span is the range of a unit's rows: from, and up to but without to.
func (r *Reader) Span(unit int64) (from, to int64) {
	if r.starts == nil {
		return unit, unit + 1
	}
	if from, to = r.starts[unit], r.rows; unit+1 < int64(len(r.starts)) {
		to = r.starts[unit+1]
	}
	return from, to
}

// Read returns the records of the rows from one to another: those in memory, or a copy in scratch.
func (r *Reader) Read(from, to int64, scratch []byte) ([]byte, error) {
	a, b := from*int64(r.record), to*int64(r.record)
	if r.file == nil {
		return r.buffer[a:b], nil
	}
	scratch = slices.Grow(scratch[:0], int(b-a))[:b-a]
	_, err := r.file.ReadAt(scratch, a)
	return scratch, err
}

// Decode decodes a record: the predictors as integers and as doubles, in the given units, and the response.
func (r *Reader) Decode(b []byte, integers []int64, x []float64, unit float64) (y float64) {
	for i := range x {
		v := int32(binary.LittleEndian.Uint32(b[4*i:]))
		integers[i], x[i] = int64(v), float64(v)*unit
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b[4*len(x):]))
}

// blockRows is how many rows a worker takes at a time.
const blockRows = 4096

// Each distributes all rows among workers, in blocks: it calls work with the worker's number and a block's records. The
// result must not depend on which worker gets which rows.
func (r *Reader) Each(ctx context.Context, workers int, work func(worker int, records []byte)) error {
	blocks := make(chan int64)
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			var scratch []byte
			for from := range blocks {
				if errs[w] == nil {
					errs[w] = ctx.Err()
				}
				if errs[w] != nil {
					continue
				}
				records, err := r.Read(from, min(from+blockRows, r.rows), scratch)
				if err != nil {
					errs[w] = err
					continue
				}
				if r.file != nil {
					scratch = records
				}
				work(w, records)
			}
			clear(scratch)
		})
	}
	for from := int64(0); from < r.rows; from += blockRows {
		blocks <- from
	}
	close(blocks)
	all.Wait()
	return errors.Join(errs...)
}
