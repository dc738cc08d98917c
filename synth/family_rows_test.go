package synth

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"dither/internal/testhome"
)

// pupils is a home of pupils with tests, whose marks heap at whole tens.
const pupils = `
version: 1
population: {name: school, neighbours: add-remove}
budget: {rho: 1000, delta: 1e-6}
price: {default: 1, maximum: 14}
tables:
  pupils:
    source: {csv: pupils.csv}
    unit: pupil
    rows_per_unit: 1
    columns:
      pupil: {type: integer}
      born: {type: integer, bounds: [1990, 2009]}
      weight: {type: real, bounds: [20, 120]}
      HELD
  tests:
    source: {csv: tests.csv}
    unit: pupil
    rows_per_unit: 4
    columns:
      pupil: {type: integer}
      day: {type: date, bounds: [2024-01-01, 2024-12-31], nullable: true}
      mark: {type: integer, bounds: [0, 999]}
      passed: {type: boolean}
`

// Numbers of both tables have their shape within bins, constraints of both hold in every row, and the reports count the
// rows as they were drawn. One release pays for all of it.
func TestFamilyHasShapesConstraintsAndReports(t *testing.T) {
	for name, held := range map[string]string{"all": "", "some held out": "held: {type: boolean, holdout: 20%}"} {
		above, below := "pupil,born,weight\n", "pupil,day,mark,passed\n"
		for i := range 3000 {
			above += fmt.Sprintf("%d,%d,%d.5\n", i, 1990+i%20, 30+i%50)
			for k := range i % 5 {
				mark := (i*7 + k*31) % 100 * 10
				day := fmt.Sprintf("2024-%02d-01", 1+(i+k)%12)
				if i%40 == 0 {
					day = ""
				}
				below += fmt.Sprintf("%d,%s,%d,%t\n", i, day, mark, mark >= 500)
			}
		}
		policy := strings.Replace(pupils, "HELD", held, 1)
		o, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"pupils.csv": above, "tests.csv": below}), "pupils", "tests")
		c := o.Session()
		result, err := SynthesizeFamily(t.Context(), c, FamilyRequest{Children: "tests", Request: Request{
			Table: "pupils", Rho: "60", Bins: 4, Method: MST,
			Constraints: []string{
				"born >= 2000 => weight < 60", "passed => mark >= 500", "NOT passed => mark < 500", `"pupils.born" = 1990 => NOT passed`,
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := c.Budget(); err != nil || b.Spent.Rho != "60" || result.Parents.Release != result.Children.Release {
			t.Errorf("%s: %v is spent for %s and %s, %v", name, b.Spent, result.Parents.Release, result.Children.Release, err)
		}
		var a, b bytes.Buffer
		persons, rows := result.Tables()
		if err := persons.WriteCSV(&a); err != nil {
			t.Fatal(err)
		}
		if err := rows.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		born := map[string]string{}
		for _, row := range parsedCSV(t, a.Bytes())[1:] {
			born[row[0]] = row[1]
			if year, _ := strconv.Atoi(row[1]); year >= 2000 {
				if w, _ := strconv.ParseFloat(row[2], 64); w >= 60 {
					t.Errorf("born in %d, weight %v", year, w)
				}
			}
		}
		tens, passed, all := 0, 0, parsedCSV(t, b.Bytes())[1:]
		for _, row := range all {
			mark, _ := strconv.Atoi(row[2])
			if mark%10 == 0 {
				tens++
			}
			if row[3] == "true" {
				passed++
			}
			if (mark >= 500) != (row[3] == "true") || born[row[0]] == "1990" && row[3] == "true" {
				t.Errorf("%s: a mark of %d, passed %s, born in %s", name, mark, row[3], born[row[0]])
			}
		}
		if share := float64(tens) / float64(len(all)); share < 0.9 {
			t.Errorf("%s: %.2f of the marks are tens", name, share)
		}
		report, err := result.Children.Report()
		if err != nil || report.Counted != int64(len(all)) {
			t.Fatalf("%s: %d of %d rows are counted, %v", name, report.Counted, len(all), err)
		}
		at := result.Plan.Children.place("passed")
		if share := report.Columns[at].Synthetic[1]; math.Abs(share-float64(passed)/float64(len(all))) > 1e-9 {
			t.Errorf("%s: the report has %v of those who passed, and the rows %d of %d", name, share, passed, len(all))
		}
		if report, err := result.Parents.Report(); err != nil || report.Counted != result.Parents.Rows {
			t.Errorf("%s: %v", name, err)
		}
	}
}
