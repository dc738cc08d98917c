package opaque

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
)

// Reader gives a mechanism access to the contents of sealed Rows.
type Reader Rows

// OpenRows opens rows for reading. It returns ErrRows unless the rows are sealed and have the given number of
// predictors.
func OpenRows(r *Rows, predictors int) (*Reader, error) {
	if r == nil || !r.sealed || len(r.x) != predictors {
		return nil, ErrRows
	}
	return (*Reader)(r), nil
}

// Grid returns the g of the predictors' grid: they are integers in units of 2^g.
func (r *Reader) Grid() int { return r.grid }

// Reach returns the bound on the predictors' L2 norm, in grid units.
func (r *Reader) Reach() int64 { return r.reach }

// Most returns the most rows of one unit.
func (r *Reader) Most() int64 { return r.shape.Most }

// Rows returns the number of rows.
func (r *Reader) Rows() int64 { return r.rows }

// Record returns the number of bytes per row.
func (r *Reader) Record() int { return r.record }

// Stored reports whether the rows are in a file. If so, Read copies them to its scratch buffer.
func (r *Reader) Stored() bool { return r.file != nil }

// Units returns the number of units.
func (r *Reader) Units() int64 {
	if r.starts != nil {
		return int64(len(r.starts))
	}
	return r.rows
}

// Span returns the range of a unit's rows, [from, to).
func (r *Reader) Span(unit int64) (from, to int64) {
	if r.starts == nil {
		return unit, unit + 1
	}
	if from, to = r.starts[unit], r.rows; unit+1 < int64(len(r.starts)) {
		to = r.starts[unit+1]
	}
	return from, to
}

// Read returns the records of the rows in [from, to). It returns the memory itself, or a copy in scratch if the
// rows are in a file.
func (r *Reader) Read(from, to int64, scratch []byte) ([]byte, error) {
	a, b := from*int64(r.record), to*int64(r.record)
	if r.file == nil {
		return r.buffer[a:b], nil
	}
	scratch = slices.Grow(scratch[:0], int(b-a))[:b-a]
	_, err := r.file.ReadAt(scratch, a)
	return scratch, err
}

// Decode decodes the record b. It stores the predictors in integers (grid units) and in x (multiplied by unit), and
// returns the response.
func (r *Reader) Decode(b []byte, integers []int64, x []float64, unit float64) (y float64) {
	for i := range x {
		v := int32(binary.LittleEndian.Uint32(b[4*i:]))
		integers[i], x[i] = int64(v), float64(v)*unit
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b[4*len(x):]))
}

// blockRows is the number of rows in a block, which one worker processes at a time.
const blockRows = 4096

// Each distributes all rows to workers in blocks. It calls work with the worker's number and the records of a
// block. The result must not depend on which worker gets which block.
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
