package stats

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/curator"
)

// estimateHome is a home with one table of made-up rows.
func estimateHome(t testing.TB, budget, columns, header string, rows func(i int) string, n int) *curator.Curator {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(curator.Init(dir))
	policy := fmt.Sprintf(`
version: 1
population: {name: people, neighbours: add-remove}
budget: {%s}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    expected_rows: %d
    columns:
%s`, budget, n, columns)
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		b.WriteString(rows(i) + "\n")
	}
	must(os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600))
	must(os.WriteFile(filepath.Join(dir, "people.csv"), []byte(b.String()), 0o600))
	c, err := curator.Open(dir)
	must(err)
	t.Cleanup(func() { must(c.Close()) })
	_, err = c.Seal(context.Background(), "people", curator.SealOptions{StateHome: t.TempDir()})
	must(err)
	return c
}

const estimateColumns = `      x: {type: real, bounds: [0, 100]}
      y: {type: real, bounds: [-50, 50]}
      g: {type: text, values: [a, b]}
`

// peopleOf has x about 40 and y = x/4 and more.
func peopleOf(t testing.TB, budget string, n int) (*curator.Curator, []float64, []float64) {
	s := newSimulator()
	var xs, ys []float64
	return estimateHome(t, budget, estimateColumns, "x,y,g", func(i int) string {
		x := math.Round(1000*(40+10*s.normal())) / 1000
		y := math.Round(1000*(x/4+5*s.normal())) / 1000
		xs, ys = append(xs, x), append(ys, y)
		return fmt.Sprintf("%g,%g,%s", x, y, []string{"a", "b"}[i%2])
	}, n), xs, ys
}

func TestEstimatesFromTheCurator(t *testing.T) {
	for _, budget := range []string{"epsilon: 200", "rho: 100, delta: 1e-6"} {
		c, _, _ := peopleOf(t, budget, 4000)
		ctx := t.Context()
		s := Sample{Question: curator.Question{Epsilon: "2"}, Table: "people", Columns: []string{"x", "y"}}
		show := func(what string, e *Estimates, err error) {
			t.Helper()
			if err != nil {
				t.Error(what, err)
				return
			}
			t.Log(what, e.Method, e.Releases, e.Price, e.Notes)
			for _, v := range e.Values {
				t.Log("   ", v.Keys, v.Name, v.Value, v.Low, v.High)
			}
		}
		by := s
		by.By = []string{"g"}
		population := by
		population.Population = true
		for _, s := range []Sample{s, by, population} {
			e, err := Mean(ctx, c, s)
			show("mean", e, err)
			e, err = Variance(ctx, c, s)
			show("variance", e, err)
			e, err = Covariance(ctx, c, s)
			show("covariance", e, err)
		}
		press := s
		press.Method = MethodCoinPress
		e, err := Covariance(ctx, c, press)
		show("coinpress covariance", e, err)
		press.Deviations = []string{"10", "7"}
		e, err = Mean(ctx, c, press)
		show("coinpress mean", e, err)
		auto := s
		auto.Method = MethodAutomatic
		e, err = Mean(ctx, c, auto)
		show("automatic mean", e, err)
		one := s
		one.Columns = []string{"x"}
		e, err = Quantile(ctx, c, one, "0.25", "0.5", "0.75")
		show("quantiles", e, err)
		for _, m := range []string{MethodIndependent, MethodJoint, MethodSmooth} {
			one.Method = m
			e, err = Quantile(ctx, c, one, "0.5")
			show("quantiles", e, err)
		}
		one.Method, one.Population = "", true
		e, err = Quantile(ctx, c, one, "0.5", "0.9")
		show("population quantiles", e, err)
	}
}
