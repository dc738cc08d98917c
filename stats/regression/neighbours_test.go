package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/stats/cluster"
	"dither/stats/estimate"
	"dither/stats/internal/statstest"
)

// Intervals of every estimate, end to end through the kernel: under both relations and both budgets, of rows as units
// and of persons of up to three rows. The simulations elsewhere take the law of the noise as given; here it is the
// kernel's own, and so is all that tells it.

const neighboursPolicy = `
version: 1
population: {name: people, neighbours: NEIGHBOURS}
budget: BUDGET
price: {default: 1, minimum: 0.001, maximum: 20}
tables:
  people:
    source: {csv: people.csv}
    UNIT
    expected_rows: 1600
    columns:
      person: {type: integer}
      g: {type: integer, values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
      x: {type: real, bounds: [0, 10]}
      y: {type: real, bounds: [-20, 40]}
      ill: {type: boolean}
`

// neighboursRow is a row of the model y = 5 + 2x + 4z, P(ill) = 1/(1 + e^(2 − x/2)).
type neighboursRow struct {
	g    int
	x, y float64
	ill  bool
}

const neighboursGroups = 10

// neighboursHome is a home with a policy, and its rows.
func neighboursHome(t *testing.T, neighbours, budget string, persons bool) (*curator.Session, []neighboursRow) {
	t.Helper()
	unit := "unit: row"
	if persons {
		unit = "unit: person\n    rows_per_unit: 3"
	}
	r := rand.New(rand.NewPCG(51, 7))
	var rows []neighboursRow
	var text strings.Builder
	text.WriteString("person,g,x,y,ill\n")
	for i := range 1600 {
		x := math.Round(1e4*math.Min(math.Max(5+2*r.NormFloat64(), 0), 10)) / 1e4
		y := math.Round(1e4*math.Min(math.Max(5+2*x+4*r.NormFloat64(), -20), 40)) / 1e4
		row := neighboursRow{r.IntN(neighboursGroups), x, y, r.Float64() < 1/(1+math.Exp(2-x/2))}
		rows = append(rows, row)
		// of persons, half have one row, half two
		fmt.Fprintf(&text, "%d,%d,%g,%g,%t\n", i/3+i%2*1000, row.g, row.x, row.y, row.ill)
	}
	policy := strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET", budget, "UNIT", unit).Replace(neighboursPolicy)
	c, _ := testhome.Sealed(t, policy, "people", map[string]string{"people.csv": text.String()})
	return c, rows
}

// neighboursTruth are the exact numbers of the rows of a group, or of all where it is below 0.
func neighboursTruth(rows []neighboursRow, g int) map[string]float64 {
	var x, y []float64
	for _, r := range rows {
		if g < 0 || r.g == g {
			x, y = append(x, r.x), append(y, r.y)
		}
	}
	out := statstest.Exact(x, y)
	out["slope"] = out["cov(x, y)"] / out["variance(x)"]
	return out
}

