package regression

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/stats/formula"

	"gonum.org/v1/gonum/mat"
)

// realModel is a model of real data, whose predictors are numbers.
type realModel struct {
	family, response string
	columns          []string
	widths           []float64 // of the declared bounds
	epsilon, bound   string
	radius           string
	// at most, in non-private standard errors, as a root of the mean square over coefficients; 0: not pinned
	errors float64
}

func (m realModel) formula() string {
	text := formula.Quote(m.response) + " ~ "
	for i, c := range m.columns {
		if i > 0 {
			text += " + "
		}
		text += formula.Quote(c)
	}
	return text
}

// plain is the non-private maximum of the likelihood, with standard errors, of the intercept first: Newton's method on
// the file's rows.
func (m realModel) plain(t *testing.T, file string) (theta, errors []float64) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(row []string, name string) float64 {
		for i, head := range rows[0] {
			if head == name {
				x, err := strconv.ParseFloat(row[i], 64)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
		}
		t.Fatalf("no column %s", name)
		return 0
	}
	d := len(m.columns) + 1
	theta = make([]float64, d)
	h := mat.NewSymDense(d, nil)
	for range 30 {
		h.Zero()
		g := mat.NewVecDense(d, nil)
		for _, row := range rows[1:] {
			x, z := []float64{1}, theta[0]
			for i, c := range m.columns {
				x = append(x, number(row, c)/m.widths[i])
				z += theta[i+1] * x[i+1]
			}
			y, mu := number(row, m.response), math.Exp(z)
			weight := mu
			if m.family == Logistic {
				mu = 1 / (1 + math.Exp(-z))
				weight = mu * (1 - mu)
			} else {
				y = min(y, 50)
			}
			for i := range d {
				g.SetVec(i, g.AtVec(i)+(mu-y)*x[i])
				for j := range i + 1 {
					h.SetSym(i, j, h.At(i, j)+weight*x[i]*x[j])
				}
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(h, g); err != nil {
			t.Fatal(err)
		}
		for i := range d {
			theta[i] -= step.AtVec(i)
		}
		if mat.Norm(&step, 2) < 1e-9 {
			break
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(h); err != nil {
		t.Fatal(err)
	}
	for i := range d {
		width := 1.0
		if i > 0 {
			width = m.widths[i-1]
		}
		theta[i] /= width
		errors = append(errors, math.Sqrt(inverse.At(i, i))/width)
	}
	return theta, errors
}

const realPolicy = `
version: 1
population: {name: real}
budget: {rho: 100, delta: 1e-6}
price: {default: 1, maximum: 10}
tables:
  visits:
    source: {csv: visits.csv}
    unit: row
    expected_rows: 20000
    columns:
      mdvis: {type: integer, bounds: [0, 50]}
      lncoins: {type: real, bounds: [0, 4.62]}
      physlm: {type: real, bounds: [0, 1]}
      disea: {type: real, bounds: [0, 60]}
      hlthf: {type: integer, bounds: [0, 1]}
`

const adultModelsPolicy = `
version: 1
population: {name: real}
budget: {rho: 100, delta: 1e-6}
price: {default: 1, maximum: 10}
tables:
  visits:
    source: {csv: visits.csv}
    unit: row
    expected_rows: 48842
    columns:
      age: {type: integer, bounds: [0, 84]}
      education-num: {type: integer, bounds: [0, 15]}
      hours-per-week: {type: integer, bounds: [0, 98]}
      sex: {type: integer, bounds: [0, 1]}
      "income>50K": {type: integer, bounds: [0, 1]}
`

// Models of real data, beside those without noise: `go test ./stats -run GLMReal -v` prints them, of adult.csv where
// DITHER_ADULT names that file. An interval at a confidence of 1 − 1e-7 holds the coefficient that the rows have.
func TestFitGLMReal(t *testing.T) {
	rand, err := filepath.Abs("../../examples/randhie/randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		name, file, policy string
		models             []realModel
	}{
		{"randhie", rand, realPolicy, []realModel{
			{Logistic, "hlthf", []string{"disea", "physlm", "lncoins"}, []float64{60, 1, 4.62}, "1", "", "", 4},
			{Logistic, "hlthf", []string{"disea", "physlm", "lncoins"}, []float64{60, 1, 4.62}, "0.2", "", "", 15},
			{Poisson, "mdvis", []string{"lncoins", "physlm", "disea"}, []float64{4.62, 1, 60}, "4", "", "2.3", 0},
		}},
		{"adult", os.Getenv("DITHER_ADULT"), adultModelsPolicy, []realModel{
			{Logistic, "income>50K", []string{"age", "education-num", "hours-per-week", "sex"}, []float64{84, 15, 98, 1}, "1", "", "", 3},
			{Logistic, "income>50K", []string{"age", "education-num", "hours-per-week", "sex"}, []float64{84, 15, 98, 1}, "0.2", "", "", 15},
		}},
	} {
		t.Run(of.name, func(t *testing.T) {
			if of.file == "" {
				t.Skip("DITHER_ADULT names no file")
			}
			text, err := os.ReadFile(of.file)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := testhome.Sealed(t, of.policy, "visits", map[string]string{"visits.csv": string(text)})
			for _, m := range of.models {
				m.compare(t, c, of.file)
			}
		})
	}
}

func (m realModel) compare(t *testing.T, c *curator.Session, file string) {
	q := GLM{Family: m.family, Table: "visits", Formula: m.formula(), Bound: m.bound, Radius: m.radius}
	q.Epsilon = m.epsilon
	usual, err := FitGLM(t.Context(), c, q)
	if err != nil {
		t.Fatal(err)
	}
	q.Confidence = "0.9999999"
	wide, err := FitGLM(t.Context(), c, q) // of the same release
	if err != nil || !wide.Replayed {
		t.Fatal(err)
	}
	theta, errors := m.plain(t, file)
	t.Logf("%s, %s: ε = %s, %s; %v", q.Formula, m.family, m.epsilon, usual.Price, usual.Warnings)
	sum := 0.0
	for i, k := range usual.Coefficients {
		t.Logf("%-16s %10.5f ± %8.5f  non-private %10.5f ± %8.5f  95%%: %v … %v", k.Name, *k.Estimate,
			glmOr(k.StdError), theta[i], errors[i], glmShown(k.Low), glmShown(k.High))
		off := (*k.Estimate - theta[i]) / errors[i]
		sum += off * off / float64(len(theta))
		if low := wide.Coefficients[i].Low; low != nil &&
			!(*low <= theta[i] && theta[i] <= *wide.Coefficients[i].High) {
			t.Errorf("%s: %g is not in %g … %g", k.Name, theta[i], *low, *wide.Coefficients[i].High)
		}
	}
	t.Logf("off by %.2f non-private standard errors", math.Sqrt(sum))
	if m.errors > 0 && !(math.Sqrt(sum) < m.errors) {
		t.Errorf("off by %.2f non-private standard errors", math.Sqrt(sum))
	}
}

func glmOr(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
