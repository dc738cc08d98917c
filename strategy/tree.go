package strategy

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Identity returns the strategy that measures each cell.
func Identity(n int) Matrix {
	m := Matrix{Columns: n, Rows: make([]Row, n)}
	for i := range m.Rows {
		m.Rows[i] = Row{First: i, Entries: []int64{1}}
	}
	return m
}

// Tree is a hierarchy of sums over n cells. The cells are the lowest level, and each block of a level has the cells of
// at most Branching blocks of the level below. The highest level is the total if Root is true, and the parts of the
// total otherwise.
type Tree struct {
	Cells     int
	Branching int // at least 2
	Root      bool
}

// sizes returns the size of the blocks of each level, from the cells upwards.
func (t Tree) sizes() []int {
	sizes := []int{1}
	for s := t.Branching; s < t.Cells; s *= t.Branching {
		sizes = append(sizes, s)
	}
	if t.Root && t.Cells > 1 {
		sizes = append(sizes, t.Cells)
	}
	return sizes
}

// Height returns the number of levels. It is the L1 norm and the squared L2 norm of every column of the matrix.
func (t Tree) Height() int { return len(t.sizes()) }

func (t Tree) check() error {
	if t.Cells < 1 || t.Cells > MaxCells || t.Branching < 2 {
		return fmt.Errorf("%w: a tree needs 1 to %d cells and a branching factor of at least 2", ErrStrategy, MaxCells)
	}
	return nil
}

// Matrix returns the sums of all levels, from the highest level to the cells.
func (t Tree) Matrix() (Matrix, error) {
	if err := t.check(); err != nil {
		return Matrix{}, err
	}
	m := Matrix{Columns: t.Cells}
	sizes := t.sizes()
	for l := len(sizes) - 1; l >= 0; l-- {
		for first := 0; first < t.Cells; first += sizes[l] {
			ones := make([]int64, min(sizes[l], t.Cells-first))
			for k := range ones {
				ones[k] = 1
			}
			m.Rows = append(m.Rows, Row{First: first, Entries: ones})
		}
	}
	return m, nil
}

// covariance returns (AᵀA)⁻¹·scale2 in O(n²) steps.
//
// A block's part of AᵀA is the block-diagonal matrix of its children's parts, G, plus 1·1ᵀ for its own sum. By Sherman
// and Morrison, the inverse is G⁻¹ − u·uᵀ/(1 + 1ᵀu) with u = G⁻¹·1. The sums over the block of the new inverse are then
// u/(1 + 1ᵀu), so the next level needs no further products.
func (t Tree) covariance(scale2 float64) (*covariance, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	n := t.Cells
	c := mat.NewSymDense(n, nil)
	u := make([]float64, n) // the sums of the rows of the inverse, within their blocks
	for i := range u {
		u[i] = 1
		c.SetSym(i, i, scale2)
	}
	for _, size := range t.sizes()[1:] {
		for first := 0; first < n; first += size {
			end := min(first+size, n)
			total := 1.0
			for _, v := range u[first:end] {
				total += v
			}
			data := c.RawSymmetric()
			for i := first; i < end; i++ {
				row, f := data.Data[i*data.Stride:], u[i]*scale2/total
				for j := i; j < end; j++ {
					row[j] -= f * u[j]
				}
			}
			for i := first; i < end; i++ {
				u[i] /= total
			}
		}
	}
	return newCovariance(c), nil
}

// Haar returns the wavelets over n cells: the total, and for each block of a binary tree the difference of its halves.
// Every column has one entry ±1 on each of its ⌈log₂ n⌉ + 1 levels.
func Haar(n int) (Matrix, error) {
	if n < 1 || n > MaxCells {
		return Matrix{}, fmt.Errorf("%w: wavelets need 1 to %d cells", ErrStrategy, MaxCells)
	}
	size := 1
	for size < n {
		size *= 2
	}
	total := make([]int64, n)
	for j := range total {
		total[j] = 1
	}
	m := Matrix{Columns: n, Rows: []Row{{Entries: total}}}
	for ; size > 1; size /= 2 {
		for first := 0; first < n; first += size {
			entries := make([]int64, min(size, n-first))
			for k := range entries {
				entries[k] = 1
				if k >= size/2 {
					entries[k] = -1
				}
			}
			m.Rows = append(m.Rows, Row{First: first, Entries: entries})
		}
	}
	return m, nil
}

// QardajiBranching returns the branching factor b of least (b−1)h³ − ⅔(b+1)h², where h is the height of the tree
// without a root: the choice of Qardaji, Yang & Li (Understanding hierarchical methods for differentially private
// histograms, VLDB 2013), which approximates the mean variance of ranges under Laplace noise.
func QardajiBranching(n int) int {
	best, least := 2, 0.0
	for b := 2; b < n; b++ {
		h := float64(Tree{Cells: n, Branching: b}.Height())
		v := float64(b-1)*h*h*h - 2.0/3*float64(b+1)*h*h
		if b == 2 || v < least {
			best, least = b, v
		}
	}
	return best
}
