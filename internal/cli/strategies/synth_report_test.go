package strategies

import (
	"math"
	"strings"
	"testing"

	"dither/synth"
)

// The report shows hostile names as text, refers to no other file, and has no relation where there are too many cells.
func TestSynthReportIsSelfContained(t *testing.T) {
	evil := "<script src=//a.example/x>\u202e"
	r := &synth.Report{
		Result: &synth.Result{Rows: 10, Release: "r1", Plan: &synth.Plan{
			Table: evil, Columns: []*synth.Column{{Name: evil}, {Name: "b"}}, Omitted: []synth.Omitted{{Name: evil, Reason: "it is a text"}},
		}},
		Marginals: []synth.MarginalReport{{Columns: []string{evil}, Cells: 2, StdDev: 1, Expected: 0.1, Apart: 0.2, Estimated: 0.3}},
		Columns: []synth.ColumnReport{
			{Name: evil, Labels: []string{evil, "y"}, Measured: []float64{-0.1, 1.1}, Margin: 0.2, Synthetic: []float64{0, 1}},
			{Name: "b", Labels: []string{"z"}, Synthetic: []float64{1}},
		},
		Association: [][]float64{{0, math.NaN()}, {math.NaN(), 0}}, Measured: [][]bool{{true, false}, {false, true}},
		Limits: []string{"nothing"}, Counted: 10,
	}
	var b strings.Builder
	if err := synthReportTemplate.Execute(&b, synthPageOf(r)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "src=http", "href=\"http", "url(", "@import", "\u202e", "NaN", "ZgotmplZ", "+Inf"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, good := range []string{"&lt;script", "1 pair.", "<rect", "<circle", "Do not use"} {
		if !strings.Contains(page, good) {
			t.Errorf("the page lacks %q", good)
		}
	}
}