func TestIntervalsUnderBothRelations(t *testing.T) {
	type world struct {
		neighbours, budget string
		persons            bool
		epsilon            string
	}
	pure, zcdp := "{epsilon: 1000}", "{rho: 10000, delta: 1e-6}"
	worlds := []world{{"change-one", pure, true, "4"}}
	times, long := 4, os.Getenv("DITHER_LONG") != ""
	if long {
		worlds = append(worlds, world{"change-one", zcdp, false, "2"}, world{"change-one", pure, false, "4"},
			world{"change-one", zcdp, true, "4"}, world{"add-remove", pure, true, "4"},
			world{"add-remove", zcdp, false, "1"})
		times = 16
	}
	for _, w := range worlds {
		t.Run(fmt.Sprintf("%s %s persons %t", w.neighbours, w.budget[1:4], w.persons), func(t *testing.T) {
			c, rows := neighboursHome(t, w.neighbours, w.budget, w.persons)
			truth := map[int]map[string]float64{-1: neighboursTruth(rows, -1)}
			for g := range neighboursGroups {
				truth[g] = neighboursTruth(rows, g)
			}
			q := curator.Request{Epsilon: w.epsilon, Fresh: true}
			var few statstest.Covers // of all that are asked too seldom to be held to their rate alone
			hold := func(what string, c statstest.Covers) {
				t.Helper()
				if long || c.Of >= neighboursGroups*times {
					c.Check(t, what)
					return
				}
				t.Logf("%s: %d of %d", what, c.Held, c.Of)
				few.Held, few.Of = few.Held+c.Held, few.Of+c.Of
			}
			estimates := func(name string, times int, ask func(estimate.Sample) (*estimate.Result, error),
				s estimate.Sample,
			) {
				t.Helper()
				s.Request, s.Table = q, "people"
				var held statstest.Covers
				for range times {
					e, err := ask(s)
					if err != nil {
						t.Fatal(name, err)
					}
					for _, v := range e.Values {
						g := -1
						if len(v.Keys) > 0 {
							k, ok := v.Keys[0].(int64)
							if !ok {
								t.Fatal(name, v.Keys)
							}
							g = int(k)
						}
						if v.Name == name {
							held.Add(v.Low, v.High, truth[g][name])
						}
					}
				}
				if held.Of < times {
					t.Errorf("%d intervals of %s", held.Of, name)
				}
				hold(name, held)
			}
			ctx := t.Context()
			by := []string{"g"}
			estimates("mean(x)", times,
				func(s estimate.Sample) (*estimate.Result, error) { return estimate.Mean(ctx, c, s) },
				estimate.Sample{Columns: []string{"x"}, By: by})
			estimates("variance(y)", times,
				func(s estimate.Sample) (*estimate.Result, error) { return estimate.Variance(ctx, c, s) },
				estimate.Sample{Columns: []string{"y"}, By: by})
			estimates("cov(x, y)", times,
				func(s estimate.Sample) (*estimate.Result, error) { return estimate.Covariance(ctx, c, s) },
				estimate.Sample{Columns: []string{"x", "y"}, By: by})
			estimates("quantile(x, 0.5)", times,
				func(s estimate.Sample) (*estimate.Result, error) { return estimate.Quantile(ctx, c, s, "0.5") },
				estimate.Sample{Columns: []string{"x"}, By: by})
			estimates("mean(x)", times,
				func(s estimate.Sample) (*estimate.Result, error) { return estimate.Mean(ctx, c, s) },
				estimate.Sample{
					Columns: []string{"x", "y"}, Method: estimate.MethodCoinPress,
					Deviations: []string{"2", "6"},
				})
			estimates("corr(x, y)", times,
				func(s estimate.Sample) (*estimate.Result, error) { return estimate.Covariance(ctx, c, s) },
				estimate.Sample{Columns: []string{"x", "y"}})

			// About the rows' own line, and about the population's line and odds.
			slope := func(what string, truth float64, times int, ask func(i int) (low, high *float64, err error)) {
				t.Helper()
				var held statstest.Covers
				for i := range times {
					low, high, err := ask(i)
					if err != nil {
						t.Fatal(what, err)
					}
					held.Of++
					if (low == nil || *low <= truth) && (high == nil || truth <= *high) {
						held.Held++
					}
				}
				hold(what, held)
			}
			linear := func(method, where string) func(int) (low, high *float64, err error) {
				return func(i int) (low, high *float64, err error) {
					l := Linear{
						Request: q, Table: "people", Formula: "y ~ x", Method: method,
						Where: strings.ReplaceAll(where, "$", fmt.Sprint(i%neighboursGroups)),
					}
					f, err := FitLinear(ctx, c, l)
					if err != nil {
						return nil, nil, err
					}
					return f.Coefficients[1].Low, f.Coefficients[1].High, nil
				}
			}
			slope("lecture", truth[-1]["slope"], 2*times, linear(Lecture, ""))
			slope("adassp", 2, neighboursGroups, linear(AdaSSP, "g = $"))
			slope("logistic", 0.5, neighboursGroups, func(i int) (low, high *float64, err error) {
				m := GLM{
					Request: q, Family: Logistic, Table: "people", Formula: "ill ~ x",
					Where: fmt.Sprintf("g = %d", i), Rows: 160,
				}
				f, err := FitGLM(ctx, c, m)
				if err != nil {
					return nil, nil, err
				}
				return f.Coefficients[1].Low, f.Coefficients[1].High, nil
			})
			sizes, means := neighboursClusters(t, c, rows, w.epsilon, times)
			hold("sizes of clusters", sizes)
			hold("means of clusters", means)
			if !long {
				few.Check(t, "all that are asked seldom")
			}
		})
	}
}

// neighboursClusters checks the sizes and means of Lloyd's last iteration, which are of the rows that were nearest to
// the centres before it.
func neighboursClusters(
	t *testing.T, c *curator.Session, rows []neighboursRow, epsilon string, times int,
) (sizes, means statstest.Covers) {
	t.Helper()
	for i := range times {
		got, err := cluster.KMeans(t.Context(), c, cluster.Request{
			Table: "people", Columns: []string{"x", "y"}, K: 2, Method: cluster.MethodLloyd, Iterations: 2, Average: 1,
			Seed: uint64(i + 1), Epsilon: epsilon, Fresh: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		last := got.Trace[len(got.Trace)-2]
		scaled := func(x, y float64) [2]float64 { return [2]float64{x/5 - 1, (y+20)/30 - 1} }
		distance := func(a, b [2]float64) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }
		n, sums := make([]float64, 2), make([]float64, 2)
		for _, r := range rows {
			at, p := 0, scaled(r.x, r.y)
			if distance(p, scaled(last[1][0], last[1][1])) < distance(p, scaled(last[0][0], last[0][1])) {
				at = 1
			}
			n[at]++
			sums[at] += r.x
		}
		for _, k := range got.Clusters { // the largest first: matched by the centre that it moved to
			at := 0
			if after := got.Trace[len(got.Trace)-1]; math.Abs(after[1][0]-k.Centre[0].Value) < math.Abs(
				after[0][0]-k.Centre[0].Value) {
				at = 1
			}
			within := func(c *statstest.Covers, x cluster.Number, truth float64) {
				c.Of++
				if x.Low <= truth && truth <= x.High {
					c.Held++
				}
			}
			within(&sizes, k.Size, n[at])
			if n[at] > 0 {
				within(&means, k.Centre[0], sums[at]/n[at])
			}
		}
	}
	return sizes, means
}
