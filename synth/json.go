package synth

import (
	"encoding/json"

	"dither/curator"
)

// columnJSON is a column in JSON.
type columnJSON struct {
	Name   string `json:"name"`
	Cells  int    `json:"cells"`
	Binned bool   `json:"binned"`
	// Private: a step of the synthesis chooses the cells, at most this many
	Private bool `json:"private,omitempty"`
}

func columnsJSON(p *Plan) (out []columnJSON) {
	for _, c := range p.Columns {
		out = append(out, columnJSON{c.Name, c.Cells, c.Binned, p.Private(c)})
	}
	return out
}

type omittedJSON struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func omittedsJSON(all []Omitted) []omittedJSON {
	out := []omittedJSON{}
	for _, o := range all {
		out = append(out, omittedJSON(o))
	}
	return out
}

type constraintJSON struct {
	Text     string `json:"constraint"`
	Modelled bool   `json:"modelled"`
}

func constraintsJSON(p *Plan) []constraintJSON {
	out := []constraintJSON{}
	for _, c := range p.Constraints() {
		out = append(out, constraintJSON(c))
	}
	return out
}

// MarshalJSON writes the plan.
func (p *Plan) MarshalJSON() ([]byte, error) { return Explained{Plan: p}.MarshalJSON() }

// Explained is a plan, beside measuring the questions of its workload themselves.
type Explained struct {
	*Plan
	Direct *Direct // nil without a workload
}

// MarshalJSON writes the plan and the comparison.
func (x Explained) MarshalJSON() ([]byte, error) {
	p := x.Plan
	var largest *json.Number
	if n := json.Number(p.Largest); n != "" {
		largest = &n
	}
	type direct struct {
		Answers   int      `json:"answers"`
		Measured  *float64 `json:"measured_error"`
		Synthetic float64  `json:"synthetic_error"`
		Better    bool     `json:"measuring_is_better"`
		Reason    string   `json:"reason,omitempty"`
	}
	var test *curator.Loss
	if p.HoldoutPrice != (curator.Loss{}) {
		test = &p.HoldoutPrice
	}
	var beside *direct
	if d := x.Direct; d != nil {
		beside = &direct{Answers: d.Answers, Synthetic: d.Synthetic, Better: d.Better(), Reason: d.Reason}
		if d.Reason == "" {
			beside.Measured = &d.Measured
		}
	}
	return json.Marshal(struct {
		Table       string           `json:"table"`
		Method      Method           `json:"method"`
		SQL         string           `json:"sql"`
		Columns     []columnJSON     `json:"columns"`
		Omitted     []omittedJSON    `json:"omitted"`
		Candidates  int              `json:"candidates"`
		LeftOut     int              `json:"left_out"`
		Constraints []constraintJSON `json:"constraints"`
		Price       curator.Loss     `json:"price"`
		Remaining   curator.Loss     `json:"remaining"`
		Affordable  bool             `json:"affordable"`
		Largest     *json.Number     `json:"largest_epsilon"`
		Useful      int64            `json:"useful_from_rows"`
		Workload    *direct          `json:"workload,omitempty"`
		HeldOut     string           `json:"held_out,omitempty"`   // the column of the units that are left out
		TestPrice   *curator.Loss    `json:"test_price,omitempty"` // of a test on them
	}{
		p.Table, p.Method, p.SQL, columnsJSON(p), omittedsJSON(p.Omitted), p.Candidates, p.LeftOut, constraintsJSON(p), p.Price, p.Remaining,
		p.Affordable, largest, p.Useful, beside, p.HeldOut, test,
	})
}

// MarshalJSON writes what was measured.
func (r *Result) MarshalJSON() ([]byte, error) {
	type measured struct {
		Columns       []string     `json:"columns"`
		Cells         int          `json:"cells"`
		StdDev        float64      `json:"stddev"`
		ExpectedError float64      `json:"expected_error"`
		Price         curator.Loss `json:"price"`
		Shape         bool         `json:"shape,omitempty"`
	}
	var all []measured
	for _, m := range r.Measured {
		all = append(all, measured{m.Columns, m.Cells, m.StdDev, m.Expected, m.Loss, m.Shape})
	}
	return json.Marshal(struct {
		Release       string           `json:"release"`
		Method        Method           `json:"method"`
		Price         curator.Loss     `json:"price"`
		Seconds       float64          `json:"seconds"`
		Rounds        int              `json:"rounds"`
		Measured      []measured       `json:"measured"`
		ExpectedError float64          `json:"expected_error"`
		Rows          int64            `json:"rows"`
		Draws         int              `json:"draws"`
		Replayed      bool             `json:"replayed"`
		Remaining     curator.Loss     `json:"remaining"`
		Columns       []columnJSON     `json:"columns"`
		Omitted       []omittedJSON    `json:"omitted"`
		Constraints   []constraintJSON `json:"constraints"`
		Outdated      bool             `json:"outdated"`
		Unmeasured    []string         `json:"unmeasured"`
		// chosen privately
		Edges  map[string][]string `json:"edges,omitempty"`
		Values map[string][]string `json:"values,omitempty"`
	}{
		r.Release, r.Plan.Method, r.Plan.Price, r.Seconds, r.Rounds, all, r.ExpectedError, r.Rows, r.draws, r.Replayed, r.Remaining,
		columnsJSON(r.Plan), omittedsJSON(r.Plan.Omitted), constraintsJSON(r.Plan), r.Outdated,
		append([]string{}, r.Unmeasured...), r.Edges, r.Values,
	})
}
