package synth

import (
	"encoding/json"
	"math"
	"testing"

	"dither/internal/splitmix"
	"dither/synth/model"
)

// In simulations, the mean of the estimated errors is near that of the true distances between fitted and real cells. Pairs of
// three columns are measured; the model of their cycle has less freedom than the noise.
func TestEstimatedErrors(t *testing.T) {
	d, err := model.NewDomain(6, 5, 8)
	if err != nil {
		t.Fatal(err)
	}
	columns := []*Column{{Name: "a", Cells: 6}, {Name: "b", Cells: 5}, {Name: "c", Cells: 8}}
	words := splitmix.At(splitmix.Mix(12))
	estimate, truth := 0.0, 0.0
	for range 30 {
		exact := make([][]float64, 3)
		sets := [][]int{{0, 1}, {0, 2}, {1, 2}}
		var measured []model.Measurement
		for k, set := range sets {
			n := columns[set[0]].Cells * columns[set[1]].Cells
			exact[k] = make([]float64, n)
			measured = append(measured, model.Measurement{Attributes: set, Values: make([]float64, n), Variance: 400})
		}
		const rows = 8000
		for range rows {
			a := words.Below(6)
			codes := []int{a, (a + words.Below(4)) % 5, (2*a + words.Below(5)) % 8}
			for k, set := range sets {
				exact[k][codes[set[0]]*columns[set[1]].Cells+codes[set[1]]]++
			}
		}
		for k := range sets {
			for i, n := range exact[k] {
				noise := -24.0
				for range 48 { // uniform numbers, whose sum is about normal
					noise += float64(words.Word()>>11) / (1 << 53)
				}
				measured[k].Values[i] = n + 20*noise/2
			}
		}
		m, err := model.Fit(d, measured, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := &Result{Plan: &Plan{Columns: columns}, model: m}
		for k, set := range sets {
			shares, err := m.Marginal(set...)
			if err != nil {
				t.Fatal(err)
			}
			for i := range shares {
				shares[i] /= m.Total()
			}
			estimate += r.compared(measured[k], shares, m.Total()).Estimated / 90
			for i, n := range exact[k] {
				truth += math.Abs(n/rows-shares[i]) / 2 / 90
			}
		}
	}
	t.Logf("estimated %.4f, true %.4f", estimate, truth)
	if ratio := estimate / truth; ratio < 0.7 || ratio > 1.4 {
		t.Errorf("the estimated error is %.4f, and the true one %.4f", estimate, truth)
	}
}

// A report of a home's table has all columns and pairs, with shares that add up to 1, and is JSON.
func TestReport(t *testing.T) {
	for _, method := range []Method{MST, MWEM} {
		c, _ := town(t, inRho, "add-remove", 6, 1000)
		r, err := Synthesize(t.Context(), c.Session(), Request{Table: "people", Epsilon: "2", Method: method, Bins: 5})
		if err != nil {
			t.Fatal(err)
		}
		report, err := r.Report()
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Columns) != 4 || len(report.Association) != 4 || len(report.Limits) < 5 || len(report.Marginals) == 0 {
			t.Errorf("%s: %+v", method, report)
		}
		for _, column := range report.Columns {
			sum := 0.0
			for _, s := range column.Synthetic {
				sum += s
			}
			if math.Abs(sum-1) > 1e-9 || len(column.Labels) != len(column.Synthetic) {
				t.Errorf("%s: %s has %v of %d cells", method, column.Name, sum, len(column.Labels))
			}
		}
		text, err := json.Marshal(report)
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// Cramér's V is 1 if one column determines the other, and 0 if they are independent.
func TestCramer(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		want   float64
	}{
		{[]float64{0.5, 0, 0, 0.5}, 1},
		{[]float64{0.12, 0.28, 0.18, 0.42}, 0},
		{[]float64{1, 0, 0, 0}, 0},
	} {
		if got := cramer(c.shares, 2, 2); math.Abs(got-c.want) > 1e-7 {
			t.Errorf("%v has %v instead of %v", c.shares, got, c.want)
		}
	}
}
