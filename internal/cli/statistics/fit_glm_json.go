package statistics

import (
	"encoding/json"

	"dither/curator"
	"dither/internal/cli/render"
	"dither/stats/regression"
)

// glmJSON is a generalized linear model in JSON. What is not known is null.
type glmJSON struct{ glmFitted }

type glmCoefficientJSON struct {
	Class    string   `json:"class,omitempty"`
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"`
	StdError *float64 `json:"std_error"`
	Privacy  *float64 `json:"noise_error"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Z        *float64 `json:"z"`
	P        *float64 `json:"p_value"`
}

type glmTermsJSON struct {
	Rows       float64  `json:"about_rows"`
	Counted    bool     `json:"counted"`
	Bound      float64  `json:"bound"`
	Radius     float64  `json:"radius"`
	Regularise float64  `json:"regularise"`
	Curvature  float64  `json:"curvature"`
	Expected   *float64 `json:"expected_error"`
}

func glmTermsOf(t regression.GLMTerms) glmTermsJSON {
	return glmTermsJSON{
		Rows: t.Rows, Counted: t.Counted, Bound: t.Bound, Radius: t.Radius, Regularise: t.Regularise, Curvature: t.Curvature,
		Expected: render.NumberOrNull(t.Expected),
	}
}

// MarshalJSON writes the model.
func (f glmJSON) MarshalJSON() ([]byte, error) {
	out := struct {
		IDs          []string             `json:"ids"`
		Model        string               `json:"model"`
		Formula      string               `json:"formula"`
		Table        string               `json:"table"`
		Response     string               `json:"response"`
		Levels       []string             `json:"levels"`
		Coefficients []glmCoefficientJSON `json:"coefficients"`
		Confidence   json.Number          `json:"confidence"`
		About        string               `json:"intervals_about"`
		Terms        glmTermsJSON         `json:"terms"`
		Bounds       []boundsFoundJSON    `json:"bounds,omitempty"`
		Choice       *choiceJSON          `json:"choice,omitempty"`
		Warnings     []string             `json:"warnings"`
		Price        curator.Loss         `json:"price"`
		Remaining    curator.Loss         `json:"remaining"`
		Replayed     bool                 `json:"replayed"`
		Calibration  any                  `json:"calibration,omitempty"`
	}{
		Response: f.Response, Levels: f.Levels, Calibration: calibrationOf(f.calibration),
		IDs: f.IDs, Model: f.Family, Formula: f.Formula, Table: f.Table, Confidence: json.Number(f.Confidence), About: "population", Terms: glmTermsOf(f.GLMTerms),
		Coefficients: []glmCoefficientJSON{}, Warnings: append([]string{}, f.Warnings...), Price: f.Price, Remaining: f.Remaining, Replayed: f.Replayed,
		Bounds: foundJSON(f.Bounds), Choice: choiceOf(f.Choice),
	}
	for _, c := range f.Coefficients {
		out.Coefficients = append(out.Coefficients, glmCoefficientJSON{c.Class, c.Name, c.Estimate, c.StdError, c.Privacy, c.Low, c.High, c.Z, c.P})
	}
	return json.Marshal(out)
}

// glmExplanationJSON is what a model would cost.
type glmExplanationJSON struct{ glmExplained }

// MarshalJSON writes the explanation.
func (e glmExplanationJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Model       string                `json:"model"`
		Formula     string                `json:"formula"`
		Table       string                `json:"table"`
		SQL         string                `json:"sql"`
		Columns     []string              `json:"columns"`
		Noise       string                `json:"noise"`
		StdDev      float64               `json:"stddev"`
		Sensitivity float64               `json:"sensitivity"`
		Terms       glmTermsJSON          `json:"terms"`
		Count       *curator.Loss         `json:"count_price"`
		Price       curator.Loss          `json:"price"`
		Remaining   curator.Loss          `json:"remaining"`
		Affordable  bool                  `json:"affordable"`
		Notes       []string              `json:"notes,omitempty"`
		Replayed    bool                  `json:"replayed"`
		Calibration *calibrationPriceJSON `json:"calibration,omitempty"`
	}{e.Family, e.Formula, e.Table, e.SQL, e.Columns, e.Noise, e.StdDev, e.Sensitivity, glmTermsOf(e.GLMTerms), e.Count, e.Price, e.Remaining, e.Affordable, e.Notes, e.Replayed, calibrationPriceOf(e.calibration)})
}
