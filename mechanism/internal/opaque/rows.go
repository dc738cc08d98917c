package opaque

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"

	"dither/mechanism/internal/parameter"
)

// Rows are exact rows on their way from an engine to a mechanism that reads them repeatedly. A row is a vector of
// predictors x and a response y; the rows of one unit are adjacent. Engines add rows; OpenRows reads them.
//
// Each stored row is a pure function of its own integers: x is an integer vector with ‖x‖₂ ≤ reach, in units of
// 2^grid, and y a double. Neither depends on the other rows, or on their order.
//
// Beyond some megabytes, rows are kept in an unnamed file in Dir with mode 0600, which disappears with the process.
type Rows struct {
	redacted
	shape RowShape
	grid  int   // of the predictors
	reach int64 // the norm's bound, on that grid
	// the factors of a coordinate's integers: to the grid, and for the response to its own unit
	scales []float64
	record int // bytes of a row

	buffer []byte // complete records that are not in the file yet
	file   *os.File
	stored int64 // bytes in the file
	rows   int64
	starts []int64 // the number of each unit's first row; nil as long as each unit has one row

	unit   [][]byte // the rows of the present unit
	x      []int64
	sealed bool
}

// RowShape is the public shape of rows, known before there are any.
type RowShape struct {
	Grids []int    // the coordinates' integers are in units of 2^Grids[i]; the last one is the response
	Bound *big.Rat // on the predictors' L2 norm, in their own units; a longer vector is scaled down to it
	Most  int64    // rows of a unit
	Dir   string   // the folder of the file
}

const (
	// ReachBits is a number of bits: the norm's bound is between 2^22 and 2^23 units of the grid. A row's predictor is
	// rounded by half a unit.
	ReachBits = 23
	// maxPredictors keeps sums of squares, and statements, within bounds.
	maxPredictors = 1024
	// inMemory is how many bytes are held without a file.
	inMemory = 64 << 20
	// maxUnitBytes bounds what may be held of one unit.
	maxUnitBytes = 1 << 28
)

// ErrRows reports rows that do not match their shape. It is a defect of the engine, and says nothing about the values.
var ErrRows = errors.New("rows that are not of the shape that was asked for")

// NewRows makes room for rows. The error is parameter.Err.
func NewRows(s RowShape) (*Rows, error) {
	switch {
	case len(s.Grids) < 2 || len(s.Grids) > maxPredictors+1:
		return nil, fmt.Errorf("%w: a row has 1 to %d predictors, and a response", parameter.Err, maxPredictors)
	case s.Bound == nil || s.Bound.Sign() <= 0 || !parameter.Within(s.Bound, 100):
		return nil, fmt.Errorf("%w: the norm of the predictors needs a bound above 0, and between 2^-100 and 2^100",
			parameter.Err)
	case s.Most < 1 || s.Most > parameter.MaxUnitRows:
		return nil, fmt.Errorf("%w: a unit needs between 1 and 2^40 rows", parameter.Err)
	case s.Most > 1 && s.Most > maxUnitBytes/int64(4*len(s.Grids)+4): // so that no unit's rows decide whether it fails
		return nil, fmt.Errorf(
			"%w: the rows of one unit are held together, and may be too large for that: fewer rows, or fewer predictors",
			parameter.Err,
		)
	}
	r := &Rows{shape: s, record: 4*(len(s.Grids)-1) + 8, x: make([]int64, len(s.Grids)-1)}
	r.grid, r.reach = GridOf(s.Bound, ReachBits)
	for i, g := range s.Grids {
		if g < -1100 || g > 1000 {
			return nil, fmt.Errorf("%w: a coordinate's grid of 2^%d", parameter.Err, g)
		}
		if i < len(s.Grids)-1 {
			g -= r.grid
		}
		r.scales = append(r.scales, math.Ldexp(1, g))
	}
	return r, nil
}

// Add adds a row: its coordinates' integers, the response last. first begins a new unit. The error is ErrRows, or the
// file's.
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
		if v != 0 {
			// else a coordinate far coarser than the grid, whose scale is beyond the doubles, has what is no number
			x := math.RoundToEven(float64(v) * r.scales[i])
			r.x[i] = int64(min(max(x, -Farthest), Farthest))
		}
	}
	Shorten(r.x, r.reach)
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

// flushUnit sorts the rows of a unit by their bytes, an order that depends on these rows alone.
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

// spill writes the buffer to the file once it is large.
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

// Seal ends the adding.
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

// Close releases the memory and the file.
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
