package strategy

import (
	"encoding/json"
	"fmt"
)

// recordedChoice is a comparison with the integers of the chosen strategy.
type recordedChoice struct {
	Candidates []Candidate
	Bound      float64
	Name       string
	First      []int
	Rows       [][]int64
}

// Record returns the comparison with the integers of the chosen strategy, for [Restore].
func (c *Choice) Record() ([]byte, error) {
	out := recordedChoice{Candidates: c.Candidates, Bound: c.Bound, Name: c.Chosen.Name}
	for _, r := range c.Chosen.Matrix.Rows {
		out.First, out.Rows = append(out.First, r.First), append(out.Rows, r.Entries)
	}
	return json.Marshal(out)
}

// Restore returns the choice that [Choice.Record] recorded for a workload and a unit, with the same integers. The record
// may come from another computer, whose optimisation rounds differently. The chosen strategy's errors are computed from the
// integers.
func Restore(w Workload, unit Unit, data []byte) (*Choice, error) {
	var r recordedChoice
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%w: the record of a choice is damaged: %w", ErrStrategy, err)
	}
	if len(r.First) != len(r.Rows) || len(r.Rows) == 0 || w.cells == 0 || len(r.Rows) > MaxEntries/w.cells {
		return nil, fmt.Errorf("%w: the record of a choice is damaged", ErrStrategy)
	}
	m := Matrix{Columns: w.cells}
	for i, row := range r.Rows {
		if r.First[i] < 0 || r.First[i] > w.cells || len(row) > w.cells-r.First[i] {
			return nil, fmt.Errorf("%w: the record of a choice is for other cells", ErrStrategy)
		}
		m.Rows = append(m.Rows, Row{First: r.First[i], Entries: row})
	}
	s, err := New(r.Name, w, m, unit)
	if err != nil {
		return nil, err
	}
	return &Choice{Candidates: r.Candidates, Bound: r.Bound, Chosen: s}, nil
}
