package laboratory

import (
	"encoding/json"
	"math"
	"math/big"

	"dither/audit"
	"dither/internal/cli/render"
)

// auditReport is the JSON form of an audit's report.
type auditReport struct{ r *audit.Report }

// MarshalJSON writes all results of the audit.
func (a auditReport) MarshalJSON() ([]byte, error) {
	r := a.r
	type claim struct {
		Epsilon json.Number `json:"epsilon"`
		Delta   json.Number `json:"delta"`
	}
	type counts struct {
		Data     int `json:"data"`
		Neighbor int `json:"neighbor"`
	}
	type weight struct {
		Part string  `json:"part"`
		Log  float64 `json:"weight"`
	}
	type term struct {
		Of      string   `json:"of"`
		Parts   []weight `json:"parts"`
		Omitted int      `json:"omitted,omitempty"`
	}
	type finding struct {
		Event   string     `json:"event"`
		Whole   bool       `json:"whole"`
		Terms   []term     `json:"terms"`
		AtLeast *float64   `json:"at_least"`
		AtMost  *float64   `json:"at_most"`
		Likely  audit.Side `json:"likely"`
		Counts  counts     `json:"counts"`
		Low     float64    `json:"low"`
		High    float64    `json:"high"`
		Epsilon float64    `json:"epsilon"`
		Rare    float64    `json:"rare_epsilon,omitempty"`
		Delta   *float64   `json:"delta"`
	}
	type part struct {
		Part string `json:"part"`
		counts
	}
	type timing struct {
		Median      map[string]float64 `json:"median_seconds"`
		Slower      float64            `json:"data_slower"`
		Chance      float64            `json:"chance"`
		Correlation *float64           `json:"size_correlation"`
	}
	out := struct {
		Verdict    audit.Verdict `json:"verdict"`
		Claim      *claim        `json:"claim"`
		Confidence float64       `json:"confidence"`
		Runs       int           `json:"runs"`
		Learned    int           `json:"learned_runs"`
		Tested     int           `json:"tested_runs"`
		Epsilon    float64       `json:"epsilon_at_least"`
		Delta      *float64      `json:"delta_at_least"`
		Reach      float64       `json:"largest_showable_epsilon"`
		Events     []finding     `json:"events"`
		Histogram  struct {
			Of    string `json:"of"`
			Runs  counts `json:"runs"`
			Parts []part `json:"parts"`
		} `json:"histogram"`
		Grids  []string `json:"grids"`
		Timing *timing  `json:"timing"`
		Notes  []string `json:"notes"`
	}{
		Verdict: r.Verdict, Confidence: r.Confidence, Runs: r.Runs, Learned: r.Learned, Tested: r.Tested,
		Epsilon: r.Epsilon, Reach: r.Reach,
		Events: []finding{}, Grids: append([]string{}, r.Support...), Notes: append([]string{}, r.Notes...),
	}
	if r.Claim != nil {
		out.Claim = &claim{json.Number(jsonClaim(r.Claim.Epsilon.Rat())), json.Number(jsonClaim(r.Claim.Delta.Rat()))}
		out.Delta = &r.Delta
	}
	for _, f := range r.Findings {
		g := finding{
			Event: f.Event, Whole: f.Whole, Terms: []term{}, Likely: f.Likely,
			Counts: counts{f.Counts[0], f.Counts[1]}, Low: f.Low, High: math.Min(1, f.High), Epsilon: f.Epsilon,
			Rare: f.Rare,
		}
		if r.Claim != nil {
			g.Delta = &f.Delta
		}
		if f.AtLeast {
			g.AtLeast = &f.Threshold
		} else {
			g.AtMost = &f.Threshold
		}
		for _, t := range f.Terms {
			weights := make([]weight, len(t.Parts))
			for i, w := range t.Parts {
				weights[i] = weight(w)
			}
			g.Terms = append(g.Terms, term{t.Of, weights, t.Omitted})
		}
		out.Events = append(out.Events, g)
	}
	out.Histogram.Of, out.Histogram.Runs, out.Histogram.Parts = r.Shown.Of,
		counts{r.Shown.Runs[0], r.Shown.Runs[1]}, []part{}
	for i, p := range r.Shown.Parts {
		out.Histogram.Parts = append(out.Histogram.Parts, part{p, counts{r.Shown.Counts[0][i], r.Shown.Counts[1][i]}})
	}
	if t := r.Timing; t != nil {
		out.Timing = &timing{Median: map[string]float64{
			"data":     t.Median[0].Seconds(),
			"neighbor": t.Median[1].Seconds(),
		}, Slower: t.Slower, Chance: t.Chance}
		if !math.IsNaN(t.Sizes) {
			out.Timing.Correlation = &t.Sizes
		}
	}
	return json.Marshal(out)
}

// jsonClaim writes a number as JSON: exactly if it is a decimal of at most 30 places, and otherwise as the nearest
// float.
func jsonClaim(r *big.Rat) string {
	if digits, exact := r.FloatPrec(); exact && digits <= 30 {
		return r.FloatString(digits)
	}
	return render.JSONRat(r)
}
