package estimate

import (
	"encoding/json"

	"dither/curator"
)

// MarshalJSON writes the estimates in the form that docs/reference/statistics.md documents. Missing numbers are
// null.
func (e *Result) MarshalJSON() ([]byte, error) {
	type value struct {
		Keys     map[string]any  `json:"keys,omitempty"`
		Name     string          `json:"name"`
		Value    *curator.Number `json:"value"`
		StdError *float64        `json:"stddev"`
		Low      *curator.Number `json:"low"`
		High     *curator.Number `json:"high"`
	}
	values := make([]value, len(e.Values))
	for i, v := range e.Values {
		values[i] = value{Name: v.Name, Value: v.Value, StdError: v.StdError, Low: v.Low, High: v.High}
		for j, k := range v.Keys {
			if j < len(e.Keys) {
				if values[i].Keys == nil {
					values[i].Keys = map[string]any{}
				}
				values[i].Keys[e.Keys[j]] = k
			}
		}
	}
	return curator.PlainJSON(struct {
		Kind       string              `json:"kind"`
		Method     string              `json:"method"`
		Estimates  []value             `json:"estimates"`
		Confidence json.Number         `json:"confidence"`
		Population bool                `json:"population"`
		Limits     *curator.Limits     `json:"bounds,omitempty"`
		Truncation *curator.Truncation `json:"truncation,omitempty"`
		Releases   []string            `json:"releases"`
		Price      []curator.Loss      `json:"price"`
		Remaining  curator.Loss        `json:"remaining"`
		Replayed   bool                `json:"replayed"`
		Notes      []string            `json:"notes"`
	}{
		e.Kind, e.Method, values, json.Number(e.Confidence), e.Population, e.Limits, e.Truncation, e.Releases, e.Price,
		e.Remaining, e.Replayed, e.Notes,
	})
}

// MarshalJSON writes the plan in the form that docs/reference/statistics.md documents.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type look struct {
		SQL      *string      `json:"sql"`
		What     string       `json:"what"`
		Price    curator.Loss `json:"price"`
		Expected string       `json:"expected,omitempty"`
	}
	looks := make([]look, len(p.Accesses))
	for i, l := range p.Accesses {
		looks[i] = look{What: l.What, Price: l.Price, Expected: l.Expected}
		if l.SQL != "" {
			looks[i].SQL = &p.Accesses[i].SQL
		}
	}
	type foretold struct {
		Method            string       `json:"method"`
		ExpectedError     *float64     `json:"expected_error"`
		MedianError       *float64     `json:"median_error,omitempty"`
		ExpectedHalfWidth *float64     `json:"expected_half_width"`
		Unit              string       `json:"unit"`
		Confidence        *json.Number `json:"confidence"`
	}
	var methods []foretold
	for _, m := range p.Methods {
		of := foretold{m.Method, m.ExpectedError, m.MedianError, m.ExpectedHalfWidth, "rows", nil}
		if m.Confidence != "" {
			c := json.Number(m.Confidence)
			of.Confidence = &c
		}
		methods = append(methods, of)
	}
	return curator.PlainJSON(struct {
		Kind       string       `json:"kind"`
		Method     string       `json:"method"`
		Why        string       `json:"why"`
		Methods    []foretold   `json:"methods,omitempty"`
		Looks      []look       `json:"looks"`
		Price      curator.Loss `json:"price"`
		Remaining  curator.Loss `json:"remaining"`
		Affordable bool         `json:"affordable"`
		Replayed   bool         `json:"replayed"`
		Confidence json.Number  `json:"confidence"`
		Notes      []string     `json:"notes"`
	}{
		p.Kind, p.Method, p.Why, methods, looks, p.Price, p.Remaining, p.Affordable, p.Replayed,
		json.Number(p.Confidence), p.Notes,
	})
}
