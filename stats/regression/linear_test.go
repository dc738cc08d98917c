package regression

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/testhome"

	"gonum.org/v1/gonum/mat"
)

type point struct {
	x, y float64
	g    string
}

// madeUp are points about y = 2 + 3·x − 1.5·(g is b), with a standard deviation of 0.5.
func madeUp(n int) (out []point) {
	words := splitmix.At(splitmix.Mix(uint64(n)))
	for range n {
		x, g := float64(words.Below(2001))/1000, "abc"[words.Below(3):][:1]
		y := 2 + 3*x + 0.5*standardNoise(&words, false)
		if g == "b" {
			y -= 1.5
		}
		out = append(out, point{x, math.Max(-5, math.Min(10, y)), g})
	}
	return out
}

// ordinary are the coefficients of the points by least squares: intercept, x, g[b], g[c].
func ordinary(points []point) []float64 {
	x, y := mat.NewDense(len(points), 4, nil), mat.NewVecDense(len(points), nil)
	for i, p := range points {
		x.SetRow(i, []float64{1, p.x, map[bool]float64{true: 1}[p.g == "b"], map[bool]float64{true: 1}[p.g == "c"]})
		y.SetVec(i, p.y)
	}
	var out mat.VecDense
	if err := out.SolveVec(x, y); err != nil {
		panic(err)
	}
	return out.RawVector().Data
}

// newHome makes a sealed home of one table, of points that are made up, and what is odd beside them.
func newHome(t testing.TB, budget string, n int) *curator.Session {
	t.Helper()
	policy := "version: 1\npopulation: {name: made-up}\nbudget: " + budget +
		"\nprice: {default: 1, maximum: 40}\ntables:\n  points:\n    source: {csv: points.csv}\n    unit: row\n    columns:\n" +
		"      y: {type: real, bounds: [-5, 10]}\n      x: {type: real, bounds: [0, 2]}\n      g: {type: text, values: [a, b, c]}\n" +
		"      none: {type: real, bounds: [0, 1], nullable: true}\n      same: {type: real, bounds: [0, 8]}\n      flag: {type: boolean}\n" +
		"      \"Odd, name\": {type: text, values: [\"it's\", 'a \\ b', 'not \"so\"']}\n"
	var rows strings.Builder
	rows.WriteString("y,x,g,none,same,flag,\"Odd, name\"\n")
	for _, p := range madeUp(n) {
		odd := map[string]string{"a": "it's", "b": `a \ b`, "c": `"not ""so"""`}[p.g]
		fmt.Fprintf(&rows, "%.6f,%g,%s,,4,%t,%s\n", p.y, p.x, p.g, p.x > 1, odd)
	}
	c, _ := testhome.Sealed(t, policy, "points", map[string]string{"points.csv": rows.String()})
	return c
}

const (
	pureBudget = "{epsilon: 1000}"
	zcdpBudget = "{rho: 10000, delta: 1e-6}"
)

// A regression through the curator: its coefficients are near the true ones, or the rows', by their own intervals at a
// confidence of 1 − 1e-7 each, it is paid once, and told the same again. What is measured has the sensitivities of
// the lecture's form.
func TestFitLinear(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		c := newHome(t, budget, 4000)
		for method, formula := range map[string]string{AdaSSP: "y ~ x + g", Lecture: `Y ~ x + "odd, name"`} {
			// of the same categories
			q := Linear{
				Table: "points", Formula: formula, Method: method,
				Request: curator.Request{Epsilon: "40"}, Confidence: "0.9999999",
			}
			told, err := ExplainLinear(t.Context(), c, q)
			if err != nil {
				t.Fatal(err)
			}
			f, err := FitLinear(t.Context(), c, q)
			if err != nil {
				t.Fatal(err)
			}
			truth := []float64{2, 3, -1.5, 0}
			if f.About != AboutPopulation {
				truth = ordinary(madeUp(4000))
			}
			for i, want := range truth {
				k := f.Coefficients[i]
				if k.Low == nil || k.High == nil || *k.Low > want || want > *k.High || *k.High-*k.Low > 6 ||
					k.StdError == nil || *k.Privacy <= 0 || *k.Privacy > 1 {
					t.Errorf("%s, %s: %s is %s, want %g", budget, method, k.Name, shown(k), want)
				}
			}
			// The noise on the residual variance has a standard deviation of 4 % of it: 0.1 is 11 of them.
			if method == AdaSSP &&
				(f.ResidualError == nil || *f.ResidualError < 0.4 || *f.ResidualError > 0.6 || f.RSquared == nil ||
					*f.RSquared < 0.85) {
				t.Errorf("%s: residual %s", budget, number(f.ResidualError)+", R² "+number(f.RSquared))
			}
			if math.Abs(*f.Rows-4000) > 10*(*f.RowsError) {
				t.Errorf("%s: %g rows", budget, *f.Rows)
			}
			for i, s := range f.Measured {
				if s.StdDev != told.Sums[i].StdDev || s.Price != told.Sums[i].Price || len(s.Values) == 0 {
					t.Errorf("%s: %+v, explained as %+v", budget, s, told.Sums[i])
				}
			}
			again, err := FitLinear(t.Context(), c, q)
			if err != nil || !again.Replayed || shown(again.Coefficients[1]) != shown(f.Coefficients[1]) {
				t.Errorf("again: %+v, %v", again, err)
			}
		}
	}
}

