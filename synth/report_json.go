package synth

import (
	"encoding/json"
	"math"
)

// MarshalJSON writes the report.
func (r *Report) MarshalJSON() ([]byte, error) {
	type marginal struct {
		Columns   []string `json:"columns"`
		Cells     int      `json:"cells"`
		StdDev    float64  `json:"stddev"`
		Expected  float64  `json:"expected_error"`
		Apart     float64  `json:"distance"`
		Estimated float64  `json:"estimated_error"`
	}
	type column struct {
		Name      string    `json:"name"`
		Labels    []string  `json:"labels"`
		Measured  []float64 `json:"measured"`
		Margin    float64   `json:"margin"`
		Synthetic []float64 `json:"synthetic"`
	}
	type pair struct {
		Columns     [2]string `json:"columns"`
		Association *float64  `json:"association"`
		Measured    bool      `json:"measured"`
	}
	out := struct {
		Synthetic bool       `json:"synthetic"`
		Result    *Result    `json:"result"`
		Counted   int64      `json:"counted_rows"`
		Marginals []marginal `json:"marginals"`
		Columns   []column   `json:"columns"`
		Pairs     []pair     `json:"pairs"`
		Limits    []string   `json:"not_for"`
	}{Synthetic: true, Result: r.Result, Counted: r.Counted, Pairs: []pair{}, Limits: r.Limits}
	for _, m := range r.Marginals {
		out.Marginals = append(out.Marginals, marginal(m))
	}
	for i, c := range r.Columns {
		out.Columns = append(out.Columns, column(c))
		for j := range i {
			p := pair{Columns: [2]string{r.Columns[j].Name, c.Name}, Measured: r.Measured[i][j]}
			if v := r.Association[i][j]; !math.IsNaN(v) {
				p.Association = &v
			}
			out.Pairs = append(out.Pairs, p)
		}
	}
	return json.Marshal(out)
}
