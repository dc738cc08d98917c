package stats

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
)

// newHome makes a sealed home of one table, points, of n made-up rows: y = 2 + 3·x − 1.5·(g is b) + noise of 0.5, and what is odd beside it.
func newHome(t testing.TB, budget string, n int) *curator.Curator {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := curator.Init(home); err != nil {
		t.Fatal(err)
	}
	policy := "version: 1\npopulation: {name: made-up}\nbudget: " + budget + "\nprice: {default: 1, maximum: 40}\ntables:\n  points:\n    source: {csv: points.csv}\n    unit: row\n    columns:\n" +
		"      y: {type: real, bounds: [-5, 10]}\n      x: {type: real, bounds: [0, 2]}\n      g: {type: text, values: [a, b, c]}\n" +
		"      none: {type: real, bounds: [0, 1], nullable: true}\n      same: {type: real, bounds: [0, 8]}\n      flag: {type: boolean}\n"
	words := splitmix.At(splitmix.Mix(uint64(n)))
	var rows strings.Builder
	rows.WriteString("y,x,g,none,same,flag\n")
	for range n {
		x, g := float64(words.Below(2001))/1000, "abc"[words.Below(3):][:1]
		y := 2 + 3*x + 0.5*standardNoise(&words, false)
		if g == "b" {
			y -= 1.5
		}
		fmt.Fprintf(&rows, "%.6f,%g,%s,,4,%t\n", math.Max(-5, math.Min(10, y)), x, g, x > 1)
	}
	for name, text := range map[string]string{"policy.yaml": policy, "points.csv": rows.String()} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Seal(t.Context(), "points", curator.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	pureBudget = "{epsilon: 1000}"
	zcdpBudget = "{rho: 1000, delta: 1e-6}"
)

// A regression through the curator: its coefficients are near the true ones by their own intervals at a confidence of 1 − 1e-7 each, it is paid once, and
// told the same again. What is measured has the sensitivities of the lecture's form.
func TestFitLinear(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		c := newHome(t, budget, 4000)
		for _, method := range []string{AdaSSP, Lecture} {
			q := Linear{Table: "points", Formula: "y ~ x + g", Method: method, Question: curator.Question{Epsilon: "4", Confidence: "0.9999999"}}
			told, err := ExplainLinear(t.Context(), c, q)
			if err != nil {
				t.Fatal(err)
			}
			f, err := FitLinear(t.Context(), c, q)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []float64{2, 3, -1.5, 0} {
				k := f.Coefficients[i]
				if k.Low == nil || k.High == nil || *k.Low > want || want > *k.High || *k.High-*k.Low > 6 || k.StdError == nil || *k.Privacy <= 0 || *k.Privacy > 1 {
					t.Errorf("%s, %s: %s is %s, want %g", budget, method, k.Name, shown(k), want)
				}
			}
			if method == AdaSSP && (f.ResidualError == nil || *f.ResidualError < 0.4 || *f.ResidualError > 0.6 || f.RSquared == nil || *f.RSquared < 0.85) {
				t.Errorf("%s: residual %v, R² %v", budget, f.ResidualError, f.RSquared)
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
	number := func(x *float64) string {
		if x == nil {
			return "–"
		}
		return fmt.Sprintf("%.6g", *x)
	}
	return c.Name + " " + number(c.Estimate) + " " + number(c.StdError) + " [" + number(c.Low) + ", " + number(c.High) + "] " + number(c.Privacy)
}

// The noise of the lecture's form is the lecture's, or less: C₁ = 2 with the intercept's 1, C₂ = 1, ε/2 each.
func TestLectureNoise(t *testing.T) {
	c := newHome(t, pureBudget, 10)
	told, err := ExplainLinear(t.Context(), c, Linear{Table: "points", Formula: "y ~ x", Method: Lecture, Question: curator.Question{Epsilon: "0.5"}})
	if err != nil {
		t.Fatal(err)
	}
	// Laplace noise of scale b has standard deviation √2·b. Of the upper triangle, (C₁² + ‖x‖₂²)/2 = 3 at most changes, and not C₁² = 4.
	for i, scale := range []float64{3 / 0.25, 2 / 0.25} {
		if want := math.Sqrt2 * scale; math.Abs(told.Sums[i].StdDev-want) > 1e-5*want {
			t.Errorf("%s: %g, want %g", told.Sums[i].Name, told.Sums[i].StdDev, want)
		}
	}
	if told.Price.Epsilon != "0.5" || told.Sums[0].Price.Epsilon != "0.25" || told.Sums[1].Price.Epsilon != "0.25" {
		t.Errorf("%+v", told)
	}
}

// Designs that nothing can be said of are answered with a warning: empty, of NULLs alone, constant, collinear. No number is NaN, and what is
// refused is refused before anything is paid.
func TestLinearBadInput(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		for _, n := range []int{0, 3, 1000} {
			c := newHome(t, budget, n)
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
				for _, method := range []string{AdaSSP, Lecture} {
					q.Table, q.Method, q.Epsilon = "points", method, "0.5"
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
	}
	c := newHome(t, pureBudget, 3)
	for q, says := range map[Linear]string{
		{Formula: "y ~ x", Table: "nowhere"}:                                             "no table",
		{Formula: "y ~ x + z", Table: "points"}:                                          "no column",
		{Formula: "y ~ x", Table: "points", Method: "ols"}:                               "no method",
		{Formula: "y ~ x", Table: "points", Where: "z > 1"}:                              "z",
		{Formula: "y ~ x", Table: "points", Where: "x > 1) GROUP BY (g"}:                 "without groups",
		{Formula: "y ~ x", Table: "points", Question: curator.Question{Confidence: "1"}}: "confidence",
		{Formula: "y ~ x", Table: "points", Question: curator.Question{Rho: "1"}}:        "rho",
		{Formula: "y ~ x", Table: "points", Question: curator.Question{Epsilon: "41"}}:   "maximum",
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
