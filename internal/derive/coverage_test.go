package derive_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/noise"
	"dither/privacy"
)

const survey = `
version: 1
population: {name: survey, neighbours: add-remove}
budget: {epsilon: 1000}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      i: {type: integer, bounds: [0, 115]}
      x: {type: real, bounds: [-3, 40]}
      g: {type: text, values: [a, b]}
  v:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 4
    columns:
      person: {type: integer}
      i: {type: integer, bounds: [0, 115]}
      x: {type: real, bounds: [-3, 40]}
      g: {type: text, values: [a, b]}
  w:
    source: {csv: w.csv}
    unit: person
    rows_per_unit: 4
    max_rows_per_group: 2
    columns:
      person: {type: integer}
      i: {type: integer, bounds: [0, 115]}
      x: {type: real, bounds: [-3, 40]}
      g: {type: text, values: [a, b]}
`

// people are n rows whose x is skewed and whose i is mostly small, the heavy tails being cut off by the bounds.
func people(n int) []enginetest.Row {
	rows := make([]enginetest.Row, n)
	for k := range rows {
		g := "a"
		if k%10 == 0 {
			g = "b"
		}
		rows[k] = enginetest.Row{
			"i": value.OfInt(int64(k * k % 131)), "x": value.OfReal(float64(k%17)*1.37 - 2.9), "g": value.OfText(g),
		}
	}
	return rows
}

// The 95 % interval of every form of answer covers the exact bounded quantity in at least 95 % of releases.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		item  string
		n     int
		price string
		truth func(s sums) float64
	}{
		{"COUNT(*) FILTER (WHERE i > 20 OR TRUE)", 100, "2", func(s sums) float64 { return s.n }},
		{"COUNT(x)", 100, "2", func(s sums) float64 { return s.n }},
		{"COUNT(*)", 100, "0.1", func(s sums) float64 { return s.n }},
		{"COUNT(*)", 100, "30", func(s sums) float64 { return s.n }},
		{"SUM(i)", 100, "1", func(s sums) float64 { return s.i }},
		{"SUM(x)", 100, "1", func(s sums) float64 { return s.x }},
		{"SUM(x)", 100, "300", func(s sums) float64 { return s.x }},
		{"AVG(i)", 1000, "1", func(s sums) float64 { return s.i / s.n }},
		{"AVG(i)", 20, "1", func(s sums) float64 { return s.i / s.n }},
		{"AVG(i)", 3, "0.5", func(s sums) float64 { return s.i / s.n }},
		{"AVG(x)", 1000, "0.3", func(s sums) float64 { return s.x / s.n }},
		{"AVG(x)", 10, "2", func(s sums) float64 { return s.x / s.n }},
		{"AVG(x)", 100, "50", func(s sums) float64 { return s.x / s.n }},
		{"SUM(i) / COUNT(*)", 200, "1", func(s sums) float64 { return s.i / s.n }},
		{"2 * SUM(i) - 3 * COUNT(*) + 1", 200, "1", func(s sums) float64 { return 2*s.i - 3*s.n + 1 }},
		{"ROUND(AVG(x) * COUNT(*), 1)", 200, "1", func(s sums) float64 { return s.x }},
		{"GREATEST(SUM(i), SUM(x))", 50, "1", func(s sums) float64 { return max(s.i, s.x) }},
		{"COUNT(*)", 100, "ρ 0.005", func(s sums) float64 { return s.n }},
		{"COUNT(*)", 100, "ρ 3", func(s sums) float64 { return s.n }},
		{"SUM(x)", 100, "ρ 0.5", func(s sums) float64 { return s.x }},
		{"AVG(i)", 1000, "ρ 0.5", func(s sums) float64 { return s.i / s.n }},
		{"AVG(i)", 5, "ρ 0.2", func(s sums) float64 { return s.i / s.n }},
		{"AVG(x)", 100, "ρ 5", func(s sums) float64 { return s.x / s.n }},
		{"AVG(x)", 10, "ρ 0.01", func(s sums) float64 { return s.x / s.n }},
		{"2 * SUM(i) - SUM(i) - 3 * COUNT(*) + 1", 200, "ρ 0.5", func(s sums) float64 { return s.i - 3*s.n + 1 }},
		// noises of one size, of which the widest alone is too narrow
		{"COUNT(*) + COUNT(x) - COUNT(i) + SUM(i) / 115", 100, "1", func(s sums) float64 { return s.n + s.i/115 }},
		{"COUNT(*) + COUNT(x) - COUNT(i) + SUM(i) / 115", 100, "ρ 0.5", func(s sums) float64 { return s.n + s.i/115 }},
		// sums from the measures of an average; the middle of i is no integer
		{"SUM(i), AVG(i)", 100, "1", func(s sums) float64 { return s.i }},
		{"SUM(i), AVG(i), COUNT(i)", 100, "ρ 0.5", func(s sums) float64 { return s.i }},
		{"SUM(i), AVG(i)", 100, "100", func(s sums) float64 { return s.i }},
		{"SUM(x), AVG(x)", 100, "0.5", func(s sums) float64 { return s.x }},
		{"SUM(x), AVG(x)", 100, "ρ 5", func(s sums) float64 { return s.x }},
		{"SUM(i) - 40 * COUNT(i) + SUM(x), AVG(i), AVG(x)", 100, "1", func(s sums) float64 { return s.i - 40*s.n + s.x }},
		{"SUM(x) / COUNT(x), AVG(x)", 200, "1", func(s sums) float64 { return s.x / s.n }},
		{"SUM(x) FILTER (WHERE x > 39), AVG(x) FILTER (WHERE x > 39)", 100, "1", func(sums) float64 { return 0 }},
		{"ABS(SUM(x) - SUM(i))", 50, "1", func(s sums) float64 { return max(s.x-s.i, s.i-s.x) }},
	} {
		t.Run(fmt.Sprintf("%s n=%d price=%s", c.item, c.n, c.price), func(t *testing.T) {
			t.Parallel()
			rows := people(c.n)
			p := planOf(t, "SELECT "+c.item+" FROM t", c.price)
			exact, noises := released(t, p, rows)
			covers(t, p, exact, noises, c.truth(sumsOf(rows)))
		})
	}
}

