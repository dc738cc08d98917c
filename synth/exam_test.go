package synth

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/internal/splitmix"
)

// rowsOf returns the rows of a result, with their header.
func rowsOf(t *testing.T, r *Result) (header []string, rows [][]string) {
	t.Helper()
	var b strings.Builder
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[0], all[1:]
}

const heldColumns = "      x: {type: real, bounds: [-1, 1]}\n      day: {type: date, bounds: [2025-01-01, 2025-12-31], nullable: true}\n" +
	"      job: {type: text, values: [a, b, c]}\n      n: {type: integer, bounds: [0, 9]}\n      y: {type: boolean}\n" +
	"      held: {type: boolean, holdout: 30%}\n"

// The exam is about held-out rows: a classifier that was trained on the model's rows, and pairs of columns. The true
// area follows from the law of y. At these prices, the noise moves it by less than 0.01. Independent columns train a
// classifier in a random direction, whose area for the real rows may be anything from 0.2 to 0.8. For their own rows, it is
// that of some 40 coefficients fitted to 4,200 rows of no relation: about Φ(√(χ²/(2·4200/4))), with a χ² of 40 degrees of
// freedom, whose mean gives 0.555. It is outside 0.52 … 0.6 with a probability of less than a millionth.
func TestExam(t *testing.T) {
	words := splitmix.At(77)
	var text strings.Builder
	text.WriteString("x,day,job,n,y\n")
	uniform := func() float64 { return float64(words.Word()>>11) / (1 << 53) }
	for range 6000 {
		x := float64(words.Below(2001)-1000) / 1000
		n := words.Below(10)
		day := integerDay(words.Below(365))
		if n == 3 {
			day = ""
		}
		y := uniform() < 1/(1+math.Exp(-3*x-float64(n-5)/2))
		fmt.Fprintf(&text, "%v,%s,%s,%d,%v\n", x, day, []string{"a", "b", "c"}[words.Below(3)], n, y)
	}
	c := homeOf(t, heldColumns, text.String()).Session()
	areas := map[Method]float64{}
	for _, method := range []Method{MST, Independent} {
		result, err := Synthesize(t.Context(), c, Request{Table: "t", Method: method, Rho: "5", Bins: 16})
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(result.Rows) / 6000; math.Abs(share-0.7) > 0.03 {
			t.Errorf("%v of the rows were synthesized", share)
		}
		if len(result.Plan.Columns) != 5 {
			t.Errorf("the columns are %v", result.Plan.Columns)
		}
		header, rows := rowsOf(t, result)
		exam, err := Take(t.Context(), c, ExamRequest{Table: "t", Header: header, Rows: rows, Target: "y", Positive: "true", Rho: "2"})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", method, exam)
		if math.Abs(exam.HeldOut-1800) > 150 || len(exam.Releases) != 2 || exam.AUCMargin > 0.02 || exam.AUCMargin <= 0 || exam.Price.Rho != "2" {
			t.Errorf("%+v", exam)
		}
		if areas[method] = exam.AUC; method == Independent {
			areas[method] = exam.Own
		}
		if method == MST && exam.Score < 0.8 {
			t.Errorf("the score of the pairs is %v", exam.Score)
		}
		again, err := Take(t.Context(), c, ExamRequest{Table: "t", Header: header, Rows: rows, Target: "y", Positive: "true", Rho: "2"})
		if err != nil || again.AUC != exam.AUC || !slices.Equal(again.Releases, exam.Releases) {
			t.Errorf("again: %+v (%v)", again, err)
		}
	}
	if a := areas[MST]; a < 0.84 || a > 0.93 { // 0.89 for the true law
		t.Errorf("the area is %v", a)
	}
	if a := areas[Independent]; a < 0.52 || a > 0.6 {
		t.Errorf("the area of independent columns is %v", a)
	}
	for name, r := range map[string]ExamRequest{
		"target":   {Target: "z", Positive: "true"},
		"positive": {Target: "y", Positive: "maybe"},
		"value":    {Target: "y", Positive: "true", Rows: slices.Repeat([][]string{{"0", "", "d", "1", "true"}}, 20)},
		"short":    {Target: "y", Positive: "true", Rows: slices.Repeat([][]string{{"0", ""}}, 20)},
		"column":   {Target: "y", Positive: "true", Header: []string{"x", "nobody"}},
		"none":     {Target: "y", Positive: "true", Rows: [][]string{{"0", "", "a", "1", "true"}}},
		"price":    {Target: "y", Positive: "true", Rho: "1000"},
	} {
		if r.Table = "t"; r.Header == nil {
			r.Header = []string{"x", "day", "job", "n", "y"}
		}
		if r.Rows == nil {
			r.Rows = slices.Repeat([][]string{{"0", "", "a", "1", "true"}, {"0", "", "a", "1", "false"}}, 20)
		}
		if r.Rho == "" {
			r.Rho = "1"
		}
		if _, err := Take(t.Context(), c, r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestAdultClassifier trains on synthetic rows and tests on held-out real ones, at ε = 1 and δ = 1e-9. It compares the
// area under the curve with the one of a classifier that was trained on all real rows. The exam's own price is
// large here, so that its noise is small.
func TestAdultClassifier(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("it takes minutes: set DITHER_LONG=1")
	}
	text, err := os.ReadFile(adultData + "adult.csv")
	if err != nil {
		t.Skip("the census table is not here: ", err)
	}
	real := coded(t, string(text))
	names := strings.Split(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]), ",")
	columns := "      held: {type: boolean, holdout: 20%}\n"
	for i, n := range names {
		columns += fmt.Sprintf("      %q: {type: integer, bounds: [0, %d]}\n", n, slices.Max(real[i]))
	}
	c := homeOf(t, columns, string(text)).Session()
	target := names[len(names)-1]
	take := func(header []string, rows [][]string) float64 {
		exam, err := Take(t.Context(), c, ExamRequest{
			Table: "t", Header: header, Rows: rows, Target: target, Positive: "1", Rho: "4", Bins: 100, Fresh: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("area %.4f ± %.4f, %.0f held out, score %.4f", exam.AUC, exam.AUCMargin, exam.HeldOut, exam.Score)
		return exam.AUC
	}
	var all [][]string
	for i := range real[0] {
		var row []string
		for _, column := range real {
			row = append(row, fmt.Sprint(column[i]))
		}
		all = append(all, row)
	}
	best := take(names, all) // it has seen the held-out rows too, which a regression of 48,842 rows hardly notices
	// The limit guards against gross losses alone. Five homes, which hold out different rows, have means of ten runs of
	// .0112, .0154, .0122, .0148 and .0137: .0135 in the mean, with a standard deviation of .0018, so the limit is 5
	// deviations above the mean. Five homes do not show how often another home is that far off. If their means are normal
	// with this deviation, a run of this test fails by chance with probability below 1e-5. The published scores and
	// annealing lost .020 in the mean of ten runs, which the limit does not show.
	const runs, limit = 10, .023
	for _, column := range []string{"", target} {
		below := 0.0
		for range runs {
			result, err := Synthesize(t.Context(), c, Request{
				Table: "t", Epsilon: "1", Delta: "1e-9", Bins: 100, Target: column, Fresh: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			header, rows := rowsOf(t, result)
			area := take(header, rows)
			t.Logf("target %q: %.4f below training on real rows, in %.1f s", column, best-area, result.Seconds)
			below += (best - area) / runs
		}
		t.Logf("target %q: %.4f below training on real rows, in the mean of %d runs", column, below, runs)
		if below > limit {
			t.Errorf("training on synthetic rows loses %.4f of the area, in the mean", below)
		}
	}
}
