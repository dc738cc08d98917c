package answer

import (
	"fmt"
	"math"
)

// maxWhole is the largest total in units of the cells: floating-point numbers hold all integers up to it.
const maxWhole = 1 << 53

// Whole is the cells of a column as numbers of 0 or more: whole numbers for counts, and multiples of the release's unit
// for sums. They are post-processing of an [Estimate]. All answers are sums of the same cells, so they agree.
type Whole struct {
	Cells []float64 // one for each of [Column.Values]

	of *Estimate
}

// Whole rounds the estimates. It returns ErrColumn if a row can lower a cell, as in sums of numbers that may be
// negative, and if the total is above 2⁵³ units.
//
// It rounds the total, and divides it from the top down: each block of cells becomes two halves of 0 or more, which are
// near their estimates and add up to the block. So long ranges keep their accuracy. The cells are biased where estimates
// are near 0 or negative. Totals that the policy declares stay as they are.
func (e *Estimate) Whole() (*Whole, error) {
	if !e.Column.nonNegative {
		return nil, fmt.Errorf("%w: the sums may be negative, so they have no form of 0 or more: use the estimates", ErrColumn)
	}
	w := &Whole{Cells: make([]float64, len(e.cells)), of: e}
	var free []int         // the cells that are not declared
	before := []float64{0} // the sums of the estimates of all free cells before each
	rest := 0.0            // the declared total less the declared cells
	if e.Column.total != nil {
		rest = float64(*e.Column.total)
	}
	for j, v := range e.cells {
		if n, declared := e.Column.declared[e.Column.places[j]]; declared {
			w.Cells[j] = float64(n)
			rest -= w.Cells[j]
			continue
		}
		free, before = append(free, j), append(before, before[len(free)]+v)
	}
	total := math.Round(max(0, before[len(free)]))
	if e.Column.total != nil {
		total = max(0, math.Round(rest/e.unit))
	}
	if !(total <= maxWhole) {
		return nil, fmt.Errorf("%w: the total %g is too large for whole numbers: use the estimates", ErrColumn, total*e.unit)
	}
	var divide func(from, to int, total float64)
	divide = func(from, to int, total float64) {
		if to-from == 1 {
			w.Cells[free[from]] = total * e.unit
			return
		}
		middle := (from + to) / 2
		left, right := before[middle]-before[from], before[to]-before[middle]
		// the nearest two numbers with this sum
		first := min(total, max(0, math.Round((total+left-right)/2)))
		divide(from, middle, first)
		divide(middle, to, total-first)
	}
	if len(free) > 0 {
		divide(0, len(free), total)
	}
	return w, nil
}

// Answer returns Σ_j query[j]·Cells[j], with an interval of at least the given confidence, between 0 and 1. Deviation is
// that of the estimate before rounding.
//
// The interval has the confidence because it contains that of [Estimate.Answer], except for values below 0 if the query
// has no negative coefficient: such an answer is not negative. It also contains Value, so it is conservative.
func (w *Whole) Answer(query []float64, confidence float64) (Answer, error) {
	a, err := w.of.Answer(query, confidence)
	if err != nil {
		return a, err
	}
	a.Value = 0
	least := 0.0
	for j, v := range query {
		a.Value += v * w.Cells[j]
		if v < 0 {
			least = math.Inf(-1)
		}
	}
	a.Low, a.High = max(least, min(a.Low, a.Value)), max(least, a.High, a.Value)
	return a, nil
}

// Answers returns the answers of the strategy's workload, in the order of [strategy.Workload.All].
func (w *Whole) Answers(confidence float64) ([]Answer, error) { return w.of.each(w.Answer, confidence) }