// covers draws releases of an ungrouped question, whose 95 % intervals are to hold the truth.
func covers(t *testing.T, p *plan.Plan, exact []*big.Int, noises []noise.Distribution, truth float64) {
	t.Helper()
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	simulates(p)
	slack := 1e-9 * max(1, truth, -truth) // of the truth, computed here in doubles
	covered := promised(0.95, 1)
	for covered[0].Open() {
		e := draw(answer, exact, noises)
		covered[0].Observe(e.Low-slack <= truth && truth <= e.High+slack)
	}
	kept(t, "interval", covered)
}

// draw is one release of an ungrouped question.
func draw(answer *derive.Answer, exact []*big.Int, noises []noise.Distribution) derive.Estimate {
	noisy := make([]*big.Int, len(exact))
	for i := range exact {
		noisy[i] = new(big.Int).Add(exact[i], noises[i].Draw())
	}
	return answer.Rows([][]*big.Int{noisy}, 0.05)[0][0].Estimate
}

// Where persons have many rows, a few of them hundreds, the interval covers the bounded quantity: what is left of their
// rows by the cap on rows (table v), or by the clamp of what each adds (table w).
func TestCoverageOfPersons(t *testing.T) {
	rows := people(1200)
	for k := range rows { // row k is of person ⌊√k⌋ / 2: the later, the more rows
		person := int64(math.Sqrt(float64(k))) / 2
		if k%3 == 0 {
			person = 0
		}
		rows[k]["person"] = value.OfInt(person)
	}
	rows = enginetest.Ranked(rows, "person")
	for _, table := range []string{"v", "w"} {
		for _, price := range []string{"1", "ρ 0.5"} {
			for _, item := range []string{
				"COUNT(*)", "SUM(i)", "SUM(x)", "AVG(i)", "AVG(x)", "SUM(i), AVG(i)", "SUM(x), AVG(x)", "COUNT(DISTINCT person)",
				"COUNT(DISTINCT i)",
			} {
				t.Run(fmt.Sprintf("%s of %s at %s", item, table, price), func(t *testing.T) {
					t.Parallel()
					p := planOf(t, "SELECT "+item+" FROM "+table, price)
					exact, noises := released(t, p, rows)
					covers(t, p, exact, noises, boundedTruth(p, exact))
				})
			}
		}
	}
}

