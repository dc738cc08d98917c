package regression

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"dither/curator"
	"dither/stats/formula"
)

// Results in JSON are byte for byte what testdata/results.jsonl holds; DITHER_UPDATE_JSON=1 writes it anew.
func TestResultsInJSON(t *testing.T) {
	half, most := 0.5, 1e21
	spec := Spec{LinearModel, "y ~ x", "points"}
	price := curator.Loss{Rho: "1.5", Delta: "1e-6"}
	paid, quoted := Paid{nil, price, price, true}, Quoted{price, price, true, "3"}
	sum := LinearSum{
		Name: "Σ z zᵀ", Values: []float64{1, -0.25}, Noise: "n", StdDev: 2, OffDiagonal: &half,
		Price: price,
	}
	choice := &Choice{Of: []string{"x", "z"}, Chosen: []string{"x"}, Models: 3, Confidence: 0.99, Exhaustive: true}
	bounds := []formula.Bounds{{Column: "x", Low: -1, High: 2, Mean: 0.5, Spread: 0.25}, {Column: "z", High: 1}}
	line := &FittedLine{
		At: 10, Height: Coefficient{Name: "y", Estimate: &half, Low: &half}, SlopeNoise: 1, HeightNoise: 2,
		SlopeMost: 3,
		Rows:      400, Thinned: 2, Intervals: true, Draws: []curator.LineDraw{{Name: "slope", Price: price}},
	}
	terms := GLMTerms{Rows: 40, Counted: true, Bound: 1, Radius: 10, Regularise: 20, Curvature: 0.3, Expected: &half}
	bin := CalibrationBin{High: 0.1, Rows: -1, Off: -1}
	bin.Interval.High, bin.Interval.Confidence = 0.5, "0.95"
	tested := GLMCoefficient{
		Name: "x", Estimate: &half, StdError: &half, Privacy: &half, High: &most, Z: &half,
		P: &half, Width: 7,
	}
	fit := &GLMFit{
		IDs: []string{"r1", "r2"}, Spec: spec, Response: "ill", Levels: []string{"no", "yes"}, Confidence: "0.9",
		GLMTerms:     terms,
		Coefficients: []GLMCoefficient{tested}, About: AboutPopulation, Bounds: bounds, Choice: choice,
		Warnings: []string{"a < b"}, Paid: paid,
	}
	var got bytes.Buffer
	for _, v := range []any{
		newLinearFit("r1", &formula.Design{Table: "points"}, AdaSSP, paid),
		&LinearFit{
			ID: "r1", Releases: []string{"r0", "r1"}, Spec: spec, Method: AdaSSP, Confidence: "0.95", About: AboutRows,
			ResidualError: &half,
			Coefficients: []Coefficient{{
				Name: "x", Estimate: &half, StdError: &half, Privacy: &half, Low: &half,
				High: &most, Width: 7,
			}, {Name: "z"}},
			RSquared: &half, Rows: &most, RowsError: &half, Ridge: 2, Bounds: bounds, Choice: choice,
			Warnings: []string{"a < b"},
			Measured: []LinearSum{sum, {Name: "rows"}}, Line: line, Paid: paid,
		},
		&LinearExplanation{
			Spec: spec, Method: TheilSen, SQL: "SELECT a < b", Columns: []string{"x"}, Sums: []LinearSum{sum},
			Line: line, NoiseNorm: &half,
			LeastSpread: &half, Quoted: quoted, Replayed: true, Notes: []string{"note"},
			Unit: curator.Unit{Column: "id"},
		},
		&GLMFit{},
		fit,
		&GLMExplanation{
			Spec: spec, SQL: "SELECT 1", Columns: []string{"x"}, Noise: "n", StdDev: 1, Sensitivity: 2, GLMTerms: terms,
			Count: &price, Quoted: quoted,
			Notes: []string{"note"}, Replayed: true, Response: "ill", Levels: []string{"no"},
		},
		&Trained{
			ID: "r1", Spec: spec, Columns: []string{"x"}, Classes: 2, Hidden: 3, Activation: "tanh", Response: "ill",
			Theta:        []float64{1, 2},
			Coefficients: []GLMCoefficient{{Class: "b", Name: "x", Estimate: &half}}, Steps: 5, Clip: "1", Rate: "1/2",
			Multiplier: "8",
			Optimiser:  Adam, Learning: "0.05", Paid: paid,
		},
		&GradientsExplanation{
			Spec: spec, SQL: "SELECT 1", Columns: []string{"x"}, Parameters: 17, Steps: 5, Recorded: 2, Clip: "1",
			Rate: "1/2", Multiplier: "8",
			StdDev: 1, Epsilon: "2", Delta: "1e-5", Quoted: quoted, Begun: true, Response: "ill", Expected: 20,
		},
		&Calibrated{
			ID: "r1", Response: "ill", Where: "x > 1", Same: true, Bins: []CalibrationBin{{Rate: &half}, bin},
			Noise: "n", StdDev: 1,
			Warnings: []string{"w"}, Paid: paid, Formula: "f", Table: "t", Of: 10, Confidence: "0.95",
		},
		&CalibrationExplanation{
			SQL: "SELECT 1", Bins: 10, StdDev: 1, Price: price, Replayed: true, Remaining: price,
			Affordable: true,
		},
		&GLMSearched{
			ID: "r3", Candidates: []Candidate{{Formula: "y ~ x", Correct: 12, StdDev: 1, Fit: fit}}, Model: fit,
			Price: "1.5", Unit: "rho",
			Remaining: price, Replayed: true,
		},
		&GLMTried{
			ID: "r4", Spec: spec, Regularise: "20",
			Coefficients: []TriedCoefficient{{Name: "x", Estimate: &half, Noise: 1}, {Name: "z"}},
			Correct:      &half, CorrectError: &most, Trials: 6, Missed: 0.1, Trial: price, Paid: paid, Affordable: true,
			Largest: "3",
		},
		&GLMTried{},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error())
		}
		got.Write(append(text, '\n'))
	}
	const file = "testdata/results.jsonl"
	if os.Getenv("DITHER_UPDATE_JSON") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s", got.Bytes())
	}
}