func shown(c Coefficient) string {
	return c.Name + " " + number(c.Estimate) + " " + number(c.StdError) + " [" + number(c.Low) + ", " + number(c.High) +
		"] " + number(c.Privacy)
}

func number(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.6g", *x)
}

// The noise of the lecture's form is the lecture's, or less: C₁ = 2 with the intercept's 1, C₂ = 1, ε/2 each, and
// under change-one at most double.
func TestLectureNoise(t *testing.T) {
	const policy = "version: 1\npopulation: {name: made-up, neighbours: NEIGHBOURS}\nbudget: {epsilon: 1}\ntables:\n  points:\n    source: {csv: points.csv}\n    unit: row\n    columns:\n" +
		"      y: {type: real, bounds: [-5, 10]}\n      x: {type: real, bounds: [0, 2]}\n"
	for _, c := range []struct {
		neighbours     string
		products, with float64 // L1 sensitivities
	}{
		// Of the upper triangle, (C₁² + ‖x‖₂²)/2 = 3 changes at most, and not C₁² = 4.
		{"add-remove", 3, 2},
		// Two rows differ by 1 in the intercept's square (in bounds that begin at 0), by 2 in x, by 1 in x²; by 2 in y,
		// and by 2 in xy.
		{"change-one", 4, 4},
	} {
		home := homeOf(t, strings.Replace(policy, "NEIGHBOURS", c.neighbours, 1), "points.csv", "y,x\n1,1\n", "points")
		told, err := ExplainLinear(t.Context(), home,
			Linear{Table: "points", Formula: "y ~ x", Method: Lecture, Request: curator.Request{Epsilon: "0.5"}})
		if err != nil {
			t.Fatal(err)
		}
		// Laplace noise of scale b has standard deviation √2·b.
		for i, sensitivity := range []float64{c.products, c.with} {
			if want := math.Sqrt2 * sensitivity / 0.25; math.Abs(told.Sums[i].StdDev-want) > 1e-5*want {
				t.Errorf("%s, %s: %g, want %g", c.neighbours, told.Sums[i].Name, told.Sums[i].StdDev, want)
			}
		}
		if told.Price.Epsilon != "0.5" || told.Sums[0].Price.Epsilon != "0.25" || told.Sums[1].Price.Epsilon != "0.25" {
			t.Errorf("%+v", told)
		}
	}
}