// boundedTruth is what an ungrouped question's one aggregate would be without noise.
func boundedTruth(p *plan.Plan, exact []*big.Int) float64 {
	of := map[*plan.Measure]*big.Rat{}
	for i, m := range p.Measures {
		of[m] = m.Units(exact[i])
	}
	a := p.Aggregates[0]
	out := of[a.Measures()[0]]
	switch {
	case a.Centred():
		out = out.Add(out, new(big.Rat).Mul(a.Centre(), of[a.Count]))
	case a.Func == plan.Average:
		centre := new(big.Rat).Mul(big.NewRat(a.Sum.Centre, 1), a.Sum.Unit())
		out = out.Add(out.Quo(out, of[a.Count]), centre)
	}
	f, _ := out.Float64()
	return f
}

type sums struct{ n, i, x float64 }

// sumsOf are the bounded sums, computed from the definition of cleaning alone.
func sumsOf(rows []enginetest.Row) (s sums) {
	for _, r := range rows {
		s.n++
		s.i += min(max(float64(r["i"].Int), 0), 115)
		s.x += min(max(r["x"].Real, -3), 40)
	}
	return s
}

// planOf plans a question at a price: an ε, or a ρ as in "ρ 0.1" under a zCDP budget.
func planOf(t testing.TB, sql, price string) *plan.Plan {
	t.Helper()
	return planUnder(t, "add-remove", sql, price)
}

// planUnder is that under either relation.
func planUnder(t testing.TB, neighbours, sql, price string) *plan.Plan {
	t.Helper()
	return planIn(t, strings.Replace(survey, "neighbours: add-remove", "neighbours: "+neighbours, 1), sql, price)
}

// planIn is that under the text of a policy.
func planIn(t testing.TB, text, sql, price string) *plan.Plan {
	t.Helper()
	var loss privacy.Loss
	if rho, ok := strings.CutPrefix(price, "ρ "); ok {
		text = strings.Replace(text, "{epsilon: 1000}", "{rho: 20, delta: 1e-6}", 1)
		r, err := privacy.ParseRho(rho)
		if err != nil {
			t.Fatal(err)
		}
		loss = privacy.ZCDPLoss(r, privacy.Delta{})
	} else {
		e, err := privacy.ParseEpsilon(price)
		if err != nil {
			t.Fatal(err)
		}
		loss = privacy.PureLoss(e)
	}
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Build(p, plan.Request{SQL: sql, Price: loss})
	if err != nil {
		t.Fatal(err)
	}
	simulated.Lock()
	defer simulated.Unlock()
	simulated.asked[out] = sql
	return out
}

// released gives the exact sums of an ungrouped plan and the noise of each.
func released(t testing.TB, p *plan.Plan, rows []enginetest.Row) ([]*big.Int, []noise.Distribution) {
	t.Helper()
	exact := make([]*big.Int, len(p.Measures))
	for i := range exact {
		exact[i] = new(big.Int)
	}
	enginetest.Sum(&p.Statement, rows, addTo(exact))
	noises := make([]noise.Distribution, len(p.Measures))
	for i, m := range p.Measures {
		var err error
		if m.Noise == plan.Gaussian {
			noises[i], err = noise.NewDiscreteGaussian(m.Parameter)
		} else {
			noises[i], err = noise.NewDiscreteLaplace(m.Parameter)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return exact, noises
}

func addTo(exact []*big.Int) func([]value.Value, []*big.Int) {
	return func(_ []value.Value, s []*big.Int) {
		for i := range s {
			exact[i].Add(exact[i], s[i])
		}
	}
}
