package strategy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Errors of this package.
var (
	ErrWorkload = errors.New("strategy: invalid workload")
	ErrStrategy = errors.New("strategy: invalid strategy")
)

// MaxCells is the largest number of cells of a workload. The time of the optimisation grows with the cube of the
// cells.
const MaxCells = 4096

// MaxEntries limits the numbers of an explicit matrix.
const MaxEntries = 1 << 24

// Workload is a set of linear queries over the cells 0 … n−1 of one ordered column. Families of intervals are
// represented by their parameters alone. The zero Workload has no cells; make one with [Prefixes], [Ranges], [Windows],
// [Intervals], [Values], [Total], [Levels], [Explicit] or [Union].
type Workload struct {
	cells int
	parts []part
}

// part is one family of queries.
type part struct {
	family family
	width  int         // the cells of each window
	rows   [][]float64 // the queries of an explicit matrix
	pairs  [][2]int    // the bounds of listed intervals
	weight float64     // the weight of each query's variance; positive
}

type family int

const (
	prefixes family = iota
	ranges
	windows
	explicit
	listed
)

// Prefixes returns the n running totals: query i is the sum of the cells 0 … i.
func Prefixes(n int) (Workload, error) { return intervals(n, part{family: prefixes, weight: 1}) }

// Ranges returns all n(n+1)/2 sums of contiguous cells.
func Ranges(n int) (Workload, error) { return intervals(n, part{family: ranges, weight: 1}) }

// Windows returns the n−width+1 sums of width contiguous cells.
func Windows(n, width int) (Workload, error) {
	if width < 1 || width > n {
		return Workload{}, fmt.Errorf("%w: a window of %d cells does not fit in %d cells; the width must be from 1 to %d",
			ErrWorkload, width, n, n)
	}
	return intervals(n, part{family: windows, width: width, weight: 1})
}

func intervals(n int, p part) (Workload, error) {
	if n < 1 || n > MaxCells {
		return Workload{}, fmt.Errorf("%w: the number of cells must be from 1 to %d, not %d; group cells into bins to have fewer",
			ErrWorkload, MaxCells, n)
	}
	return Workload{cells: n, parts: []part{p}}, nil
}

// Explicit returns the queries that are the rows of a matrix: query q is Σ_j rows[q][j]·x_j. The rows must have the
// same length, the entries must be finite and at most 2³⁰ in absolute value, and the largest of each row must be at least
// 2⁻³⁰.
func Explicit(rows [][]float64) (Workload, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return Workload{}, fmt.Errorf("%w: a matrix needs at least one row and one column", ErrWorkload)
	}
	n := len(rows[0])
	if n > MaxCells || len(rows) > MaxEntries/n {
		return Workload{}, fmt.Errorf("%w: a matrix may have %d columns and %d entries", ErrWorkload, MaxCells, MaxEntries)
	}
	copied := make([][]float64, len(rows))
	for q, row := range rows {
		if len(row) != n {
			return Workload{}, fmt.Errorf("%w: row %d of the matrix has %d entries, and the first row has %d",
				ErrWorkload, q+1, len(row), n)
		}
		most := 0.0
		for _, v := range row {
			if !(math.Abs(v) <= 1<<30) {
				return Workload{}, fmt.Errorf("%w: the entries of row %d must be numbers from −2³⁰ to 2³⁰", ErrWorkload, q+1)
			}
			most = max(most, math.Abs(v))
		}
		switch {
		case most == 0:
			return Workload{}, fmt.Errorf("%w: row %d of the matrix is 0, so it asks nothing", ErrWorkload, q+1)
		case most < 1.0/(1<<30):
			return Workload{}, fmt.Errorf("%w: an entry of row %d must be at least 2⁻³⁰ in absolute value", ErrWorkload, q+1)
		}
		copied[q] = append([]float64(nil), row...)
	}
	return Workload{cells: n, parts: []part{{family: explicit, rows: copied, weight: 1}}}, nil
}