// Bounds that are found cost their share of the price, and no more is spent than it; coefficients stay what they are
// where little lies beyond.
func TestLinearFindsBounds(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		c := newHome(t, budget, 4000)
		q := Linear{
			Table: "points", Formula: "y ~ x + g", FindBounds: "0.25",
			Request: curator.Request{Epsilon: "20"}, Confidence: "0.9999999",
		}
		for _, replayed := range []bool{false, true} {
			f, err := FitLinear(t.Context(), c, q)
			if err != nil {
				t.Fatal(err)
			}
			if f.Replayed != replayed || len(f.Bounds) != 2 || f.Bounds[0].Column != "y" || f.Bounds[1].Column != "x" {
				t.Fatalf("%+v", f)
			}
			// The quantiles of y are about -0.3 and 8.6, and those of x 0.02 and 1.98; an error of 200 ranks has a
			// probability below 1e-12.
			if y, x := f.Bounds[0], f.Bounds[1]; y.Low < -5 || y.Low > 1 || y.High < 7 || y.High > 10 || x.Low > 0.2 ||
				x.High < 1.8 {
				t.Errorf("%s: %v", budget, f.Bounds)
			}
			for i, want := range []float64{2, 3, -1.5, 0} {
				if k := f.Coefficients[i]; k.Estimate == nil || math.Abs(*k.Estimate-want) > 0.4 {
					t.Errorf("%s: %s, want %g", budget, shown(k), want)
				}
			}
			b, err := c.Budget()
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Spent.Epsilon; budget == pureBudget && got != "20" || budget == zcdpBudget &&
				b.Spent.Rho != "200" {
				t.Errorf("%s: spent %+v", budget, b.Spent)
			}
		}
		for share, says := range map[string]string{
			"0": "between 0 and 1", "1": "between 0 and 1",
			"x": "between 0 and 1",
		} {
			q.FindBounds = share
			if _, err := FitLinear(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", share, err)
			}
		}
	}
}

// Designs that nothing can be said of are answered with a warning: empty, of NULLs alone, constant, collinear. No
// number is NaN, and what is refused is refused before anything is paid.
func TestLinearBadInput(t *testing.T) {
	for _, of := range []struct {
		budget  string
		rows    int
		methods []string
	}{
		{pureBudget, 0, []string{AdaSSP}},
		{pureBudget, 200, []string{AdaSSP, Lecture}},
		{zcdpBudget, 0, []string{Lecture}},
		{zcdpBudget, 3, []string{AdaSSP}},
	} {
		c := newHome(t, of.budget, of.rows)
		for _, q := range []Linear{
			{Formula: "y ~ x", Where: "x < 0"},
			{Formula: "y ~ none"},
			{Formula: "none ~ x + g"},
			{Formula: "y ~ same"},
			{Formula: "y ~ x + same + g + x:g"},
			{Formula: "y ~ 1"},
			{Formula: "y ~ 0 + same"},
			{Formula: "same ~ x"},
			{Formula: "y ~ 0 + x:g"},
		} {
			for _, method := range of.methods {
				q.Table, q.Method, q.Epsilon = "points", method, "1"
				f, err := FitLinear(t.Context(), c, q)
				if err != nil {
					t.Fatalf("%+v: %v", q, err)
				}
				for _, k := range f.Coefficients {
					for _, x := range []*float64{k.Estimate, k.StdError, k.Privacy, k.Low, k.High} {
						if x != nil && !finite(*x) {
							t.Errorf("%+v: %s", q, shown(k))
						}
					}
					if (k.Low == nil || k.High == nil) && len(f.Warnings) == 0 {
						t.Errorf("%+v: %s without a warning", q, shown(k))
					}
				}
			}
		}
	}
	c := newHome(t, pureBudget, 3)
	for q, says := range map[Linear]string{
		{Formula: "y ~ x", Table: "nowhere"}:                                         "no table",
		{Formula: "y ~ x + z", Table: "points"}:                                      "no column",
		{Formula: "y ~ x", Table: "points", Method: "ols"}:                           "no method",
		{Formula: "y ~ x", Table: "points", Method: TheilSen}:                        "number of rows",
		{Formula: "y ~ x", Table: "points", Rows: 5}:                                 "theil-sen",
		{Formula: "y ~ x", Table: "points", Where: "z > 1"}:                          "z",
		{Formula: "y ~ x", Table: "points", Where: "x > 1) GROUP BY (g"}:             "brackets of the condition",
		{Formula: "y ~ x", Table: "points", Confidence: "1"}:                         "confidence",
		{Formula: "y ~ x", Table: "points", Request: curator.Request{Rho: "1"}}:      "rho",
		{Formula: "y ~ x", Table: "points", Request: curator.Request{Epsilon: "41"}}: "maximum",
	} {
		var e *curator.Error
		if _, err := FitLinear(t.Context(), c, q); !errors.As(err, &e) || !strings.Contains(e.Error(), says) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	b, err := c.Budget()
	if err != nil || b.Spent.Epsilon != "0" {
		t.Errorf("spent %v, %v", b.Spent, err)
	}
}
