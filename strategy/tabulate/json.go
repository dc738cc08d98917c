package tabulate

import (
	"encoding/json"
	"math"

	"dither/curator"
)

type jsonPlan struct {
	Price      curator.Loss `json:"price"`
	Remaining  curator.Loss `json:"remaining"`
	Affordable bool         `json:"affordable"`
	Replayed   bool         `json:"replayed"`
	Confidence json.Number  `json:"confidence"`
	Warnings   []string     `json:"warnings,omitempty"`
	Tables     []jsonTable  `json:"tables"`
	Groups     []jsonGroup  `json:"groups"`
	// only of a specification that asks for them
	Covariances []jsonPair `json:"covariances,omitempty"`
}

type jsonTable struct {
	Name   string      `json:"name"`
	Group  int         `json:"group"`
	Levels []jsonLevel `json:"levels"`
}

type jsonLevel struct {
	Level string `json:"level"`
	// only of a table with subtotals
	Columns *[]string `json:"columns,omitempty"`
	Cells   int       `json:"cells"`
	StdDev  *float64  `json:"stddev"`
	Margin  *float64  `json:"margin"`
	Worst   *float64  `json:"worst"`
}

type jsonGroup struct {
	SQL        string          `json:"sql"`
	Tables     []string        `json:"tables"`
	Price      curator.Loss    `json:"price"`
	Candidates []jsonCandidate `json:"candidates"`
	Chosen     string          `json:"chosen"`
	Bound      *float64        `json:"bound"`
	SVDBound   *float64        `json:"svd_bound"`
	Parts      []jsonPart      `json:"parts"`
	Bounds     *curator.Limits `json:"bounds"`
}

type jsonCandidate struct {
	Name  string   `json:"name"`
	Error *float64 `json:"error"`
}

type jsonPart struct {
	Level   string   `json:"level"`
	Columns []string `json:"columns"`
	Share   float64  `json:"share"`
	StdDev  float64  `json:"stddev"`
	// only of a tabulation
	Residual *float64 `json:"residual,omitempty"`
}

// finite returns nil for a number that JSON cannot have.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func (p *Plan) json() jsonPlan {
	out := jsonPlan{
		Price: p.Price, Remaining: p.Remaining, Affordable: p.Affordable, Replayed: p.Replayed,
		Confidence: json.Number(p.Confidence), Warnings: p.Warnings,
	}
	for _, t := range p.Tables {
		of := jsonTable{Name: t.Name, Group: t.Group}
		for _, l := range t.Levels {
			level := jsonLevel{
				Level: l.Level, Cells: l.Cells, StdDev: finite(l.StdDev), Margin: finite(l.Margin), Worst: finite(l.Worst),
			}
			if l.Columns != nil || l.Subtotal {
				columns := append([]string{}, l.Columns...)
				level.Columns = &columns
			}
			of.Levels = append(of.Levels, level)
		}
		out.Tables = append(out.Tables, of)
	}
	for _, g := range p.Groups {
		of := jsonGroup{
			SQL: g.SQL, Tables: g.Tables, Price: g.Price, Chosen: g.Chosen, Bound: finite(g.Bound),
			SVDBound: finite(g.SVDBound), Bounds: g.Limits,
		}
		for _, c := range g.Candidates {
			of.Candidates = append(of.Candidates, jsonCandidate{c.Name, finite(c.Error)})
		}
		for _, part := range g.Parts {
			of.Parts = append(of.Parts, jsonPart{
				Level: part.Level, Columns: append([]string{}, part.Columns...), Share: part.Share, StdDev: part.StdDev,
			})
		}
		out.Groups = append(out.Groups, of)
	}
	for i, x := range p.Covariances {
		pair := p.spec.Covariances[i]
		out.Covariances = append(out.Covariances, jsonPair{[2]jsonName{nameOf(pair[0]), nameOf(pair[1])}, finite(x)})
	}
	return out
}

// MarshalJSON writes the plan, as docs/reference/json.md describes it.
func (p *Plan) MarshalJSON() ([]byte, error) { return curator.PlainJSON(p.json()) }

type jsonCell struct {
	Level    string      `json:"level,omitempty"`
	Place    string      `json:"place,omitempty"`
	Values   []string    `json:"values"`
	Value    json.Number `json:"value"`
	Estimate float64     `json:"estimate"`
	StdDev   float64     `json:"stddev"`
	Margin   float64     `json:"margin"`
	Marked   bool        `json:"marked"`
}

type jsonResult struct {
	Releases  []string    `json:"releases"`
	Replayed  bool        `json:"replayed"`
	Remaining any         `json:"remaining"`
	MarkBelow int64       `json:"mark_below"`
	Tables    []jsonCells `json:"tables"`
	Plan      jsonPlan    `json:"plan"`
}

type jsonCells struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Places      string     `json:"places,omitempty"`
	Columns     []string   `json:"columns"`
	Cells       []jsonCell `json:"cells"`
}

// MarshalJSON writes the tabulation, as docs/reference/json.md describes it.
func (r *Result) MarshalJSON() ([]byte, error) {
	out := jsonResult{
		Releases: r.Releases, Replayed: r.Replayed, Remaining: r.Remaining, MarkBelow: r.MarkBelow, Plan: r.Plan.json(),
	}
	for i, g := range r.Residuals {
		for j, x := range g {
			out.Plan.Groups[i].Parts[j].Residual = finite(x)
		}
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		of := jsonCells{Name: t.Name, Description: t.Description, Places: t.Places, Columns: append([]string{}, t.Columns...)}
		for _, c := range t.Cells {
			of.Cells = append(of.Cells, jsonCell{
				c.Level, c.Place, c.Values, json.Number(c.Text()), c.Estimate, c.StdDev, c.Margin, c.Marked,
			})
		}
		out.Tables = append(out.Tables, of)
	}
	return curator.PlainJSON(out)
}
