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

// Rows holds exact rows that an engine passes to a mechanism, which reads them repeatedly. A row is a vector of
// predictors x and a response y. The rows of one unit are adjacent. Engines add rows with [Rows.Add]. OpenRows
// opens them for reading.
//
// Each stored row depends only on its own integers, not on other rows or their order. x is an integer vector in
// units of 2^grid with ‖x‖₂ ≤ reach. y is a float64.
//
// If the rows need more than inMemory bytes, they are stored in an unnamed file in Dir with mode 0600, which
// disappears with the process.
type Rows struct {
	redacted
	shape RowShape
	grid  int   // the predictors are in units of 2^grid
	reach int64 // the bound on the predictors' L2 norm, in units of 2^grid
	// one factor for each coordinate: a predictor's factor converts to grid units, the response's to its own unit
	scales []float64
	record int // bytes per row

	buffer []byte // complete records that are not in the file yet
	file   *os.File
	stored int64 // number of bytes in the file
	rows   int64
	starts []int64 // the index of each unit's first row; nil if each unit has one row

	unit   [][]byte // the rows of the current unit, not yet sorted
	x      []int64
	sealed bool
}

// RowShape is the public shape of rows, known before any row is added.
type RowShape struct {
	Grids []int    // coordinate i is an integer in units of 2^Grids[i]; the last coordinate is the response
	Bound *big.Rat // the bound on the predictors' L2 norm, in their own units; a longer vector is scaled down to it
	Most  int64    // the most rows of one unit
	Dir   string   // the folder of the file
}

const (
	// ReachBits is the number of bits of the norm's bound in grid units, which is between 2^22 and 2^23. Rounding a
	// predictor to the grid moves it by at most half a grid unit.
	ReachBits = 23
	// maxPredictors limits the predictors, so that sums of squares fit in 64 bits and statements stay short.
	maxPredictors = 1024
	// inMemory is the number of buffered bytes at which rows are written to a file.
	inMemory = 64 << 20
	// maxUnitBytes limits the memory for the rows of one unit.
	maxUnitBytes = 1 << 28
)

// ErrRows reports rows that do not match their shape. It is a defect of the engine, and says nothing about the
// values.
var ErrRows = errors.New("the rows do not have the required shape")

// NewRows returns a Rows of the given shape, without rows. The error is parameter.Err.
func NewRows(s RowShape) (*Rows, error) {
	switch {
	case len(s.Grids) < 2 || len(s.Grids) > maxPredictors+1:
		return nil, fmt.Errorf("%w: a row must have 1 to %d predictors and a response", parameter.Err, maxPredictors)
	case s.Bound == nil || s.Bound.Sign() <= 0 || !parameter.Within(s.Bound, 100):
		return nil, fmt.Errorf("%w: the bound on the predictors' norm must be between 2^-100 and 2^100",
			parameter.Err)
	case s.Most < 1 || s.Most > parameter.MaxUnitRows:
		return nil, fmt.Errorf("%w: the most rows of a unit must be from 1 to 2^40", parameter.Err)
	// a limit on the shape, so that no unit's rows can cause a failure
	case s.Most > 1 && s.Most > maxUnitBytes/int64(4*len(s.Grids)+4):
		return nil, fmt.Errorf(
			"%w: the rows of one unit must fit in memory together, and may be too large: use fewer rows or fewer "+
				"predictors",
			parameter.Err,
		)
	}
	r := &Rows{shape: s, record: 4*(len(s.Grids)-1) + 8, x: make([]int64, len(s.Grids)-1)}
	r.grid, r.reach = GridOf(s.Bound, ReachBits)
	for i, g := range s.Grids {
		if g < -1100 || g > 1000 {
			return nil, fmt.Errorf("%w: the grid 2^%d of a coordinate is beyond the limits", parameter.Err, g)
		}
		if i < len(s.Grids)-1 {
			g -= r.grid
		}
		r.scales = append(r.scales, math.Ldexp(1, g))
	}
	return r, nil
}

// Add adds a row: the integers of its coordinates, with the response last. first means that the row begins a new
// unit. The error is ErrRows or comes from the file.
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
			// v = 0 is skipped: if its scale overflows to infinity, the product would be NaN.
			x := math.RoundToEven(float64(v) * r.scales[i])
			r.x[i] = int64(min(max(x, -Farthest), Farthest))
		}
	}
	Shorten(r.x, r.reach)
	if r.shape.Most == 1 { // a unit of one row needs no sorting
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

// flushUnit sorts the current unit's rows by their bytes and appends them to the buffer. The order depends on these
// rows alone.
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

// spill writes the buffer to the file once the buffer holds inMemory bytes.
func (r *Rows) spill() error {
	if len(r.buffer) < inMemory {
		return nil
	}
	return r.write()
}

func (r *Rows) write() error {
	if r.file == nil {
		f, err := os.CreateTemp(r.shape.Dir, "rows-*") // CreateTemp sets mode 0600
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

// Seal ends the adding of rows. Only sealed rows can be opened.
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

// Close clears the memory and closes the file.
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
