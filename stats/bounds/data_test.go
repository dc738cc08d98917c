package bounds_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/stats/bounds"
)

// TestErrorsOnRealData checks the doctor's bounds on real data. Typical questions have at most 1.2 times the least error
// that any bounds could give. DITHER_DATA names a folder with the files adult.csv, randhie.csv and PUMS_pid.csv. Without
// it, the test is skipped.
func TestErrorsOnRealData(t *testing.T) {
	folder := os.Getenv("DITHER_DATA")
	if folder == "" {
		t.Skip("DITHER_DATA names a folder with adult.csv, randhie.csv and PUMS_pid.csv")
	}
	for _, set := range []struct {
		file, columns string
		price         float64 // of a question; that of a column is half of it
	}{
		{"adult.csv", "age:integer fnlwgt:integer education-num:integer capital-gain:integer hours-per-week:integer", 0.2},
		{"randhie.csv", "mdvis:integer lncoins:real lpi:real fmde:real disea:real", 0.4},
		{"PUMS_pid.csv", "age:integer income:real educ:integer", 8},
	} {
		t.Run(set.file, func(t *testing.T) {
			pinned(t, 5)
			text, err := os.ReadFile(filepath.Join(folder, set.file))
			must(t, err)
			records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
			must(t, err)
			columns := strings.Fields(set.columns)
			var policy, rows strings.Builder
			budget := set.price / 2 * float64(len(columns)) * 20
			fmt.Fprintf(&policy, shapesPolicy, fmt.Sprintf("epsilon: %g", budget), fmt.Sprint(set.price))
			values, names, at := make([][]float64, len(columns)), make([]string, len(columns)), make([]int, len(columns))
			for i, c := range columns {
				name, kind, _ := strings.Cut(c, ":")
				fmt.Fprintf(&policy, "      x%d: {type: %s}\n", i, kind)
				names[i], at[i] = fmt.Sprintf("x%d", i), slices.Index(records[0], name)
			}
			rows.WriteString(strings.Join(names, ",") + "\n")
			for _, record := range records[1:] {
				row := make([]string, len(columns))
				for i, j := range at {
					row[i] = record[j]
					x, err := strconv.ParseFloat(record[j], 64)
					must(t, err)
					values[i] = append(values[i], x)
				}
				rows.WriteString(strings.Join(row, ",") + "\n")
			}
			owner, _ := sealed(t, policy.String(), map[string]string{"shapes": rows.String()})
			ratios := make([]float64, len(columns))
			const runs = 3
			for run := range runs {
				whole := fmt.Sprintf("%.4f", budget/20*(1-float64(run)/1000))
				_, report := examined(t, owner, bounds.Options{Epsilon: whole})
				for i, c := range columns {
					k := slices.IndexFunc(report.Advice, func(a bounds.Advice) bool { return a.Column == names[i] })
					a := report.Advice[k]
					if a.Abstains {
						t.Fatalf("%s: %s", c, a.Reason)
					}
					better := cmp.Or(a.Better, a.Present)
					ratio, best := bounds.ShapeOf(strings.HasSuffix(c, "integer")).Ratio(values[i], better, math.Sqrt2/set.price)
					t.Logf("%-24s → %-24s %.3f times the error of %s", c, better, ratio, best)
					ratios[i] += ratio / runs
				}
			}
			for i, c := range columns {
				if !(ratios[i] <= 1.2) {
					t.Errorf("%s: the mean error is %.3f times the least", c, ratios[i])
				}
			}
		})
	}
}
