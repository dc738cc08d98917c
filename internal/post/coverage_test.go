package post

import (
	"context"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/internal/query"
	"dither/internal/stattest"
	"dither/internal/value"
	"dither/noise"
)

// forms are SELECTs over an answer with a count n, a sum s and a key m of each group. Each has intervals.
var forms = []string{
	"SELECT n",
	"SELECT 3 * n - 2 * s + m",
	"SELECT SUM(n) OVER ()",
	"SELECT SUM(n) OVER (ORDER BY m)",
	"SELECT AVG(n) OVER (ORDER BY m ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
	"SELECT n - LAG(n, 1, 0) OVER (ORDER BY m)",
	"SELECT SUM(n * m) OVER ()",
	"SELECT 100.0 * n / SUM(n) OVER ()",
	"SELECT 1 - n / SUM(n) OVER ()",
	"SELECT SUM(n) OVER (ORDER BY m) / SUM(n) OVER ()",
	"SELECT n / NULLIF(LAG(n) OVER (ORDER BY m), 0)",
	"SELECT s / NULLIF(n, 0)",
	"SELECT (s - n) / (s + n)",
	"SELECT 1000 / NULLIF(n, 0)",
	"SELECT ROUND(s / 7, 1)",
	"SELECT CAST(n / 3 AS integer)",
	"SELECT ABS(n - s)",
	"SELECT GREATEST(n, 0)",
	"SELECT SQRT(GREATEST(n, 1))",
	"SELECT CASE WHEN m > 2 THEN n ELSE s END",
	"SELECT SUM(n) OVER (PARTITION BY m % 2 ORDER BY m DESC)",
	"SELECT SUM(s) OVER (ORDER BY m ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
	"SELECT SUM(n) OVER (ORDER BY m) - SUM(n) OVER ()",
	"SELECT n - FIRST_VALUE(n) OVER (ORDER BY m)",
	"SELECT LEAD(s, 2) OVER (ORDER BY m) - 2 * LAG(n) OVER (ORDER BY m)",
	"SELECT 100 * (n - LAG(n) OVER (ORDER BY m)) / NULLIF(LAG(n) OVER (ORDER BY m), 0)",
	"SELECT n / SUM(n) OVER (PARTITION BY m % 2)",
	"SELECT SUM(n) OVER (ORDER BY m) / NULLIF(SUM(s) OVER (ORDER BY m), 0)",
	"SELECT n / (SELECT SUM(n) FROM (SELECT m, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY m) q)",
}

const measuredForm = " FROM (SELECT m, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY m) q"

// counts has the exact numbers of the groups. Few are small, so that quotients have both kinds of intervals.
var exactCounts = [][2]int64{{120, 300}, {40, 90}, {0, 5}, {75, 20}, {400, 1200}}

