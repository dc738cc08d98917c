package product

import (
	"encoding/json"
	"errors"
	"fmt"

	"dither/strategy"
)

// recorded is the integers of a plan. Everything else follows from them and the workload.
type recorded struct {
	Name   string          `json:"name"`
	Pieces []recordedPiece `json:"pieces"`
	Parts  []recordedPart  `json:"parts"`
	Serves [][]int         `json:"serves"`
}

type recordedPart struct {
	Weight int64 `json:"weight"`
	Pieces []int `json:"pieces"`
}

type recordedPiece struct {
	Kind    string    `json:"kind"`
	Cells   int       `json:"cells,omitempty"`
	A       int64     `json:"a,omitempty"`
	B       int64     `json:"b,omitempty"`
	Centred bool      `json:"centred,omitempty"`
	First   []int     `json:"first,omitempty"` // of each row of a matrix
	Rows    [][]int64 `json:"rows,omitempty"`
}

// Record returns the integers of the plan, for [Restore].
func (p *Plan) Record() ([]byte, error) {
	out := recorded{Name: p.Name, Serves: p.serves}
	places := map[piece]int{}
	for _, of := range p.parts {
		one := recordedPart{Weight: of.weight}
		for _, piece := range of.pieces {
			at, known := places[piece]
			if !known {
				at = len(out.Pieces)
				places[piece], out.Pieces = at, append(out.Pieces, recordPiece(piece))
			}
			one.Pieces = append(one.Pieces, at)
		}
		out.Parts = append(out.Parts, one)
	}
	return json.Marshal(out)
}

func recordPiece(p piece) recordedPiece {
	switch of := p.(type) {
	case *mean:
		return recordedPiece{Kind: "mean", Cells: of.cells}
	case *even:
		return recordedPiece{Kind: "even", Cells: of.cells, A: of.a, B: of.b, Centred: of.centred}
	case *apart:
		return recordedPiece{Kind: "apart", Cells: of.cells}
	case *chosen:
		out := recordedPiece{Kind: "matrix", Cells: of.Matrix.Columns, Centred: of.centred}
		for _, r := range of.Matrix.Rows {
			out.First, out.Rows = append(out.First, r.First), append(out.Rows, r.Entries)
		}
		return out
	}
	return recordedPiece{}
}

var errRecord = errors.New("product: the record is of another workload")

// Restore returns the plan for a workload that [Plan.Record] recorded, with the same integers. The record may come from
// another computer, whose optimisation rounds otherwise. It returns an error for a record that no plan for the workload
// has.
func Restore(w *Workload, unit strategy.Unit, data []byte) (*Plan, error) {
	var r recorded
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	pieces := make([]piece, len(r.Pieces))
	for i, of := range r.Pieces {
		var err error
		if pieces[i], err = of.restore(unit); err != nil {
			return nil, err
		}
	}
	if len(r.Parts) == 0 || len(r.Parts) > max(maxParts, maxSeparate) || len(r.Serves) != len(w.terms) {
		return nil, errRecord
	}
	parts := make([]part, len(r.Parts))
	for i, of := range r.Parts {
		if len(of.Pieces) != len(w.columns) || of.Weight < 1 || of.Weight > 1<<40 {
			return nil, errRecord
		}
		parts[i].weight = of.Weight
		for k, at := range of.Pieces {
			if at < 0 || at >= len(pieces) || r.Pieces[at].Cells != w.columns[k].cells {
				return nil, errRecord
			}
			parts[i].pieces = append(parts[i].pieces, pieces[at])
		}
	}
	for _, of := range r.Serves {
		for _, i := range of {
			if i < 0 || i >= len(parts) {
				return nil, errRecord
			}
		}
	}
	p := newPlanOf(r.Name, w, unit, parts, r.Serves)
	if p == nil || !p.fits() || !p.answers() {
		return nil, errRecord
	}
	return p, nil
}

func (r recordedPiece) restore(unit strategy.Unit) (piece, error) {
	const most = 1 << 40
	if r.Cells < 1 || r.Cells > MaxValues || r.A < 0 || r.B < 0 || r.A > most || r.B > most {
		return nil, errRecord
	}
	switch {
	case r.Kind == "mean":
		return &mean{cells: r.Cells}, nil
	case r.Kind == "apart":
		return &apart{cells: r.Cells}, nil
	case r.Kind == "even" && r.A > 0:
		return &even{cells: r.Cells, a: r.A, b: r.B, unit: unit, centred: r.Centred}, nil
	case r.Kind != "matrix" || len(r.First) != len(r.Rows) || r.Cells > strategy.MaxCells:
		return nil, errRecord
	}
	m := strategy.Matrix{Columns: r.Cells}
	for i, row := range r.Rows {
		if r.First[i] < 0 || r.First[i] > r.Cells || len(row) > r.Cells-r.First[i] {
			return nil, errRecord
		}
		m.Rows = append(m.Rows, strategy.Row{First: r.First[i], Entries: row})
	}
	w, err := strategy.Values(r.Cells)
	if err != nil {
		return nil, errRecord
	}
	s, err := strategy.Of("recorded", w, m, unit, r.Centred)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if r.Centred {
		return &chosen{Strategy: s, spread: s.Centred(), centred: true}, nil
	}
	return &chosen{Strategy: s, spread: s.Spread()}, nil
}

// recordedChoice is a comparison with the integers of the plan that can be measured.
type recordedChoice struct {
	Candidates []strategy.Candidate `json:"candidates"`
	Bound      float64              `json:"bound"`
	Plan       json.RawMessage      `json:"plan"`
}

// Record returns the comparison with the integers of the measurable plan, for [RestoreChoice].
func (c *Choice) Record() ([]byte, error) {
	plan, err := c.Measurable.Record()
	if err != nil {
		return nil, err
	}
	return json.Marshal(recordedChoice{c.Candidates, c.Bound, plan})
}

// RestoreChoice returns the choice that [Choice.Record] recorded. Its chosen plan is the measurable one.
func RestoreChoice(w *Workload, unit strategy.Unit, data []byte) (*Choice, error) {
	var r recordedChoice
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	p, err := Restore(w, unit, r.Plan)
	if err != nil {
		return nil, err
	}
	return &Choice{Candidates: r.Candidates, Bound: r.Bound, Chosen: p, Measurable: p}, nil
}
