package regression

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/stattest"
	"dither/stats/formula"

	"gonum.org/v1/gonum/mat"
)

// choiceOf is a design of p − 1 predictors and an intercept.
func choiceOf(p int) *formula.Design {
	d := &formula.Design{Formula: formula.Formula{Response: "y", Intercept: true}, TermOf: []int{-1}}
	d.Columns = append(d.Columns, formula.Column{Name: formula.InterceptName})
	for i := 1; i < p; i++ {
		t := formula.Term{{Column: fmt.Sprintf("x%d", i)}}
		d.Terms, d.TermOf, d.Columns = append(d.Terms, t), append(d.TermOf, i-1),
			append(d.Columns, formula.Column{Name: t.String()})
	}
	return d
}

// drawn makes up rows of an intercept and correlated predictors, with the coefficients of these, and their sums, noisy
// or not.
func (w world) drawn(words *splitmix.Stream, gamma []float64, noisy bool) *normalEquations {
	q := &normalEquations{
		a: mat.NewSymDense(w.p, nil), b: make([]float64, w.p), noise: w.law(), squares: true,
		intercept: true,
	}
	z := make([]float64, w.p)
	for range w.n {
		common, v := standardNoise(words, false), w.sigma*standardNoise(words, false)
		for i := range z {
			z[i] = 1
			if i > 0 {
				z[i] = math.Max(-1, math.Min(1, 0.2+w.spread*(0.6*common+0.8*standardNoise(words, false))))
			}
			v += gamma[i] * z[i]
		}
		for i, x := range z {
			q.b[i] += x * v
			for j := range i + 1 {
				q.a.SetSym(i, j, q.a.At(i, j)+x*z[j])
			}
		}
		q.c += v * v
	}
	if noisy {
		w.disturb(words, q)
	}
	q.rows = q.a.At(0, 0)
	return q
}

// disturb adds the noise of the equations to their sums.
func (w world) disturb(words *splitmix.Stream, q *normalEquations) {
	noise := func(variance float64) float64 { return math.Sqrt(variance) * standardNoise(words, w.laplace) }
	for i := range q.b {
		q.b[i] += noise(q.noise.b)
		q.a.SetSym(i, i, q.a.At(i, i)+noise(q.noise.diagonal))
		for j := range i {
			q.a.SetSym(i, j, q.a.At(i, j)+noise(q.noise.offDiagonal))
		}
	}
	q.c += noise(q.noise.c)
}

