package model

import (
	"fmt"
	"math/bits"
)

// Words is a source of uniform 64-bit words. The rows of a model are computed from released numbers, so a predictable
// source breaks no privacy.
type Words interface{ Word() uint64 }

// Drawing is a way to draw rows.
type Drawing int

// The ways to draw rows.
const (
	// Rounded draws rows whose counts are near the model's: in each clique, a cell gets its expected count rounded down,
	// and the remaining rows go to random cells by the fractions that are left. Each expected count is exact.
	Rounded Drawing = iota
	// Independent draws each row for itself.
	Independent
)

// Batch is the largest number of rows that [Model.Sample] draws together.
const Batch = 1 << 20

// Sample draws rows, and calls yield for each batch of up to [Batch] of them. columns[a][i] is the code of attribute a
// in the i-th row of the batch. yield must not keep the slices. The rows of a batch are in random order. The counts of
// [Rounded] are near the model's in each batch. Sample returns the first error of yield.
//
// Rows are drawn down the junction tree: a clique's new attributes given those that it shares with its parent.
func (m *Model) Sample(rows int64, how Drawing, source Words, yield func(columns [][]int32) error) error {
	if rows < 0 || how != Rounded && how != Independent {
		return fmt.Errorf("model: cannot draw %d rows in way %d", rows, how)
	}
	n := int(min(rows, Batch))
	s := &sampler{model: m, source: source, rounded: how == Rounded, cells: make([]int32, n), rows: make([]int32, n)}
	columns := make([][]int32, len(m.domain.sizes))
	for a := range columns {
		columns[a] = make([]int32, n)
	}
	for ; rows > 0; rows -= int64(n) {
		n = int(min(rows, Batch))
		for a := range columns {
			columns[a] = columns[a][:n]
		}
		for _, c := range m.tree.cliques {
			s.draw(c, columns)
		}
		if err := yield(columns); err != nil {
			return err
		}
	}
	return nil
}

// sampler has the room to draw rows.
type sampler struct {
	model   *Model
	source  Words
	rounded bool
	cells   []int32 // by row: the cell of the separator, then the new cell in the block
	rows    []int32 // the rows, ordered by cell of the separator
	ends    []int32 // by cell of the separator: the end of its rows
	running []float64
}

// uniform returns a number in (0, 1).
func (s *sampler) uniform() float64 { return (float64(s.source.Word()>>11) + 0.5) / (1 << 53) }

// below returns a number from 0 to n − 1, with a bias of at most n/2⁶⁴.
func (s *sampler) below(n int) int {
	high, _ := bits.Mul64(s.source.Word(), uint64(n))
	return int(high)
}

// draw sets the new attributes of a clique in all rows.
func (s *sampler) draw(c *clique, columns [][]int32) {
	d := s.model.domain
	n := len(columns[0])
	shared := c.separator.count()
	cells := s.cells[:n]
	clear(cells)
	for _, a := range c.members[:shared] {
		size := int32(d.sizes[a])
		for i, v := range columns[a] {
			cells[i] = cells[i]*size + v
		}
	}
	// A counting sort groups the rows by the separator's cell.
	s.ends = append(s.ends[:0], make([]int32, len(c.mass)+1)...)
	for _, b := range cells {
		s.ends[b+1]++
	}
	for b := range c.mass {
		s.ends[b+1] += s.ends[b]
	}
	rows := s.rows[:n]
	for i, b := range cells {
		rows[s.ends[b]] = int32(i)
		s.ends[b]++
	}
	start := int32(0)
	for b := range c.mass {
		group := rows[start:s.ends[b]]
		start = s.ends[b]
		if len(group) == 0 {
			continue
		}
		weights := c.weight[b*c.block:][:c.block]
		if s.rounded {
			s.round(group, weights, c.mass[b])
		} else {
			s.choose(group, weights)
		}
	}
	for i := len(c.members) - 1; i >= shared; i-- {
		a := c.members[i]
		size := int32(d.sizes[a])
		column := columns[a]
		for i, v := range cells {
			column[i] = v % size
			cells[i] = v / size
		}
	}
}

// choose gives each row of a group its own random cell.
func (s *sampler) choose(group []int32, weights []float64) {
	s.running = s.running[:0]
	sum := 0.0
	for _, w := range weights {
		sum += w
		s.running = append(s.running, sum)
	}
	for _, row := range group {
		s.cells[row] = int32(after(s.running, s.uniform()*sum))
	}
}

// after returns the first place whose running sum is above u, which is less than the last sum. So a cell of weight 0 is
// never chosen.
func after(running []float64, u float64) int {
	low, high := 0, len(running)-1
	for low < high {
		middle := (low + high) / 2
		if running[middle] > u {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// round gives the cells their expected counts of the group's rows, rounded down, and the remaining rows to cells by
// systematic sampling of the fractions: the sums of the fractions pass a random number and those one apart. So the
// expected count of each cell is exact. The rows get their cells in random order.
func (s *sampler) round(group []int32, weights []float64, mass float64) {
	n := len(group)
	for i := n - 1; i > 0; i-- {
		k := s.below(i + 1)
		group[i], group[k] = group[k], group[i]
	}
	next := 0
	u := s.uniform()
	scale := float64(n) / mass
	passed, sum, last := 0.0, 0.0, -1 // passed: fractions that have got a row
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		last = i
		expected := w * scale
		count := int(expected)
		sum += expected - float64(count)
		if sum > passed+u {
			count++
			passed++
		}
		for ; count > 0 && next < n; count-- {
			s.cells[group[next]] = int32(i)
			next++
		}
	}
	for ; next < n; next++ { // the rounding of the sums
		s.cells[group[next]] = int32(last)
	}
}
