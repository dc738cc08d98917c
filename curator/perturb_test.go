package curator

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

// A perturbed minimum at a high price is that of the rows, by an independent solver, up to the noise b divided by the
// curvature; the Hessian is that at the minimum; and it costs its price. (b has a norm above 10 with a probability
// below 1e-12, and the least curvature is above 100.)
func TestPerturb(t *testing.T) {
	home := fitHome(t, "{epsilon: 40}", "add-remove", 3000)
	c := openHome(t, home)
	q := Perturbation{
		Request: Request{SQL: "SELECT x1, x2, 1, y FROM people", Epsilon: "8"}, Radius: "5", Regularise: "2", Rows: 6000, Hessian: "0.5",
	}
	before, err := c.ExplainPerturb(t.Context(), q)
	if err != nil || before.Replayed || before.Coefficients.Values != nil || spent(t, c) != "0" {
		t.Fatalf("%+v, %v", before, err)
	}
	m, err := c.Perturb(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := c.ExplainPerturb(t.Context(), q); err != nil || !after.Replayed || after.Price != m.Price || after.StdDev != m.StdDev {
		t.Errorf("%+v, %v", after, err)
	}
	if m.StdDev < 0.5 || m.StdDev > 1.5 { // √(4·5/3)·1/ε₁, where ε₁ is between 2 and 4
		t.Errorf("noise of %g", m.StdDev)
	}
	theta := m.Theta()
	for i, want := range minimumOf(t, home, 2, func(r []float64) ([]float64, float64, bool) { return []float64{r[0], r[1], 1}, r[2], !math.IsNaN(r[1]) }, logit) {
		if math.Abs(theta[i]-want) > 0.1 {
			t.Errorf("%v, want %g", theta, want)
		}
	}
	if len(m.Hessian.Values) != 6 {
		t.Fatalf("%d entries", len(m.Hessian.Values))
	}
	unit, _ := m.Coefficients.Unit.Float64()
	if outer := m.Coefficients.Noise.StdDev() * unit; outer > 2e-4 { // a tenth of what b adds to the coefficient of most curvature
		t.Errorf("the solver's tolerance costs noise of %g", outer)
	}
	unit, _ = m.Hessian.Unit.Float64()
	if h, _ := m.Hessian.Values[5].Float64(); h*unit < 450 || h*unit > 650 {
		t.Errorf("Σℓ″ = %g", h*unit)
	}
	if got := spent(t, c); got != "8" {
		t.Errorf("spent %s", got)
	}
	q.SQL, q.Hessian, q.Epsilon = "SELECT x, 1, y FROM visits", "", "6"
	v, err := c.Perturb(t.Context(), q)
	if err != nil || v.Hessian != nil || v.StdDev < 3*math.Sqrt(4)/6 { // three rows of a person
		t.Errorf("persons: %+v, %v", v, err)
	}
}

// What cannot be perturbed is refused before anything is charged.
func TestPerturbRefused(t *testing.T) {
	good := Perturbation{
		Request: Request{SQL: "SELECT x1, 1, y FROM people", Epsilon: "0.2"}, Radius: "5", Regularise: "30", Rows: 6000,
	}
	for says, change := range map[string]func(*Perturbation){
		"between 0 and 1":        func(q *Perturbation) { q.SQL = "SELECT x1, 1, n FROM people" },
		"all predictors are 0":   func(q *Perturbation) { q.SQL = "SELECT 0, y FROM people" },
		"the radius at most":     func(q *Perturbation) { q.Radius = "1001" },
		"a larger regulariser":   func(q *Perturbation) { q.Regularise = "0.1" },
		"the regulariser must":   func(q *Perturbation) { q.Regularise = "" },
		"above 0 and below 1":    func(q *Perturbation) { q.Hessian = "1" },
		"above the policy's max": func(q *Perturbation) { q.Epsilon = "0.3" },
	} {
		c := openHome(t, fitHome(t, "{epsilon: 1}", "add-remove", 30))
		q := good
		change(&q)
		if _, err := c.Perturb(t.Context(), q); err == nil || !strings.Contains(err.Error(), says) || spent(t, c) != "0" {
			t.Errorf("%+v: %v, want %q", q, err, says)
		}
	}
	c := openHome(t, fitHome(t, "{epsilon: 40, delta: 1e-6}", "add-remove", 30))
	good.Epsilon = "3"
	if _, err := c.Perturb(t.Context(), good); err == nil || !strings.Contains(err.Error(), "in ε alone") {
		t.Errorf("under zCDP: %v", err)
	}
}

// Perturb on two homes that differ by one person, with the same randomness: the same is read, charged and recorded.
// What is released differs, as the noise inside the objective is for the densities of minima and not for their
// distance.
func TestReplayPerturb(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove": newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one": newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
	} {
		for i, q := range []Perturbation{
			{Request: Request{SQL: "SELECT age / 115.0, 1, change > 0 FROM people"}, Radius: "3", Regularise: "100", Rows: 9000},
			{Request: Request{SQL: "SELECT 1, cost / 10.0, cost > 3 FROM visits"}, Radius: "3", Regularise: "200", Rows: 9000, Hessian: "0.3"},
		} {
			r := w.replay(t, byte(30+i), func(c *Owner) ([]*big.Int, error) {
				m, err := c.Perturb(t.Context(), q)
				if err != nil {
					return nil, err
				}
				return m.Coefficients.Values, nil
			})
			sameFlow(t, relation+": "+q.SQL, r, "reserve", "release")
			if apart, err := r.Apart(); err != nil || apart.L1.Sign() == 0 {
				t.Errorf("%s: %s: the person moves nothing: %v", relation, q.SQL, err)
			}
		}
	}
}