// TestChosenCoverage: the intervals of a chosen model hold all together as often as they say, about the coefficients
// that this model has in the population; those without regard to the choice do not. Each world is a binomial count of
// its own, which fails where it has a probability below 1e-7 at a coverage of 0.945.
func TestChosenCoverage(t *testing.T) {
	runs := 100
	if os.Getenv("DITHER_LONG") != "" {
		runs = 2000
	}
	for _, of := range []struct {
		world
		k     int
		gamma []float64
	}{
		{world{500, 9, 0.3, 0.3, 0.5, false}, 1, make([]float64, 9)},
		{world{1000, 9, 0.3, 0.3, 2, false}, 2, []float64{0.1, 0, 0, 0, 0, 0, 0, 0.05, 0.1}},
		{world{1000, 7, 0.3, 0.3, 1, false}, -1, []float64{0.1, 0, 0, 0, 0, 0.1, -0.1}},
		{world{1000, 6, 0.3, 0.3, 10, true}, 2, []float64{0.1, 0, 0, 0, 0.05, 0.1}},
		{world{50, 5, 0.3, 0.3, 50, false}, 1, []float64{0.1, 0, 0, 0.1, 0.2}},
		{world{20_000, 6, 0.3, 0.3, 1, true}, 2, []float64{0.1, 0, 0, 0, 0.05, 0.1}},
	} {
		if of.n > 1000 && runs == 100 {
			continue
		}
		words, d := splitmix.At(splitmix.Mix(11)), choiceOf(of.p)
		large := of.world
		large.n = max(100_000, 100*of.n)
		population := large.drawn(&words, of.gamma, false)
		held, plainly := 0, 0
		for range runs {
			q := of.drawn(&words, of.gamma, true)
			set, _, err := q.choose(d, of.k)
			if err != nil {
				t.Fatal(err)
			}
			c := &chooser{q: q, d: d}
			columns := c.columns(set)
			part, truth := q.of(columns, -1), population.of(columns, -1)
			part.size = part.noise.norm(plain(len(columns)), 0)
			var want mat.VecDense
			if err := want.SolveVec(truth.a, mat.NewVecDense(len(columns), truth.b)); err != nil {
				t.Fatal(err)
			}
			s, ok := part.solve(true)
			if !ok {
				t.Fatal("singular")
			}
			_, alpha := choiceAmong(d, set, of.k, true, 0.05)
			v := newInverter(part, s, s.spread())
			all := func(alpha float64, first int) bool {
				for k := first; k < len(columns); k++ {
					weights := make([]float64, len(columns))
					weights[k] = 1
					if f := v.interval(weights, alpha); f.low > want.AtVec(k) || f.high < want.AtVec(k) {
						return false
					}
				}
				return true
			}
			if all(alpha, 0) {
				held++
			}
			if all(0.05/float64(len(columns)-1), 1) {
				plainly++
			}
		}
		if err := (stattest.Proportion{
			Successes: held, Of: stattest.Binomial{Trials: runs, Probability: 0.945},
			FalseAlarm: 1e-7,
		}).CheckAtLeast(); err != nil {
			t.Errorf("%+v: %v", of, err)
		}
		t.Logf("%+v, %d terms: all held %d of %d; of the chosen model, had it been given, %d", of.world, of.k, held,
			runs, plainly)
	}
}

