package strategies

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/cli/render"
	"dither/strategy/tabulate"
)

// hostile is a tabulation whose names are written to break files and pages.
func hostile() *tabulate.Result {
	const evil = `<script>alert("x")</script>|` + "\u202e"
	cell := func(place string, n int64, estimate float64) tabulate.Cell {
		return tabulate.Cell{
			Level: "county", Place: place, Values: []string{evil}, Value: big.NewRat(n, 10), Estimate: estimate, StdDev: 1. / 3,
			Margin: 2. / 3, Marked: n < 20,
		}
	}
	price := curator.Loss{Epsilon: "1"}
	return &tabulate.Result{
		Plan: &tabulate.Plan{
			Price: price, Remaining: price, Confidence: "0.95",
			Tables: []tabulate.TablePlan{{Name: "t", Levels: []tabulate.LevelPlan{{Level: "county", Cells: 3, StdDev: 1, Margin: 2, Worst: 3}}}},
			Groups: []tabulate.GroupPlan{{SQL: "SELECT " + evil, Tables: []string{"t"}, Price: price}},
		},
		Releases: []string{"r1"}, Residuals: [][]float64{{}}, MarkBelow: 2,
		Tables: []tabulate.TableResult{{
			Name: "t", Description: evil + "\n\n# no heading", Places: "place", Columns: []string{evil},
			Cells: []tabulate.Cell{cell("=1+1", -1234567, -123456.7000000001), cell("a\nb,c", 12, 1.25), cell("| d", 1234567, 1e5/3)},
		}},
	}
}

// TestHostileNames checks that names end no element of the report, no row of a table, and no cell.
func TestHostileNames(t *testing.T) {
	r := hostile()
	var page bytes.Buffer
	if err := report(&page, r); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "\u202e"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the report contains %q", bad)
		}
	}
	for _, good := range []string{"&lt;script&gt;", "prefers-color-scheme: dark", "overflow-x: auto", "<title>Quality report: t</title>", "3 cells, 2 marked"} {
		if !strings.Contains(page.String(), good) {
			t.Errorf("the report lacks %q", good)
		}
	}
	for _, line := range strings.Split(markdown(&r.Tables[0]), "\n") {
		if strings.Contains(line, "<script") || strings.HasPrefix(line, "# ") || strings.Contains(line, "\u202e") {
			t.Errorf("the Markdown file has the line %q", line)
		}
		if strings.HasPrefix(line, "| county") && strings.Count(line, "|")-strings.Count(line, `\|`) != 4 {
			t.Errorf("the line %q has another number of cells", line)
		}
	}
}

// TestFormatsAgree compares the numbers of the CSV file and of JSON, digit by digit, with those of the tabulation, and
// the values of the table for people.
func TestFormatsAgree(t *testing.T) {
	r := hostile()
	var file bytes.Buffer
	if err := render.WriteCSV(&file, false, r.Tables[0].Records()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Tables []struct {
			Cells []struct{ Value, Estimate, StdDev, Margin json.Number }
		}
	}
	if err := json.Unmarshal([]byte(render.PrintableJSON(text)), &parsed); err != nil {
		t.Fatal(err)
	}
	_, people, _ := wide(&r.Tables[0])
	for i, c := range r.Tables[0].Cells {
		of := parsed.Tables[0].Cells[i]
		for j, n := range []json.Number{of.Value, of.Estimate, of.StdDev, of.Margin} {
			x, err := n.Float64()
			if err != nil {
				t.Fatal(err)
			}
			y, err := strconv.ParseFloat(rows[i+1][3+j], 64)
			if err != nil || x != y || x != []float64{float(c.Value), c.Estimate, c.StdDev, c.Margin}[j] {
				t.Errorf("cell %d: %s in JSON and %s in CSV: %v", i, n, rows[i+1][3+j], err)
			}
		}
		if shown := strings.ReplaceAll(people[i][len(people[i])-1], ",", ""); !strings.HasPrefix(shown, c.Text()+" ± ") {
			t.Errorf("cell %d: %q for %s", i, shown, c.Text())
		}
	}
}

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// TestTwoDigits: numbers of a column have two significant digits, also if the second one is 0, and thousands are grouped.
func TestTwoDigits(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 7: "7.0", 0.3: "0.30", 9.96: "10", 13.4: "13", 800_000: "800,000", 0.0804: "0.080", 1e-7: "1e-07", 8.4: "8.4",
		-2: "-2.0", 1e12: "1e+12", math.Inf(1): "+Inf",
	} {
		if got := twoDigits(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
}