// Requests that differ in any parameter are different questions, and the same one repeats free.
func TestPerturbKeys(t *testing.T) {
	c := openHome(t, fitHome(t, "{epsilon: 400}", "add-remove", 300))
	base := Perturbation{
		Request: Request{SQL: "SELECT x1, x2, 1, y FROM people", Epsilon: "2"}, Bound: "1.7", Radius: "5", Regularise: "20",
		Rows: 6000, Hessian: "0.5",
	}
	if _, err := c.Perturb(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		change func(*Perturbation)
		same   bool
	}{
		"nothing":         {func(*Perturbation) {}, true},
		"a longer text":   {func(q *Perturbation) { q.Radius, q.Hessian = "5.00", "0.50" }, true},
		"the order":       {func(q *Perturbation) { q.SQL = "SELECT x2, x1, 1, y FROM people" }, false},
		"a condition":     {func(q *Perturbation) { q.SQL += " WHERE x1 > 0" }, false},
		"a predictor":     {func(q *Perturbation) { q.SQL = "SELECT x1 / 2, x2, 1, y FROM people" }, false},
		"the price":       {func(q *Perturbation) { q.Epsilon = "2.000000000001" }, false},
		"the radius":      {func(q *Perturbation) { q.Radius = "5.000000000000000000001" }, false},
		"the regulariser": {func(q *Perturbation) { q.Regularise = "20.000000000000000000001" }, false},
		"the rows":        {func(q *Perturbation) { q.Rows++ }, false},
		"the share":       {func(q *Perturbation) { q.Hessian = "0.500001" }, false},
		"no Hessian":      {func(q *Perturbation) { q.Hessian = "" }, false},
		"the bound":       {func(q *Perturbation) { q.Bound = "1.700000000000000000001" }, false},
	} {
		q := base
		of.change(&q)
		if m, err := c.ExplainPerturb(t.Context(), q); err != nil || m.Replayed != of.same {
			t.Errorf("%s: replayed is not %t: %+v, %v", name, of.same, m, err)
		}
	}
}
