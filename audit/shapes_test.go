package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Outputs of any shape are audited; what is odd about them is noted.
func TestShapes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		what    string
		f       Func
		note    string
		epsilon float64 // at least
	}{
		{"nothing at all", func(Side) string { return "" }, `Every run on both datasets gave ""`, 0},
		{"white space", func(s Side) string { return pick(s, " ", "\t\n") }, `Every run on both datasets gave ""`, 0},
		{"constants", func(s Side) string { return s.String() }, `Every run on one dataset gave "data", and every run on the other gave "neighbor"`, 3},
		{"NaN", func(s Side) string { return pick(s, "NaN", "0.5") }, "there is no noise", 3},
		{"infinities", func(s Side) string { return pick(s, "+Inf", "-Inf") }, "there is no noise", 3},
		{"huge numbers", func(s Side) string { return pick(s, "1e308", "-1e308") }, "", 3},
		{"beyond floats", func(s Side) string { return pick(s, "1e400", "1e500") }, "", 3},
		{"tiny numbers", func(s Side) string { return pick(s, "5e-324", "1e-323") }, "", 3},
		{"zeros", func(s Side) string { return pick(s, "0", "-0") }, "", 3},
		{"lengths", func(s Side) string { return strings.Repeat("1 ", 1+r.IntN(3)+2*int(s)) }, "The number of fields in an output varies, from 1 to 5", 2.9},
		{"long texts", func(s Side) string { return strings.Repeat("x", 20_000) + pick(s, "a", "b") }, "", 2},
		{"long rows", func(s Side) string { return strings.Repeat("1,", 2100) + pick(s, "1", "2") }, "", 2},
		{"not UTF-8", func(s Side) string { return pick(s, "\xff", "\xfe") }, "", 3},
		{"brackets", func(s Side) string { return pick(s, "[]", "[[]]") }, "", 3},
		{"parity", func(s Side) string { return strconv.Itoa(2*geometric(r, 50) + int(s)) }, "", 3},
		{"a grid of sevens", func(s Side) string { return strconv.Itoa(7*geometric(r, 5000) + pick(s, 3, 4)) }, "", 3},
		{"differences", func(s Side) string {
			x := r.NormFloat64() * 1000
			return fmt.Sprintf("%.3f %.3f", x, x+float64(s)+r.NormFloat64()/9)
		}, "", 3},
		{"argmax", func(s Side) string {
			x := []float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
			x[2*int(s)] = slices.Max(x) + 0.1
			return fmt.Sprint(x)
		}, "", 3},
	} {
		report, err := Run(context.Background(), c.f, Options{Runs: 1000})
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		t.Logf("%s: %s; ε ≥ %.3g; %q", c.what, report.Findings[0].Event, report.Epsilon, report.Notes)
		if report.Epsilon < c.epsilon || c.epsilon == 0 && report.Epsilon > 0 ||
			!strings.Contains(strings.Join(report.Notes, " "), c.note) {
			t.Errorf("%s: ε ≥ %g, %q", c.what, report.Epsilon, report.Notes)
		}
	}
}