// Weighted returns the workload with the weight of each query multiplied by weight, which must be from 10⁻⁹ to 10⁶. A
// weight multiplies the variance of a query in the mean.
func (w Workload) Weighted(weight float64) (Workload, error) {
	if !(weight >= 1e-9) || weight > 1e6 {
		return Workload{}, fmt.Errorf("%w: a weight must be from 10⁻⁹ to 10⁶", ErrWorkload)
	}
	out := Workload{cells: w.cells}
	for _, p := range w.parts {
		p.weight *= weight
		out.parts = append(out.parts, p)
	}
	return out, nil
}

// Union returns the queries of all workloads, which must have the same number of cells. Queries that several of them
// have count several times.
func Union(ws ...Workload) (Workload, error) {
	if len(ws) == 0 {
		return Workload{}, fmt.Errorf("%w: a union needs a workload", ErrWorkload)
	}
	out := Workload{cells: ws[0].cells}
	for _, w := range ws {
		if w.cells != out.cells {
			return Workload{}, fmt.Errorf(
				"%w: workloads over %d and over %d cells are about different columns; choose a strategy for each column",
				ErrWorkload, out.cells, w.cells)
		}
		out.parts = append(out.parts, w.parts...)
	}
	return out, nil
}

// Cells returns the number of cells.
func (w Workload) Cells() int { return w.cells }

// Queries returns the number of queries.
func (w Workload) Queries() int {
	total := 0
	for _, p := range w.parts {
		total += p.queries(w.cells)
	}
	return total
}

// Digest returns a text that determines the queries and their weights.
func (w Workload) Digest() string {
	h, buffer := sha256.New(), make([]byte, 8)
	put := func(xs ...uint64) {
		for _, x := range xs {
			binary.LittleEndian.PutUint64(buffer, x)
			h.Write(buffer)
		}
	}
	put(uint64(w.cells), uint64(len(w.parts)))
	for _, p := range w.parts {
		put(uint64(p.family), uint64(p.width), math.Float64bits(p.weight), uint64(len(p.rows)), uint64(len(p.pairs)))
		for _, row := range p.rows {
			for _, v := range row {
				put(math.Float64bits(v))
			}
		}
		for _, q := range p.pairs {
			put(uint64(q[0]), uint64(q[1]))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Weight returns the sum of the weights of all queries.
func (w Workload) Weight() float64 {
	total := 0.0
	for _, p := range w.parts {
		total += p.weight * float64(p.queries(w.cells))
	}
	return total
}

func (p part) queries(n int) int {
	switch p.family {
	case prefixes:
		return n
	case ranges:
		return n * (n + 1) / 2
	case windows:
		return n - p.width + 1
	case listed:
		return len(p.pairs)
	default:
		return len(p.rows)
	}
}

// Gram returns V = Σ weight·q·qᵀ over the queries q, an n×n matrix. The weighted sum of the variances of all answers is
// tr(V·C) if C is the covariance of the estimated cells.
func (w Workload) Gram() *mat.SymDense {
	v := mat.NewSymDense(w.cells, nil)
	for _, p := range w.parts {
		if p.family == explicit {
			flat := mat.NewDense(len(p.rows), w.cells, nil)
			for q, row := range p.rows {
				flat.SetRow(q, row)
			}
			v.SymRankK(v, p.weight, flat.T())
			continue
		}
		if p.family == listed {
			p.addGram(w.cells, func(i, j int, x float64) { v.SetSym(i, j, v.At(i, j)+x) })
			continue
		}
		for i := range w.cells {
			for j := i; j < w.cells; j++ {
				v.SetSym(i, j, v.At(i, j)+p.weight*p.common(w.cells, i, j))
			}
		}
	}
	return v
}

// common returns the number of the family's intervals that contain both of the cells i ≤ j.
func (p part) common(n, i, j int) float64 {
	switch p.family {
	case prefixes:
		return float64(n - j)
	case ranges:
		return float64(i+1) * float64(n-j)
	default: // windows, by their first cell
		return float64(max(0, min(i, n-p.width)-max(0, j-p.width+1)+1))
	}
}