// bound returns a form bound to columns m, n and s.
func boundForm(t testing.TB, sql string) *Bound {
	t.Helper()
	tree, err := query.Parse(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	programs := Split(tree, func(*query.Select, string) bool { return false })
	out, err := programs[len(programs)-1].Bind([]Column{
		{Name: "m", Type: value.Integer},
		{Name: "n", Type: value.Integer, Noisy: true},
		{Name: "s", Type: value.Real, Noisy: true},
	}, 1000, "")
	if err != nil {
		t.Fatal(sql, err)
	}
	return out
}

// computed returns what a program computes with a confidence of 95 %.
func computed(t interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
}, b *Bound, answers ...[][]Cell,
) *Result {
	t.Helper()
	out, err := b.Run(t.Context(), 0.05, answers...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// drawn returns the rows of the measured question with noise from draw.
func drawn(n, s *Noise, draw func(*Noise) int64) (rows [][]Cell) {
	for i, c := range exactCounts {
		count, sum := c[0]+draw(n), float64(c[1])+float64(draw(s))*s.Unit
		rows = append(rows, []Cell{
			Exact(value.OfInt(int64(i + 1))), Released(value.OfInt(count), 2*i, n), Released(value.OfReal(sum), 2*i+1, s),
		})
	}
	return rows
}

// Intervals hold the value that the form has without noise. For each form, each kind of noise and each row, a
// sequential test takes as many draws as it needs. If every interval covers with probability 95 % or more, a test fails
// by chance with probability at most 1e-7, and one of these 435 tests with probability at most 5e-5. A coverage of 85 %
// or less is found with probability 99 %.
func TestCoverage(t *testing.T) {
	laplace, err := noise.NewDiscreteLaplace(big.NewRat(8, 1))
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(90, 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, laws := range map[string][2]noise.Distribution{
		"laplace": {laplace, laplace}, "gaussian": {gaussian, gaussian}, "mixed": {laplace, gaussian},
	} {
		n, s := &Noise{Law: laws[0], Unit: 1}, &Noise{Law: laws[1], Unit: 0.5}
		for _, form := range forms {
			bound := boundForm(t, form+measuredForm)
			truth := computed(t, bound, drawn(n, s, func(*Noise) int64 { return 0 }))
			from, to := 0, len(exactCounts)
			if os.Getenv("DITHER_LONG") == "" {
				law := "mixed"
				if strings.Contains(form, "/") { // quotients take longer; those with LAG have none in the first row
					law, from, to = "laplace", 1, 2
				}
				if name != law {
					continue
				}
			}
			truth.Rows = truth.Rows[from:to]
			tests := make([]*stattest.Sequential, len(truth.Rows))
			for i := range tests {
				tests[i] = &stattest.Sequential{Promised: 0.95, Wrong: 0.85, FalseAlarm: 1e-7, Miss: 1e-2}
			}
			for draws := 0; draws < 4000 && stattest.AnyOpen(tests); draws++ {
				got := computed(t, bound, drawn(n, s, func(n *Noise) int64 { return n.Law.Draw().Int64() }))
				if why := got.Columns[0].Why; why != "" {
					t.Fatalf("%s: %s", form, why)
				}
				for i, row := range got.Rows[from:to] {
					want, in := truth.Rows[i][0].Value, row[0].Interval
					x := number(want)
					tests[i].Observe(in == nil || want.Null || in.Low <= x && x <= in.High)
				}
			}
			for i, test := range tests {
				if err := test.Check(); err != nil {
					t.Errorf("%s noise, %s, row %d: %v", name, form, from+i, err)
				}
			}
		}
	}
}

// The interval of a sum of many numbers is that of the sum, and not the sum of the intervals.
func TestSumsAreSharp(t *testing.T) {
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(90, 1))
	if err != nil {
		t.Fatal(err)
	}
	n := &Noise{Law: gaussian, Unit: 1}
	got := computed(t, boundForm(t, "SELECT SUM(n) OVER ()"+measuredForm), drawn(n, n, func(*Noise) int64 { return 0 }))
	half := (got.Rows[0][0].Interval.High - got.Rows[0][0].Interval.Low) / 2
	if want := 1.96 * math.Sqrt(5*90); half > 1.05*want+5 || half < want-2 {
		t.Errorf("the half-width is %g, and 1.96 standard deviations are %g", half, want)
	}
	if sd := got.Rows[0][0].StdDev; math.Abs(sd-math.Sqrt(5*90)) > 1e-6 {
		t.Errorf("the standard deviation is %g", sd)
	}
}

// The interval of a share takes into account that the total has the part in it.
func TestSharesAreJoint(t *testing.T) {
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(90, 1))
	if err != nil {
		t.Fatal(err)
	}
	n := &Noise{Law: gaussian, Unit: 1}
	rows := drawn(n, n, func(*Noise) int64 { return 0 })
	got := computed(t, boundForm(t, "SELECT n / SUM(n) OVER ()"+measuredForm), rows)
	// To first order, the variance of part/total is σ²·((1 − θ)² + 4θ²)/total².
	theta := 400.0 / 635
	want := 1.96 * math.Sqrt(90*((1-theta)*(1-theta)+4*theta*theta)) / 635
	i := got.Rows[4][0].Interval
	if half := (i.High - i.Low) / 2; half < 0.97*want || half > 1.15*want {
		t.Errorf("the half-width is %g, and to first order it is %g", half, want)
	}
}
