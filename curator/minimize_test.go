package curator

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const fitPolicy = `
version: 1
population: {name: test, neighbours: NEIGHBOURS}
budget: BUDGET
price: {default: 0.1, maximum: MAXIMUM}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      x1: {type: real, bounds: [-1, 1]}
      x2: {type: real, bounds: [-1, 1], nullable: true}
      y: {type: integer, bounds: [0, 1]}
      n: {type: integer, bounds: [0, 20]}
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      x: {type: real, bounds: [-1, 1]}
      y: {type: integer, bounds: [0, 1]}
`

// fitHome makes a sealed home of rows of a logistic and a Poisson model, and of persons with several rows.
func fitHome(t testing.TB, budget, neighbours string, rows int) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET", budget, "MAXIMUM", cmp.Or(map[string]string{"{epsilon: 1}": "0.2", "{epsilon: 40}": "8"}[budget], "3")).Replace(fitPolicy))
	r := rand.New(rand.NewPCG(81, 82))
	var people, visits strings.Builder
	people.WriteString("x1,x2,y,n\n")
	visits.WriteString("person,x,y\n")
	for i := range rows {
		x1, x2 := 2*r.Float64()-1, 2*r.Float64()-1
		y, n := 0, 0
		if r.Float64() < 1/(1+math.Exp(-(2*x1-x2+0.5))) {
			y = 1
		}
		for p := r.Float64(); p > math.Exp(-math.Exp(0.5*x1+0.5)) && n < 20; n++ {
			p *= r.Float64()
		}
		fmt.Fprintf(&people, "%g,%g,%d,%d\n", x1, x2, y, n)
		fmt.Fprintf(&visits, "%d,%g,%d\n", i/5, x1, y) // persons with two rows more than count
	}
	people.WriteString("1,,1,20\n") // of no weight
	write(t, home, "people.csv", people.String())
	write(t, home, "visits.csv", visits.String())
	c := openHome(t, home)
	for _, table := range []string{"people", "visits"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// A minimum at a high price is that of the rows, by an independent solver, and so are the two sums; and it costs its price. (Noise of scale
// .035·√3/4 or below exceeds .3 with a probability of 3e-9 a coefficient.)
func TestMinimize(t *testing.T) {
	for _, terms := range []struct{ budget, price, spent string }{{"{epsilon: 40}", "8", "8"}, {"{epsilon: 40, delta: 1e-6}", "3", ""}} {
		home := fitHome(t, terms.budget, "add-remove", 3000)
		c := openHome(t, home)
		q := Minimisation{
			Request: Request{SQL: "SELECT x1, x2, 1, y FROM people", Epsilon: terms.price}, Loss: LogisticLoss, Radius: "5", Regularise: "50", Rows: 3000, Curvature: "0.5",
		}
		before, err := c.ExplainMinimize(t.Context(), q)
		if err != nil || before.Replayed || before.Coefficients.Values != nil || spent(t, c) != "0" && terms.spent != "" {
			t.Fatalf("%+v, %v", before, err)
		}
		m, err := c.Minimize(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := c.ExplainMinimize(t.Context(), q); err != nil || !after.Replayed || after.Price != m.Price || after.Coefficients.Noise.StdDev() != m.Coefficients.Noise.StdDev() {
			t.Errorf("%+v, %v", after, err)
		}
		theta := m.Theta()
		for i, want := range minimumOf(t, home, 50, func(r []float64) ([]float64, float64, bool) { return []float64{r[0], r[1], 1}, r[2], !math.IsNaN(r[1]) }, logit) {
			if math.Abs(theta[i]-want) > 0.3 {
				t.Errorf("%v, want %g", theta, want)
			}
		}
		if len(m.Hessian.Values) != 6 || len(m.Products.Values) != 6 {
			t.Fatalf("%d and %d entries", len(m.Hessian.Values), len(m.Products.Values))
		}
		ones := func(v *Vector) float64 {
			unit, _ := v.Unit.Float64()
			f, _ := v.Values[5].Float64()
			return f * unit
		}
		if h, p := ones(m.Hessian), ones(m.Products); h < 450 || h > 650 || p < 450 || p > 650 {
			t.Errorf("Σℓ″ = %g, Σℓ′² = %g", h, p)
		}
		if got := spent(t, c); terms.spent != "" && got != terms.spent {
			t.Errorf("spent %s", got)
		}
		again, err := c.Minimize(t.Context(), q)
		if err != nil || !again.Replayed || again.ID != m.ID || again.Coefficients.Values[0].Cmp(m.Coefficients.Values[0]) != 0 {
			t.Errorf("again: %+v, %v", again, err)
		}
		p, err := c.Minimize(t.Context(), Minimisation{
			Request: Request{SQL: "SELECT x1, 1, n FROM people", Epsilon: terms.price}, Loss: PoissonLoss, Radius: "1.5", Regularise: "100", Rows: 3000,
		})
		if err != nil || p.Hessian != nil {
			t.Fatal(err)
		}
		want := minimumOf(t, home, 100, func(r []float64) ([]float64, float64, bool) { return []float64{r[0], 1}, r[3], true }, func(z, y float64) float64 { return math.Exp(z) - y })
		if theta := p.Theta(); math.Abs(theta[0]-want[0]) > 3 || math.Abs(theta[1]-want[1]) > 3 || p.Sensitivity > 0.6 {
			t.Errorf("Poisson: %v, want %v: %g", theta, want, p.Sensitivity)
		}
		v, err := c.Minimize(t.Context(), Minimisation{
			Request: Request{SQL: "SELECT x, 1, y FROM visits", Epsilon: terms.price}, Loss: LogisticLoss, Radius: "5", Regularise: "50", Rows: 1800,
		})
		if err != nil || v.Sensitivity < 3*1.41/50 { // three rows of a person
			t.Errorf("persons: %+v, %v", v, err)
		}
	}
}

func logit(z, y float64) float64 { return 1/(1+math.Exp(-z)) - y }

// minimumOf minimises a risk over the rows of people.csv, by gradient descent.
func minimumOf(t *testing.T, home string, regularise float64, row func(r []float64) (x []float64, y float64, ok bool), slope func(z, y float64) float64) []float64 {
	t.Helper()
	var xs [][]float64
	var ys []float64
	for _, r := range readRows(t, home) {
		if x, y, ok := row(r); ok {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	theta := make([]float64, len(xs[0]))
	for range 2000 {
		g := make([]float64, len(theta))
		for i, x := range xs {
			z := 0.0
			for j := range x {
				z += x[j] * theta[j]
			}
			for j, s := 0, slope(z, ys[i]); j < len(x); j++ {
				g[j] += s * x[j]
			}
		}
		for j := range theta {
			theta[j] -= (g[j] + regularise*theta[j]) / (3 * float64(len(xs)))
		}
	}
	return theta
}

// readRows are the rows of people.csv; NaN for a missing number.
func readRows(t *testing.T, home string) (rows [][]float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "people.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		var r []float64
		for _, field := range strings.Split(line, ",") {
			f, err := strconv.ParseFloat(field, 64)
			if err != nil {
				f = math.NaN()
			}
			r = append(r, f)
		}
		rows = append(rows, r)
	}
	return rows
}

// What makes no sense is refused, with a reason, before anything is charged.
func TestMinimizeRefuses(t *testing.T) {
	c := openHome(t, fitHome(t, "{epsilon: 1}", "change-one", 20))
	good := Minimisation{Request: Request{SQL: "SELECT x1, 1, y FROM people"}, Loss: LogisticLoss, Radius: "2", Regularise: "10", Rows: 20}
	for says, change := range map[string]func(m *Minimisation){
		"no loss function":             func(m *Minimisation) { m.Loss = "absolute" },
		"the radius":                   func(m *Minimisation) { m.Radius = "0" },
		"the regulariser":              func(m *Minimisation) { m.Regularise = "NaN" },
		"number of rows is missing":    func(m *Minimisation) { m.Rows = 0 },
		"expected number of rows":      func(m *Minimisation) { m.Rows = -1 },
		"bounds between 0 and 1":       func(m *Minimisation) { m.SQL = "SELECT x1, 1, n FROM people" },
		"lower bound of at least 0":    func(m *Minimisation) { m.Loss, m.SQL = PoissonLoss, "SELECT 1, x1 FROM people" },
		"at most 30":                   func(m *Minimisation) { m.Loss, m.Radius = PoissonLoss, "40" },
		"at least one predictor":       func(m *Minimisation) { m.SQL = "SELECT y FROM people" },
		"all predictors are 0":         func(m *Minimisation) { m.SQL = "SELECT 0, y FROM people" },
		"the response is always 0":     func(m *Minimisation) { m.SQL = "SELECT x1, 0 FROM people" },
		"Width applies only to":        func(m *Minimisation) { m.Width = "1" },
		"longer than the 10m0s":        func(m *Minimisation) { m.Loss, m.Width, m.Regularise, m.Rows = HuberLoss, "1", "0.1", 1_000_000_000 },
		"the width must be a decimal":  func(m *Minimisation) { m.Loss = HuberLoss },
		"without groups":               func(m *Minimisation) { m.SQL += " GROUP BY y" },
		"the bound on the predictors'": func(m *Minimisation) { m.Bound = "-1" },
		"the share of the curvature":   func(m *Minimisation) { m.Curvature = "1" },
		"regulariser is too small":     func(m *Minimisation) { m.Regularise, m.Rows = "0.000001", 1<<40 },
		"the aggregate count":          func(m *Minimisation) { m.SQL = "SELECT COUNT(*), 1 FROM people" },
		"1 to 256":                     func(m *Minimisation) { m.SQL = "SELECT " + strings.Repeat("x1, ", 257) + "y FROM people" },
		"at most 1000 coordinates":     func(m *Minimisation) { m.SQL = "SELECT " + strings.Repeat("x1, ", 1000) + "y FROM people" },
		"there is no table \"nobody\"": func(m *Minimisation) { m.SQL = "SELECT x1, y FROM nobody" },
	} {
		m := good
		change(&m)
		if _, err := c.Minimize(t.Context(), m); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want a refusal about %q", err, says)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("refusals cost %s", got)
	}
	// Degenerate data are no error: one class, a constant predictor, no rows at all.
	for _, sql := range []string{"SELECT x1, 1, y FROM people WHERE y = 1", "SELECT 1, 1, y FROM people", "SELECT x1, y FROM people WHERE x1 > 1"} {
		m := good
		m.SQL = sql
		if got, err := c.Minimize(t.Context(), m); err != nil || math.IsNaN(got.Theta()[0]) {
			t.Errorf("%s: %+v, %v", sql, got, err)
		}
	}
}
