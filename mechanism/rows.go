package mechanism

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"os"
	"slices"
	"sync"

	"dither/internal/exact"
)

// Rows are true rows on their way from an engine to a mechanism that passes over them again and again: each a vector of predictors x
// and a response y, the rows of one unit beside each other. They are as opaque as Exact: engines fill them, and only this package
// reads them.
//
// A row is what a pure function of that row's own integers makes of it: x an integer vector with ‖x‖₂ ≤ Reach, in units of
// 2^Grid, and y a double. Which other rows there are, and in which order they come, changes neither.
//
// What is beyond some megabytes is in a file of Dir, of mode 0600, that has no name: it ends with the process, whatever ends that.
type Rows struct {
	shape  RowShape
	grid   int       // of the predictors
	reach  int64     // the norm's bound, on that grid
	scales []float64 // by which a coordinate's integers are multiplied: to the grid, and of the response to its own unit
	record int       // bytes of a row

	buffer []byte // what is not in the file yet: whole records
	file   *os.File
	stored int64 // bytes in the file
	rows   int64
	starts []int64 // of each unit the number of its first row; nil as long as each has one

	unit   [][]byte // the rows of the unit that is being added
	x      []int64
	sealed bool
}

// RowShape is what is known of rows before there are any.
type RowShape struct {
	Grids []int    // the coordinates' integers are in units of 2^Grids[i]; the last one is the response
	Bound *big.Rat // of the predictors' L2 norm, in their own units: a longer vector is scaled down to it
	Most  int64    // rows of a unit
	Dir   string   // where the file is
}

const (
	// reachBits: the norm's bound is between 2^22 and 2^23 units of the grid. A row's predictor is rounded by half a unit.
	reachBits = 23
	// maxPredictors keeps sums of squares, and statements, within bounds.
	maxPredictors = 1024
	// inMemory is how much is held without a file.
	inMemory = 64 << 20
	// maxUnitBytes bounds what may be held of one unit.
	maxUnitBytes = 1 << 28
)

// ErrRows reports rows that are not of their shape: a defect of the engine's, which says nothing of the values.
var ErrRows = errors.New("rows that are not of the shape that was asked for")

// NewRows makes room for rows. The error is ErrParameter.
func NewRows(s RowShape) (*Rows, error) {
	switch {
	case len(s.Grids) < 2 || len(s.Grids) > maxPredictors+1:
		return nil, fmt.Errorf("%w: a row has 1 to %d predictors, and a response", ErrParameter, maxPredictors)
	case s.Bound == nil || s.Bound.Sign() <= 0 || !within(s.Bound, 100):
		return nil, fmt.Errorf("%w: the norm of the predictors needs a bound above 0, and between 2^-100 and 2^100", ErrParameter)
	case s.Most < 1 || s.Most > maxUnitRows:
		return nil, fmt.Errorf("%w: a unit needs between 1 and 2^40 rows", ErrParameter)
	case s.Most > 1 && s.Most > maxUnitBytes/int64(4*len(s.Grids)+4): // so that no unit's rows decide it
		return nil, fmt.Errorf("%w: the rows of one unit are held together, and may be too large for that: fewer rows, or fewer predictors", ErrParameter)
	}
	r := &Rows{shape: s, record: 4*(len(s.Grids)-1) + 8, x: make([]int64, len(s.Grids)-1)}
	r.grid, r.reach = gridOf(s.Bound, reachBits)
	for i, g := range s.Grids {
		if g < -1100 || g > 1000 {
			return nil, fmt.Errorf("%w: a coordinate's grid of 2^%d", ErrParameter, g)
		}
		if i < len(s.Grids)-1 {
			g -= r.grid
		}
		r.scales = append(r.scales, math.Ldexp(1, g))
	}
	return r, nil
}

// within tells a positive rational that lies between 2^-bits and 2^bits, and is not too long.
func within(r *big.Rat, bits int) bool {
	size := r.Num().BitLen() - r.Denom().BitLen()
	return size >= -bits && size <= bits && r.Num().BitLen() <= 4096 && r.Denom().BitLen() <= 4096
}

// gridOf is a grid 2^g and the largest integer of it that is not above r, which has so many bits.
func gridOf(r *big.Rat, bits int) (g int, n int64) {
	g = r.Num().BitLen() - r.Denom().BitLen() - bits // r/2^g is between 2^(bits-1) and 2^(bits+1)
	for {
		f := exact.FloorRat(shiftedRat(r, -g))
		if f.BitLen() <= bits {
			return g, f.Int64()
		}
		g++
	}
}

// shiftedRat is r·2^n.
func shiftedRat(r *big.Rat, n int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n)))
	if n < 0 {
		return new(big.Rat).Mul(r, new(big.Rat).SetFrac(big.NewInt(1), p))
	}
	return new(big.Rat).Mul(r, new(big.Rat).SetInt(p))
}

