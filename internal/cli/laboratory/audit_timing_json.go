package laboratory

import (
	"encoding/json"
	"math"

	"dither/audit"
	"dither/internal/cli/render"
	"dither/internal/timing"
)

// timingReports is the JSON form of several measurements.
type timingReports []timed

type timingClassJSON struct {
	Question  string   `json:"question"`
	Door      string   `json:"door"`
	SQL       string   `json:"sql"`
	Steps     int64    `json:"steps"`
	Pairs     int      `json:"pairs"`
	Without   float64  `json:"median_seconds_without"`
	With      float64  `json:"median_seconds_with"`
	Shift     float64  `json:"shift_seconds"`
	Sigma     float64  `json:"sigma_seconds"`
	D         *float64 `json:"d"`
	AtLeast   float64  `json:"d_at_least"`
	AtMost    *float64 `json:"d_at_most"`
	Told      *float64 `json:"d_sqrt_ratio_at_most"`
	Repeats   float64  `json:"largest_shown_ratio"`
	Shown     bool     `json:"shown"`
	Exceeded  bool     `json:"exceeded"`
	Gap       float64  `json:"gap"`
	Epsilon   float64  `json:"epsilon_at_least"`
	Charged   string   `json:"epsilon_charged"`
	Threshold float64  `json:"threshold_seconds"`
	Longer    bool     `json:"longer"`
	Counts    [2]int   `json:"counts"`
	Tested    int      `json:"tested_pairs"`
}

// MarshalJSON writes all measurements.
func (all timingReports) MarshalJSON() ([]byte, error) {
	type report struct {
		Engine  string            `json:"engine"`
		Rows    int64             `json:"rows"`
		Load    [2]string         `json:"load"`
		Ratio   float64           `json:"ratio"`
		Most    float64           `json:"most_told"`
		Classes []timingClassJSON `json:"classes"`
	}
	out := []report{}
	for _, t := range all {
		r := report{Engine: t.Engine, Rows: t.Rows, Load: t.Load, Ratio: t.ratio, Most: audit.MostTold}
		for _, c := range t.Classes {
			r.Classes = append(r.Classes, timingClassJSON{
				Question: c.Name, Door: string(c.Door), SQL: c.SQL, Steps: c.Steps, Pairs: c.Pairs,
				Without: c.Median[0].Seconds(), With: c.Median[1].Seconds(), Shift: c.Shift.Seconds(),
				Sigma: c.Sigma.Seconds(),
				D:     render.NumberOrNull(c.D), AtLeast: c.AtLeast, AtMost: render.NumberOrNull(c.AtMost),
				Told:    render.NumberOrNull(c.AtMost * math.Sqrt(t.ratio)),
				Repeats: c.Repeats(), Shown: t.shown(c), Exceeded: t.exceeded(c),
				Gap: c.Gap, Epsilon: c.Epsilon, Charged: timing.Price,
				Threshold: c.Threshold.Seconds(), Longer: c.Longer, Counts: c.Counts, Tested: c.Tested,
			})
		}
		out = append(out, r)
	}
	return json.Marshal(map[string][]report{"timing": out})
}

// calibrationReport is the JSON form of a calibration.
type calibrationReport struct{ *timing.Calibration }

// MarshalJSON writes the measurements, and the line for the policy.
func (r calibrationReport) MarshalJSON() ([]byte, error) {
	type question struct {
		Question    string      `json:"question"`
		SQL         string      `json:"sql"`
		Rows        int64       `json:"rows"`
		Runs        int         `json:"runs"`
		Cost        json.Number `json:"cost"`
		Took        float64     `json:"longest_seconds"`
		Overhead    float64     `json:"overhead_seconds"`
		Nanoseconds float64     `json:"nanoseconds_a_step"`
	}
	out := struct {
		Engine    string     `json:"engine"`
		Load      [2]string  `json:"load"`
		Floor     float64    `json:"floor_seconds"`
		Factor    float64    `json:"factor_nanoseconds"`
		Margin    int        `json:"margin"`
		Heaviest  string     `json:"factor_of"`
		Line      string     `json:"line"`
		Questions []question `json:"questions"`
	}{r.Engine, r.Load, r.Floor.Seconds(), r.Factor, timing.Margin, r.Heaviest.Name, r.Line(), nil}
	for _, q := range r.Quotients {
		out.Questions = append(out.Questions, question{
			q.Name, q.SQL, q.Rows, q.Runs, json.Number(q.Cost.String()), q.Took.Seconds(), q.Overhead.Seconds(),
			q.Nanoseconds(),
		})
	}
	return json.Marshal(out)
}
