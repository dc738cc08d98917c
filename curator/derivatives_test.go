package curator

import (
	"math"
	"strings"
	"testing"
)

// Derivatives at a high price are those of the rows, and cost their price; a question that was explained or released
// before is the same. (A Gaussian or a cube's noise of a standard deviation below 8 exceeds 80 with a probability below
// 1e-9.)
func TestDerivatives(t *testing.T) {
	for _, terms := range []struct{ budget, price, spent, leverage string }{
		{"{epsilon: 40}", "8", "8", ""}, {"{epsilon: 40, delta: 1e-6}", "3", "", ""}, {"{epsilon: 40, delta: 1e-6}", "3", "", "1.1"},
	} {
		home := fitHome(t, terms.budget, "add-remove", 3000)
		c := openHome(t, home)
		q := Derivation{
			Request: Request{SQL: "SELECT x1, x2, 1, y FROM people", Epsilon: terms.price}, At: []string{"1", "-0.5", "0"}, Hessian: "0.5",
			Leverage: terms.leverage,
		}
		before, err := c.ExplainDerivatives(t.Context(), q)
		if err != nil || before.Replayed || before.Gradient.Values != nil || before.Gradient.Noise.StdDev() == 0 {
			t.Fatalf("%+v, %v", before, err)
		}
		m, err := c.Derivatives(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := c.ExplainDerivatives(t.Context(), q); err != nil || !after.Replayed || after.Price != m.Price ||
			after.Gradient.Noise.StdDev() != m.Gradient.Noise.StdDev() {
			t.Errorf("%+v, %v", after, err)
		}
		want := make([]float64, 9)
		for _, r := range readRows(t, home) {
			if math.IsNaN(r[1]) {
				continue
			}
			x := []float64{r[0], r[1], 1}
			mu, w := 1/(1+math.Exp(-(r[0]-0.5*r[1]))), 1.0
			if terms.leverage != "" {
				w = 1.1 / max(1.1, math.Sqrt(1+r[0]*r[0]+r[1]*r[1]))
			}
			k := 3
			for i := range x {
				want[i] += w * (mu - r[2]) * x[i]
				for j := range i + 1 {
					want[k] += w * mu * (1 - mu) * x[i] * x[j]
					k++
				}
			}
		}
		for i, w := range want {
			v := m.Gradient
			if i >= 3 {
				v = *m.Hessian
				i -= 3
			}
			unit, _ := v.Unit.Float64()
			f, _ := v.Values[i].Float64()
			if v.Noise.StdDev()*unit > 8 || math.Abs(f*unit-w) > 80 {
				t.Errorf("%s %d: %g, want %g; noise %g", v.Name, i, f*unit, w, v.Noise.StdDev()*unit)
			}
		}
		if got := spent(t, c); terms.spent != "" && got != terms.spent {
			t.Errorf("spent %s", got)
		}
	}
}

// What has no derivatives is refused before anything is charged.
func TestDerivativesRefused(t *testing.T) {
	c := openHome(t, fitHome(t, "{epsilon: 1}", "add-remove", 30))
	for says, q := range map[string]Derivation{
		"must be a decimal":      {Request: Request{SQL: "SELECT x1, 1, y FROM people"}, At: []string{"0", "x"}},
		"there are 2 predictors": {Request: Request{SQL: "SELECT x1, 1, y FROM people"}, At: []string{"0"}},
		"between 0 and 1":        {Request: Request{SQL: "SELECT x1, 1, n FROM people"}, At: []string{"0", "0"}},
		"at most 10^6":           {Request: Request{SQL: "SELECT x1, 1, y FROM people"}, At: []string{"0", "1000001"}},
		"above 0 and below 1":    {Request: Request{SQL: "SELECT x1, 1, y FROM people"}, At: []string{"0", "0"}, Hessian: "1"},
		"the leverage must be":   {Request: Request{SQL: "SELECT x1, 1, y FROM people"}, At: []string{"0", "0"}, Leverage: "y"},
		"and their leverage":     {Request: Request{SQL: "SELECT x1, 1, y FROM people"}, At: []string{"0", "0"}, Leverage: "0"},
		"all predictors are 0":   {Request: Request{SQL: "SELECT 0, y FROM people"}, At: []string{"0"}},
	} {
		if _, err := c.Derivatives(t.Context(), q); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", q, err, says)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("spent %s", got)
	}
}
