package synth

import (
	"slices"

	"dither/internal/splitmix"
	"dither/synth/constraint"
	"dither/synth/model"
)

// The limits of the work on a row that breaks a constraint.
const (
	mostDraws     = 50     // of values within the bins
	mostPoints    = 20_000 // combinations of values that a search tries
	mostConstants = 300
	mostTries     = 100_000 // rows of the model that may replace one
	spareRows     = 1024    // that are drawn together
)

// writer draws the values of rows from their cells.
type writer struct {
	result  *Result
	words   *splitmix.Stream
	writers []*cells
	row     []int // the cells of the row
	points  []point
	values  []constraint.Value
	texts   []string
	null    []bool
	spare   [][]int32 // rows that can replace others, by column
	next    int
}

func newWriter(r *Result, words *splitmix.Stream) *writer {
	n := len(r.Plan.Columns)
	w := &writer{
		result: r, words: words, row: make([]int, n), points: make([]point, n), values: make([]constraint.Value, n),
		texts: make([]string, n), null: make([]bool, n),
	}
	for _, c := range r.Plan.Columns {
		w.writers = append(w.writers, newCells(c))
	}
	return w
}

// draw draws the values of the row's cells. If they break constraints, it draws values of the same cells again, then
// searches for some, and then takes another row.
func (w *writer) draw() error {
	w.fill()
	if broken := w.broken(); len(broken) > 0 && !w.mended(broken) {
		found, err := w.replaced()
		if err != nil {
			return err
		}
		if !found {
			return usage("use fewer constraints, or a larger --model-size, which keeps them in the model",
				"none of %d rows of the model satisfies the constraints, so the rows cannot be drawn", mostTries)
		}
	}
	for i, c := range w.writers {
		w.texts[i], w.null[i] = c.text(w.row[i], w.points[i]), c.null[w.row[i]]
	}
	return nil
}

// fill draws values.
func (w *writer) fill() {
	for i, c := range w.writers {
		w.set(i, c.draw(w.row[i], w.words))
	}
}

// set sets the value of a column.
func (w *writer) set(column int, of point) {
	w.points[column], w.values[column] = of, w.writers[column].value(w.row[column], of)
}

// broken returns the constraints that the values break.
func (w *writer) broken() (out []*rule) {
	for _, c := range w.result.Plan.constraints {
		if c.state(w.result.Plan, w.row) != holds && !w.satisfied(c) {
			out = append(out, c)
		}
	}
	return out
}

func (w *writer) satisfied(c *rule) bool {
	var room [8]constraint.Value
	values := room[:0]
	for _, a := range c.at {
		values = append(values, w.values[a])
	}
	return c.Truth(values).Holds()
}

// mended looks for values of the same cells that satisfy all constraints.
func (w *writer) mended(rules []*rule) bool {
	for _, c := range rules {
		if c.state(w.result.Plan, w.row) == broken {
			return false
		}
	}
	for range mostDraws {
		for _, c := range rules {
			for _, a := range c.set {
				w.set(a, w.writers[a].draw(w.row[a], w.words))
			}
		}
		if len(w.broken()) == 0 {
			return true
		}
	}
	return w.search(rules) && len(w.broken()) == 0
}

// replaced takes another row of the model that satisfies the constraints.
func (w *writer) replaced() (found bool, err error) {
	for range mostTries {
		if w.spare == nil || w.next == len(w.spare[0]) {
			w.next, w.spare = 0, nil
			err := w.result.model.Sample(spareRows, model.Independent, w.words, func(columns [][]int32) error {
				for _, c := range columns {
					w.spare = append(w.spare, slices.Clone(c))
				}
				return nil
			})
			if err != nil {
				return false, err
			}
		}
		for i, c := range w.spare {
			w.row[i] = int(c[w.next])
		}
		w.next++
		w.fill()
		if broken := w.broken(); len(broken) == 0 || w.mended(broken) {
			return true, nil
		}
	}
	return false, nil
}

// search looks for values of the row's cells that satisfy constraints: the ends of the ranges, the constants and the
// ends of other columns' ranges that lie between them.
func (w *writer) search(rules []*rule) bool {
	var columns []int
	var constants []float64
	for _, c := range rules {
		for k, a := range c.at {
			if !slices.Contains(columns, a) {
				columns = append(columns, a)
			}
			for _, cut := range c.Cuts(c.Columns()[k]) {
				constants = append(constants, cut.At)
			}
		}
	}
	for _, a := range columns {
		r := w.writers[a].ranges[w.row[a]]
		constants = append(constants, r.Low, r.High)
	}
	unshifted := constants
	for _, c := range rules {
		for _, shift := range c.Shifts() {
			for _, x := range unshifted {
				constants = append(constants, x+shift, x-shift)
			}
		}
	}
	constants = constants[:min(len(constants), mostConstants)]
	options := make([][]point, len(columns))
	combinations := 1
	for i, a := range columns {
		options[i] = w.writers[a].near(w.row[a], constants)
		if combinations *= len(options[i]); combinations > mostPoints {
			return false
		}
	}
	for n := range combinations {
		for i, a := range columns {
			w.set(a, options[i][n%len(options[i])])
			n /= len(options[i])
		}
		if !slices.ContainsFunc(rules, func(c *rule) bool { return !w.satisfied(c) }) {
			return true
		}
	}
	return false
}