// What intervals take for granted: the variance of what a chosen model leaves out is the same in all rows. Of y = a:b,
// where a is mostly 0, the model of a alone has errors where a is not 0 alone, and its intervals are too narrow; the
// choice of as many terms as are worth it leaves nothing out, and holds.
func TestChosenWithoutItsInteraction(t *testing.T) {
	term := func(names ...string) (out formula.Term) {
		for _, name := range names {
			out = append(out, formula.Factor{Column: name})
		}
		return out
	}
	d := &formula.Design{
		Formula: formula.Formula{Response: "y", Intercept: true}, TermOf: []int{-1, 0, 1, 2},
		Terms: []formula.Term{term("a"), term("b"), term("a", "b")}, Columns: make([]formula.Column, 4),
	}
	runs := 100
	for _, k := range []int{-1, 1} {
		words, held := splitmix.At(splitmix.Mix(5)), 0
		for range runs {
			w := world{n: 2000, p: 4, price: 5}
			q := &normalEquations{
				a: mat.NewSymDense(4, nil), b: make([]float64, 4), noise: w.law(), squares: true,
				intercept: true,
			}
			for range w.n {
				a := 0.0
				if words.Below(10) == 0 {
					a = float64(words.Below(2))*2 - 1
				}
				b := float64(words.Below(2))*2 - 1
				z, v := []float64{1, a, b, a * b}, 0.1*a+0.5*a*b+0.1*standardNoise(&words, false)
				for i, x := range z {
					q.b[i] += x * v
					for j := range i + 1 {
						q.a.SetSym(i, j, q.a.At(i, j)+x*z[j])
					}
				}
				q.c += v * v
			}
			for i := range q.b {
				q.b[i] += math.Sqrt(q.noise.b) * standardNoise(&words, false)
				q.a.SetSym(i, i, q.a.At(i, i)+math.Sqrt(q.noise.diagonal)*standardNoise(&words, false))
				for j := range i {
					q.a.SetSym(i, j, q.a.At(i, j)+math.Sqrt(q.noise.offDiagonal)*standardNoise(&words, false))
				}
			}
			q.c += math.Sqrt(q.noise.c) * standardNoise(&words, false)
			q.rows = q.a.At(0, 0)
			set, exhaustive, err := q.choose(d, k)
			if err != nil {
				t.Fatal(err)
			}
			columns := (&chooser{q: q, d: d}).columns(set)
			part := q.of(columns, -1)
			part.size = part.noise.norm(plain(len(columns)), 0)
			s, ok := part.solve(true)
			if !ok {
				t.Fatal("singular")
			}
			_, alpha := choiceAmong(d, set, k, exhaustive, 0.05)
			all, v := true, newInverter(part, s, s.spread())
			for i, column := range columns {
				// a, b and a:b are uncorrelated: a model's coefficients are those of the whole
				weights := make([]float64, len(columns))
				weights[i] = 1
				f, want := v.interval(weights, alpha), []float64{0, 0.1, 0, 0.5}[column]
				all = all && f.low <= want && want <= f.high
			}
			if all {
				held++
			}
		}
		t.Logf("%d terms: all held %d of %d", k, held, runs)
		if k < 0 {
			if err := (stattest.Proportion{
				Successes: held, Of: stattest.Binomial{Trials: runs, Probability: 0.945},
				FalseAlarm: 1e-7,
			}).CheckAtLeast(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The quantiles of Laplace noise far out: not below the true ones, which simulation tells, and at most a third above
// what an integral gives where it can.
func TestTailBound(t *testing.T) {
	n := equationNoise{diagonal: 2, offDiagonal: 2, b: 2, laplace: true}
	for _, sampling := range []float64{0, 1, 100} {
		d, gamma := []float64{1, 0.5}, []float64{0.3, -0.2}
		exactly := n.quantile(d, gamma, sampling, 1.0001e-6)
		bound := n.quantile(d, gamma, sampling, 0.9999e-6)
		if bound < exactly || bound > 1.34*exactly {
			t.Errorf("sampling %g: %g, and bound %g", sampling, exactly, bound)
		}
		if further := n.quantile(d, gamma, sampling, 1e-9); !(further > bound) || further > 60 {
			t.Errorf("%g beyond %g", further, bound)
		}
	}
}

// Terms that matter are found, by comparing all models and by steps: of 8 and of 20, three with coefficients that are
// thirty standard deviations of their errors, so that missing one has a probability below 1e-9.
func TestChooseFindsTerms(t *testing.T) {
	for _, p := range []int{9, 21} {
		w := world{4000, p, 0.3, 0.3, 500, false}
		gamma := make([]float64, p)
		gamma[0], gamma[2], gamma[4], gamma[7] = 0.1, 0.3, -0.3, 0.25
		words, d := splitmix.At(splitmix.Mix(3)), choiceOf(p)
		q := w.drawn(&words, gamma, true)
		q.size = q.noise.norm(plain(p), 0)
		for _, k := range []int{3, 5, -1} {
			set, exhaustive, err := q.choose(d, k)
			if err != nil || set&(1<<1|1<<3|1<<6) != 1<<1|1<<3|1<<6 || exhaustive != (p == 9 || k == 3) {
				t.Errorf("%d of %d: %b, %t, %v", k, p-1, set, exhaustive, err)
			}
		}
	}
}

// What no interval could allow for is refused before anything is paid.
func TestChooseTooMany(t *testing.T) {
	for p, ok := range map[int]bool{9: true, 25: true, 41: false, 80: false} {
		if _, err := choosable(choiceOf(p), "auto", 0.05); (err == nil) != ok {
			t.Errorf("%d terms: %v", p-1, err)
		}
	}
	if _, err := choosable(choiceOf(51), "4", 0.05); err != nil {
		t.Error(err)
	}
	if n := candidates(choiceOf(4), -1); n != 8+3*4 {
		t.Errorf("%g", n)
	}
	if n := candidates(choiceOf(4), 0); n != 1 {
		t.Errorf("%g", n)
	}
}

// A model of chosen or named terms costs no more than what was measured, and nothing again; its numbers are those of
// the released sums.
func TestLinearFromRelease(t *testing.T) {
	for _, budget := range []string{pureBudget, zcdpBudget} {
		for _, bounds := range []string{"", "0.2"} {
			c := newHome(t, budget, 4000)
			price, sure := curator.Request{Epsilon: "30"}, "0.9999999"
			whole, err := FitLinear(t.Context(), c,
				Linear{
					Table: "points", Formula: "y ~ x + g + flag + same", Where: "x >= 0 -- all\n",
					FindBounds: bounds, Request: price, Confidence: sure,
				})
			if err != nil {
				t.Fatal(err)
			}
			before, err := c.Budget()
			if err != nil {
				t.Fatal(err)
			}
			part, err := FitLinear(t.Context(), c,
				Linear{From: whole.ID, Formula: "y ~ x + g", Confidence: "0.9999999"})
			if err != nil {
				t.Fatal(err)
			}
			if !part.Replayed || part.ID != whole.ID || len(part.Coefficients) != 4 || part.Formula != "y ~ x + g" {
				t.Errorf("%+v", part)
			}
			for i, want := range []float64{2, 3, -1.5, 0} {
				if k := part.Coefficients[i]; k.Estimate == nil || math.Abs(*k.Estimate-want) > 0.6 {
					t.Errorf("%s: %s, want %g", budget, shown(k), want)
				}
			}
			chosen, err := FitLinear(t.Context(), c,
				Linear{From: whole.ID, Choose: "2", Confidence: "0.9"})
			if err != nil || chosen.Choice == nil || !slices.Equal(chosen.Choice.Chosen, []string{"x", "g"}) ||
				chosen.Choice.Models != 1*6+5*3 {
				t.Fatalf("%+v, %v", chosen, err)
			}
			if given := part.Coefficients[1]; *chosen.Coefficients[1].Estimate != *given.Estimate ||
				chosen.Choice.Confidence <= 0.99 {
				t.Errorf("%s, and %s", shown(chosen.Coefficients[1]), shown(given))
			}
			// x by a model of the other terms: about 1 + (y − 3 − …)/3, whose slope is that of the points.
			back, err := FitLinear(t.Context(), c, Linear{From: whole.ID, Formula: "x ~ flag"})
			if bounds == "" && (err != nil || back.Coefficients[1].Estimate == nil ||
				math.Abs(*back.Coefficients[1].Estimate-1) > 0.3 || back.About != AboutPopulation) {
				t.Errorf("%+v, %v", back, err)
			}
			again, err := FitLinear(t.Context(), c,
				Linear{
					Table: "points", Formula: "y ~ x + g + flag + same", Where: "x >= 0 -- all\n",
					FindBounds: bounds, Only: "y ~ x + g", Request: price, Confidence: sure,
				})
			if err != nil || !again.Replayed || shown(again.Coefficients[1]) != shown(part.Coefficients[1]) {
				t.Errorf("%+v, %v", again, err)
			}
			after, err := c.Budget()
			if err != nil || before.Spent != after.Spent {
				t.Errorf("spent %v, then %v", before.Spent, after.Spent)
			}
			told, err := ExplainLinear(t.Context(), c, Linear{From: whole.ID, Choose: "auto"})
			if err != nil || !told.Replayed {
				t.Errorf("%+v, %v", told, err)
			}
			for says, q := range map[string]Linear{
				"no release":           {From: "r999"},
				"no release \"x\"":     {From: "x"},
				"is not a predictor":   {From: whole.ID, Formula: "y ~ x:g"},
				"neither the response": {From: whole.ID, Formula: "flag ~ x"},
				"computation from a":   {From: whole.ID, Request: curator.Request{Epsilon: "1"}},
				"bounds and the":       {From: whole.ID, Where: "x > 1"},
				"must be 0 to":         {From: whole.ID, Choose: "6"},
				"table":                {From: whole.ID, Table: "other"},
			} {
				if _, err := FitLinear(t.Context(), c, q); err == nil || !strings.Contains(err.Error(), says) &&
					!strings.Contains(fmt.Sprint(err), says) {
					t.Errorf("%s: %v", says, err)
				}
			}
		}
	}
}
