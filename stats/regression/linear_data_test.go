package regression

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/examples/randhie"
	"dither/internal/testhome"

	"gonum.org/v1/gonum/mat"
)

const adultPolicy = `
version: 1
population: {name: adult}
budget: {rho: 1, delta: 1e-9}
tables:
  adult:
    source: {csv: adult.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 84]}
      education-num: {type: integer, bounds: [0, 15]}
      sex: {type: integer, values: [0, 1]}
      hours-per-week: {type: integer, bounds: [0, 98]}
      income>50K: {type: integer, values: [0, 1]}
`

// Regressions of real data are near what ordinary least squares gives of the same rows: by their own intervals, at a
// confidence of 1 − 1e-7 each, and with standard errors that are no larger than they were. DITHER_ADULT names a file
// adult.csv, whose columns are coded from 0; without it, it is left out.
func TestLinearRealData(t *testing.T) {
	policy, err := randhie.Files.ReadFile("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := randhie.Files.ReadFile("randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	zcdp := strings.Replace(strings.Replace(string(policy), "epsilon: 1.2", "rho: 1\n  delta: 1e-9", 1), "maximum: 0.5",
		"maximum: 1", 1)
	sets := []struct {
		table, policy, file, csv, formula, epsilon string
		columns                                    []string // the response first, as in the file
		most                                       float64  // of the response: larger ones count as it
		errors                                     []float64
	}{
		{"visits", string(policy), "randhie.csv", string(rows), "mdvis ~ lncoins + physlm", "0.3", []string{"mdvis", "lncoins", "physlm"}, 50, []float64{0.11, 0.050, 0.47}},
		{"visits", zcdp, "randhie.csv", string(rows), "mdvis ~ lncoins + physlm + disea + hlthp", "0.5", []string{"mdvis", "lncoins", "physlm", "disea", "hlthp"}, 50, []float64{0.13, 0.018, 0.14, 0.012, 0.71}},
	}
	if file := os.Getenv("DITHER_ADULT"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for price, errors := range map[string][]float64{
			"0.1": {0.56, 0.010, 0.054, 0.26, 0.24},
			"0.5": {0.26, 0.0044, 0.024, 0.13, 0.15},
		} {
			s := sets[0]
			s.table, s.policy, s.file, s.csv, s.epsilon, s.most, s.errors = "adult", adultPolicy, "adult.csv",
				string(text), price, 98, errors
			s.formula, s.columns = `"hours-per-week" ~ age + "education-num" + factor(sex) + "income>50K"`,
				[]string{"hours-per-week", "age", "education-num", "sex", "income>50K"}
			sets = append(sets, s)
		}
	}
	for _, s := range sets {
		c := homeOf(t, s.policy, s.file, s.csv, s.table)
		f, err := FitLinear(t.Context(), c,
			Linear{
				Table: s.table, Formula: s.formula,
				Request: curator.Request{Epsilon: s.epsilon}, Confidence: "0.9999999",
			})
		if err != nil {
			t.Fatal(err)
		}
		want := leastSquares(t, s.csv, s.columns, s.most)
		for i, k := range f.Coefficients {
			if k.Low != nil && *k.Low > want[i] || k.High != nil && *k.High < want[i] || k.Estimate == nil {
				t.Errorf("%s at %s: %s, without noise %g", s.formula, s.epsilon, shown(k), want[i])
			}
			if k.StdError == nil || *k.StdError > 1.5*s.errors[i] {
				t.Errorf("%s at %s: %s, with a standard error of %g before",
					s.formula, s.epsilon, shown(k), s.errors[i])
			}
		}
	}
}

func homeOf(t *testing.T, policy, file, rows, table string) *curator.Session {
	t.Helper()
	c, _ := testhome.Sealed(t, policy, table, map[string]string{file: rows})
	return c
}

// leastSquares are the coefficients without noise: an intercept, and the columns after the first.
func leastSquares(t *testing.T, text string, columns []string, most float64) []float64 {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]int{}
	for i, name := range records[0] {
		places[name] = i
	}
	p := len(columns)
	a, b := mat.NewSymDense(p, nil), mat.NewVecDense(p, nil)
	row := make([]float64, p)
	for _, r := range records[1:] {
		for i, name := range columns {
			if row[i], err = strconv.ParseFloat(r[places[name]], 64); err != nil {
				t.Fatal(err)
			}
		}
		y := math.Min(row[0], most)
		row[0] = 1
		for i, x := range row {
			b.SetVec(i, b.AtVec(i)+x*y)
			for j := range i + 1 {
				a.SetSym(i, j, a.At(i, j)+x*row[j])
			}
		}
	}
	var factor mat.Cholesky
	var out mat.VecDense
	if !factor.Factorize(a) || factor.SolveVecTo(&out, b) != nil {
		t.Fatal("singular")
	}
	return out.RawVector().Data
}
