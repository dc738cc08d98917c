package derive_test

import (
	"fmt"
	"math"
	"testing"

	"dither/internal/derive"
)

// pairs are the bounded (x, i) of people, as the moments' definitions take them.
type pairs struct{ x, i []float64 }

func pairsOf(n int) (p pairs) {
	for _, r := range people(n) {
		p.x = append(p.x, min(max(r["x"].Real, -3), 40))
		p.i = append(p.i, min(max(float64(r["i"].Int), 0), 115))
	}
	return p
}

func mean(xs []float64) (m float64) {
	for _, x := range xs {
		m += x / float64(len(xs))
	}
	return m
}

// covariance by its definition, divided by n − less.
func covariance(a, b []float64, less float64) float64 {
	ma, mb, sum := mean(a), mean(b), 0.0
	for k := range a {
		sum += (a[k] - ma) * (b[k] - mb)
	}
	return sum / (float64(len(a)) - less)
}

// Intervals of variances, covariances and of what regressions are made of cover them, computed here by their
// definitions: at 95 % each.
func TestCoverageOfMoments(t *testing.T) {
	both := func(p pairs) []float64 { // what depends on both: i + x
		out := make([]float64, len(p.x))
		for k := range out {
			out[k] = p.i[k] + p.x[k]
		}
		return out
	}
	slope := func(p pairs) float64 { return covariance(both(p), p.i, 0) / covariance(p.i, p.i, 0) }
	corr := func(p pairs) float64 {
		return covariance(both(p), p.i, 0) / math.Sqrt(covariance(p.i, p.i, 0)*covariance(both(p), both(p), 0))
	}
	for _, c := range []struct {
		item  string
		n     int
		price string
		truth func(p pairs) float64
	}{
		{"VAR_POP(i)", 1000, "1", func(p pairs) float64 { return covariance(p.i, p.i, 0) }},
		{"VAR_POP(i)", 20, "ρ 0.1", func(p pairs) float64 { return covariance(p.i, p.i, 0) }},
		{"VAR_POP(x)", 300, "100", func(p pairs) float64 { return covariance(p.x, p.x, 0) }},
		{"VARIANCE(x)", 10, "1000", func(p pairs) float64 { return covariance(p.x, p.x, 1) }},
		{"VAR_SAMP(i)", 100, "2", func(p pairs) float64 { return covariance(p.i, p.i, 1) }},
		{"STDDEV_POP(x)", 1000, "1", func(p pairs) float64 { return math.Sqrt(covariance(p.x, p.x, 0)) }},
		{"STDDEV_SAMP(i)", 200, "ρ 2", func(p pairs) float64 { return math.Sqrt(covariance(p.i, p.i, 1)) }},
		{"STDDEV(i)", 30, "10", func(p pairs) float64 { return math.Sqrt(covariance(p.i, p.i, 1)) }},
		{"COVAR_POP(i + x, i)", 1000, "1", func(p pairs) float64 { return covariance(both(p), p.i, 0) }},
		{"COVAR_SAMP(i + x, i)", 50, "20", func(p pairs) float64 { return covariance(both(p), p.i, 1) }},
		{"CORR(i + x, i)", 1000, "10", corr},
		{"REGR_SLOPE(i + x, i)", 1000, "20", slope},
		{"REGR_R2(i + x, i)", 1000, "20", func(p pairs) float64 { return corr(p) * corr(p) }},
		{"REGR_INTERCEPT(i + x, i)", 1000, "20", func(p pairs) float64 { return mean(both(p)) - slope(p)*mean(p.i) }},
		{"REGR_AVGX(i + x, i)", 200, "2", func(p pairs) float64 { return mean(p.i) }},
		{"REGR_AVGY(i + x, i)", 200, "ρ 1", func(p pairs) float64 { return mean(both(p)) }},
		{"CORR(i + x, i)", 2000, "ρ 5", corr},
		{"REGR_COUNT(i + x, i)", 10, "1", func(p pairs) float64 { return float64(len(p.i)) }},
	} {
		t.Run(fmt.Sprintf("%s n=%d price=%s", c.item, c.n, c.price), func(t *testing.T) {
			t.Parallel()
			p := planOf(t, "SELECT "+c.item+" FROM t", c.price)
			exact, noises := released(t, p, people(c.n))
			covers(t, p, exact, noises, c.truth(pairsOf(c.n)))
		})
	}
}

// Without noise to speak of, the released value is the definition's, and its interval is narrow.
func TestMomentsAreTheirDefinitions(t *testing.T) {
	p := pairsOf(1000)
	const i, x = 115.0, 43.0 // the lengths of the ranges
	for item, c := range map[string]struct{ want, scale float64 }{
		"VAR_POP(i)":       {covariance(p.i, p.i, 0), i * i},
		"VAR_SAMP(x)":      {covariance(p.x, p.x, 1), x * x},
		"STDDEV_SAMP(i)":   {math.Sqrt(covariance(p.i, p.i, 1)), i},
		"COVAR_POP(x, i)":  {covariance(p.x, p.i, 0), x * i},
		"COVAR_SAMP(i, x)": {covariance(p.x, p.i, 1), x * i},
		"CORR(x, i)":       {covariance(p.x, p.i, 0) / math.Sqrt(covariance(p.x, p.x, 0)*covariance(p.i, p.i, 0)), 1},
		"REGR_SLOPE(x, i)": {covariance(p.x, p.i, 0) / covariance(p.i, p.i, 0), x / i},
	} {
		plan := planOf(t, "SELECT "+item+" FROM t", "999")
		exact, noises := released(t, plan, people(1000))
		answer, err := derive.New(plan)
		if err != nil {
			t.Fatal(err)
		}
		// ε = 999 moves an average of a thousand by some thousandths of a percent of its range; chances of more are
		// below 1e-9.
		e := draw(answer, exact, noises)
		if math.Abs(e.Value-c.want) > 2e-4*c.scale || e.High-e.Low > 5e-3*c.scale {
			t.Errorf("%s is %v, [%v, %v]; its definition %v", item, e.Value, e.Low, e.High, c.want)
		}
	}
}