// Add adds a row: its coordinates' integers, the response last. first begins a new unit. The error is ErrRows, or the file's.
func (r *Rows) Add(first bool, row []int64) error {
	if r.sealed || len(row) != len(r.shape.Grids) {
		return ErrRows
	}
	switch {
	case first || r.rows+int64(len(r.unit)) == 0:
		if err := r.flushUnit(); err != nil {
			return err
		}
	case len(r.unit) == 0, int64(len(r.unit)) >= r.shape.Most:
		return ErrRows
	}
	d := len(r.x)
	for i, v := range row[:d] {
		r.x[i] = 0
		if v != 0 { // else a coordinate far coarser than the grid, whose scale is beyond the doubles, has what is no number
			x := math.RoundToEven(float64(v) * r.scales[i])
			r.x[i] = int64(min(max(x, -farthest), farthest))
		}
	}
	shorten(r.x, r.reach)
	if r.shape.Most == 1 { // nothing to put in order
		for _, x := range r.x {
			r.buffer = binary.LittleEndian.AppendUint32(r.buffer, uint32(int32(x)))
		}
		r.buffer = binary.LittleEndian.AppendUint64(r.buffer, math.Float64bits(float64(row[d])*r.scales[d]))
		r.rows++
		return r.spill()
	}
	b := make([]byte, 0, r.record)
	for _, x := range r.x {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(x)))
	}
	r.unit = append(r.unit, binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(row[d])*r.scales[d])))
	return nil
}

// farthest is how far a predictor may be from 0 before its row is scaled down, in units of the grid. Sums of squares of maxPredictors
// such numbers are below 2^62.
const farthest = 1 << (reachBits + 3)

// shorten scales an integer vector down to an L2 norm of at most reach, which is at least 0: towards 0, so that it never
// becomes longer, whatever was rounded before.
//
// Proof. Let s be the norm, S ≥ s. Where S ≤ reach, s ≤ reach. Else each x_i becomes an integer of a size of at most
// |x_i|·reach/S: the norm is then at most s·reach/S ≤ reach. S is an integer: the double square root of the double of
// a sum of squares below 2^63, raised by a part in 2^40 and 1, which is more than those two roundings took.
func shorten(x []int64, reach int64) {
	sum := uint64(0)
	for _, v := range x {
		sum += uint64(v * v)
	}
	if sum <= uint64(reach)*uint64(reach) {
		return
	}
	s := int64(math.Ceil(math.Sqrt(float64(sum))*(1+0x1p-40))) + 1
	for i, v := range x {
		x[i] = v * reach / s // of Go's integers, towards 0; below 2^59
	}
}

// flushUnit puts the rows of a unit in an order that is theirs alone: that of their bytes.
func (r *Rows) flushUnit() error {
	if len(r.unit) == 0 {
		return nil
	}
	slices.SortFunc(r.unit, bytes.Compare)
	r.starts = append(r.starts, r.rows)
	for _, b := range r.unit {
		r.buffer = append(r.buffer, b...)
	}
	r.rows += int64(len(r.unit))
	r.unit = r.unit[:0]
	return r.spill()
}

// spill writes the buffer to the file where it is large.
func (r *Rows) spill() error {
	if len(r.buffer) < inMemory {
		return nil
	}
	return r.write()
}

func (r *Rows) write() error {
	if r.file == nil {
		f, err := os.CreateTemp(r.shape.Dir, "rows-*") // 0600
		if err != nil {
			return err
		}
		r.file = f
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	n, err := r.file.Write(r.buffer)
	r.stored += int64(n)
	clear(r.buffer)
	r.buffer = r.buffer[:0]
	return err
}

// Seal ends the adding. Of a table without rows there are none.
func (r *Rows) Seal() error {
	if err := r.flushUnit(); err != nil {
		return err
	}
	r.sealed = true
	if r.file != nil {
		return r.write()
	}
	return nil
}

// Close gives back what the rows took.
func (r *Rows) Close() error {
	clear(r.buffer)
	r.buffer, r.starts, r.rows = nil, nil, 0
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// units is how many there are.
func (r *Rows) units() int64 {
	if r.starts != nil {
		return int64(len(r.starts))
	}
	return r.rows
}

// span are the rows of a unit.
func (r *Rows) span(unit int64) (from, to int64) {
	if r.starts == nil {
		return unit, unit + 1
	}
	if from, to = r.starts[unit], r.rows; unit+1 < int64(len(r.starts)) {
		to = r.starts[unit+1]
	}
	return from, to
}

// read gives the records from one row to another. They are in memory, or read into scratch.
func (r *Rows) read(from, to int64, scratch []byte) ([]byte, error) {
	a, b := from*int64(r.record), to*int64(r.record)
	if r.file == nil {
		return r.buffer[a:b], nil
	}
	scratch = slices.Grow(scratch[:0], int(b-a))[:b-a]
	_, err := r.file.ReadAt(scratch, a)
	return scratch, err
}

// decode reads a record: the predictors as integers and as doubles in their own units, and the response.
func (r *Rows) decode(b []byte, integers []int64, x []float64, unit float64) (y float64) {
	for i := range x {
		v := int32(binary.LittleEndian.Uint32(b[4*i:]))
		integers[i], x[i] = int64(v), float64(v)*unit
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b[4*len(x):]))
}

// blockRows is how many rows a worker takes at a time.
const blockRows = 4096

// each gives all rows to workers, in blocks: work is called with the worker's number and a block's records. What they do
// must not depend on which rows each gets.
func (r *Rows) each(ctx context.Context, workers int, work func(worker int, records []byte)) error {
	if !r.sealed {
		return ErrRows
	}
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
				records, err := r.read(from, min(from+blockRows, r.rows), scratch)
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

// String reveals nothing.
func (*Rows) String() string { return redacted }

// GoString reveals nothing.
func (*Rows) GoString() string { return redacted }

// Format reveals nothing, whatever the verb that asks it.
func (*Rows) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue reveals nothing.
func (*Rows) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is an error: true values must not be encoded by accident.
func (*Rows) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText is an error.
func (*Rows) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary is an error.
func (*Rows) MarshalBinary() ([]byte, error) { return nil, errRedacted }
