package statistics

import (
	"encoding/json"

	"dither/curator"
	"dither/stats/regression"
)

// linearJSON is a regression in JSON. What is not known is null.
type linearJSON struct{ *regression.LinearFit }

type coefficientJSON struct {
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"`
	StdError *float64 `json:"std_error"`
	Privacy  *float64 `json:"privacy"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

type linearSumJSON struct {
	Name        string       `json:"name"`
	Values      []float64    `json:"values,omitempty"`
	Noise       string       `json:"noise"`
	StdDev      float64      `json:"stddev"`
	OffDiagonal *float64     `json:"stddev_off_diagonal"`
	Price       curator.Loss `json:"price"`
}

func linearSumsJSON(sums []regression.LinearSum) (out []linearSumJSON) {
	for _, s := range sums {
		j := linearSumJSON{Name: s.Name, Values: s.Values, Noise: s.Noise, StdDev: s.StdDev, Price: s.Price}
		if s.OffDiagonal > 0 {
			j.OffDiagonal = &s.OffDiagonal
		}
		out = append(out, j)
	}
	return out
}

// MarshalJSON writes the regression.
func (f linearJSON) MarshalJSON() ([]byte, error) {
	out := struct {
		ID            string            `json:"id"`
		Releases      []string          `json:"releases"`
		Model         string            `json:"model"`
		Formula       string            `json:"formula"`
		Table         string            `json:"table"`
		Method        string            `json:"method"`
		Coefficients  []coefficientJSON `json:"coefficients"`
		Confidence    json.Number       `json:"confidence"`
		About         string            `json:"intervals_about"`
		ResidualError *float64          `json:"residual_error"`
		RSquared      *float64          `json:"r_squared"`
		Rows          *float64          `json:"rows"`
		RowsError     *float64          `json:"rows_stddev"`
		Ridge         float64           `json:"ridge"`
		Bounds        []boundsFoundJSON `json:"bounds"`
		Choice        *choiceJSON       `json:"choice,omitempty"`
		Warnings      []string          `json:"warnings"`
		Measured      []linearSumJSON   `json:"measured"`
		Line          *theilSenJSON     `json:"line,omitempty"`
		Price         curator.Loss      `json:"price"`
		Remaining     curator.Loss      `json:"remaining"`
		Replayed      bool              `json:"replayed"`
	}{
		ID: f.ID, Releases: f.Releases, Model: "linear", Formula: f.Formula, Table: f.Table, Method: f.Method, Coefficients: []coefficientJSON{}, Confidence: json.Number(f.Confidence),
		About: "rows", ResidualError: f.ResidualError, RSquared: f.RSquared, Rows: f.Rows, RowsError: f.RowsError, Ridge: f.Ridge,
		Bounds: foundJSON(f.Bounds), Warnings: append([]string{}, f.Warnings...), Measured: append([]linearSumJSON{}, linearSumsJSON(f.Measured)...), Line: theilSenOf(f.Line), Price: f.Price, Remaining: f.Remaining, Replayed: f.Replayed,
	}
	if f.Population {
		out.About = "population"
	}
	out.Choice = choiceOf(f.Choice)
	for _, c := range f.Coefficients {
		out.Coefficients = append(out.Coefficients, coefficientJSON{c.Name, c.Estimate, c.StdError, c.Privacy, c.Low, c.High})
	}
	return json.Marshal(out)
}

// linearExplanationJSON is what a regression would cost.
type linearExplanationJSON struct{ *regression.LinearExplanation }

// MarshalJSON writes the explanation.
func (e linearExplanationJSON) MarshalJSON() ([]byte, error) {
	noiseNorm := &e.NoiseNorm
	if e.Line != nil {
		noiseNorm = nil
	}
	return json.Marshal(struct {
		Model      string          `json:"model"`
		Formula    string          `json:"formula"`
		Table      string          `json:"table"`
		Method     string          `json:"method"`
		SQL        string          `json:"sql"`
		Columns    []string        `json:"columns"`
		Measured   []linearSumJSON `json:"measured"`
		Line       *theilSenJSON   `json:"line,omitempty"`
		NoiseNorm  *float64        `json:"noise_norm"`
		Spread     *float64        `json:"least_spread"`
		Price      curator.Loss    `json:"price"`
		Remaining  curator.Loss    `json:"remaining"`
		Affordable bool            `json:"affordable"`
		Replayed   bool            `json:"replayed"`
		Notes      []string        `json:"notes"`
	}{
		"linear", e.Formula, e.Table, e.Method, e.SQL, e.Columns, append([]linearSumJSON{}, linearSumsJSON(e.Sums)...), theilSenOf(e.Line), noiseNorm, e.LeastSpread, e.Price, e.Remaining, e.Affordable, e.Replayed,
		append([]string{}, e.Notes...),
	})
}
