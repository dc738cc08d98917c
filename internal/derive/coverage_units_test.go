package derive_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/internal/derive"
	"dither/internal/plan"
)

// declaring returns the survey under change-one, with the number of units of its first table.
func declaring(n int) string {
	return strings.NewReplacer("neighbours: add-remove", "neighbours: change-one",
		"csv: t.csv}\n    unit: row", fmt.Sprintf("csv: t.csv}\n    unit: row\n    units: %d", n)).Replace(survey)
}

// The 95 % interval of an average or a variance over a declared number of rows covers the exact bounded quantity in at
// least 95 % of releases.
func TestCoverageOfDeclaredUnits(t *testing.T) {
	mean := func(s sums) float64 { return s.i / s.n }
	for _, c := range []struct {
		item  string
		n     int
		price string
		truth func(s sums) float64
	}{
		{"AVG(i)", 1000, "1", mean},
		{"AVG(i)", 20, "0.5", mean},
		{"AVG(i)", 2, "0.5", mean},
		{"AVG(x)", 100, "50", func(s sums) float64 { return s.x / s.n }},
		{"AVG(i)", 5, "ρ 0.2", mean},
		{"AVG(x)", 100, "ρ 5", func(s sums) float64 { return s.x / s.n }},
		{"AVG(i) * COUNT(*) + COUNT(*)", 100, "1", func(s sums) float64 { return s.i + s.n }},
		{"VAR_POP(i)", 1000, "1", nil},
		{"VAR_POP(i)", 1000, "ρ 0.5", nil},
		{"VAR_SAMP(i)", 30, "2", nil},
		{"VAR_SAMP(i)", 2, "1", nil},
		{"STDDEV_POP(i)", 1000, "1", nil},
		{"STDDEV(i)", 30, "ρ 2", nil},
		{"VAR_POP(i) + 0 * AVG(i)", 1000, "1", nil}, // from two sums
	} {
		t.Run(fmt.Sprintf("%s n=%d price=%s", c.item, c.n, c.price), func(t *testing.T) {
			t.Parallel()
			rows := people(c.n)
			s := sumsOf(rows)
			truth := 0.0
			if c.truth != nil {
				truth = c.truth(s)
			} else {
				for _, r := range rows {
					d := math.Min(float64(r["i"].Int), 115) - s.i/s.n
					truth += d * d / s.n
				}
				if c.item == "VAR_SAMP(i)" || c.item == "STDDEV(i)" {
					truth *= s.n / (s.n - 1)
				}
				if strings.HasPrefix(c.item, "STDDEV") {
					truth = math.Sqrt(truth)
				}
			}
			p := planIn(t, declaring(c.n), "SELECT "+c.item+" FROM t", c.price)
			exact, noises := released(t, p, rows)
			covers(t, p, exact, noises, truth)
		})
	}
}

// An average over a declared number of rows has the noise of its sum alone: for ages of 0 to 115 at ε = 1, the scale is
// 115/n, and the forecast says so.
func TestErrorOfDeclaredUnits(t *testing.T) {
	const n = 1000
	p := planIn(t, declaring(n), "SELECT AVG(i), AVG(i) * 2, COUNT(*) FROM t", "1")
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	deviation, half := 115.0/n*math.Sqrt2, 115.0/n*math.Log(20) // of Laplace noise, to a thousandth
	f := answer.Forecast(p.Outputs[0], 0.05, 0)
	if math.Abs(f.StdDev/deviation-1) > 1e-3 || math.Abs(f.HalfWidth/half-1) > 1e-3 || !math.IsNaN(f.StdDevTimesN) {
		t.Errorf("forecast %+v, not %v ± %v", f, deviation, half)
	}
	exact, _ := released(t, p, people(n))
	row := answer.Rows([][]*big.Int{exact}, 0.05)[0]
	if e := row[0].Estimate; math.Abs((e.High-e.Low)/2/half-1) > 1e-3 || math.Abs(e.StdDev/deviation-1) > 1e-3 {
		t.Errorf("an average of %+v", e)
	}
	if e := row[2].Estimate; e.Value != n || e.Low != n || e.High != n || e.Whole == nil || e.StdDev != 0 {
		t.Errorf("COUNT(*) is %+v", e)
	}
	if answer.Single(p.Outputs[0]) != nil || len(answer.Parts(p.Outputs[0])) != 1 {
		t.Error("an average is its sum, or has another part")
	}
	for _, far := range []int64{-1e9, 1e9} { // the noise exceeds every average
		exact[0].SetInt64(far)
		if e := answer.Rows([][]*big.Int{exact}, 0.05)[0][0].Estimate; e.Value < 0 || e.Value > 115 || e.Low < 0 || e.High > 115 {
			t.Errorf("beyond its bounds: %+v", e)
		}
	}
	if p.Measures[0].Noise != plan.Laplace {
		t.Error("the test is about Laplace noise")
	}
}

// Without noise, a variance over a declared number of rows is exact, whichever numbers it is computed from.
func TestVariancesWithoutNoise(t *testing.T) {
	for _, n := range []int{2, 3, 100, 1001} {
		rows := people(n)
		s := sumsOf(rows)
		squares := sums{}
		for _, r := range rows {
			i, x := min(max(float64(r["i"].Int), 0), 115)-s.i/s.n, min(max(r["x"].Real, -3), 40)-s.x/s.n
			squares.i, squares.x = squares.i+i*i, squares.x+x*x
		}
		for items, want := range map[string]float64{
			"VAR_POP(i)": squares.i / s.n, "VAR_SAMP(i)": squares.i / (s.n - 1), "STDDEV_POP(x)": math.Sqrt(squares.x / s.n),
			"STDDEV(x)": math.Sqrt(squares.x / (s.n - 1)), "VARIANCE(x * 2 + 1)": 4 * squares.x / (s.n - 1),
			"VAR_SAMP(x), AVG(x)": squares.x / (s.n - 1), "VAR_POP(i), AVG(x)": squares.i / s.n,
		} {
			p := planIn(t, declaring(n), "SELECT "+items+" FROM t", "1")
			answer, err := derive.New(p)
			if err != nil {
				t.Fatal(err)
			}
			exact, _ := released(t, p, rows)
			e := answer.Rows([][]*big.Int{exact}, 0.05)[0][0].Estimate
			if math.Abs(e.Value-want) > 1e-9*want || e.Low > want || e.High < want {
				t.Errorf("%s of %d rows is %+v, not %v", items, n, e, want)
			}
		}
	}
}

// The forecast of a variance alone is that of the noise on its one number, and no answer leaves the possible values.
func TestErrorOfVariances(t *testing.T) {
	const n = 1000
	p := planIn(t, declaring(n), "SELECT VAR_SAMP(i), VAR_POP(i) FROM t", "1")
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, scale := range []float64{115 * 115 / float64(n), 115 * 115 / float64(n) * (n - 1) / n} {
		f := answer.Forecast(p.Outputs[i], 0.05, 0)
		if math.Abs(f.StdDev/(scale*math.Sqrt2)-1) > 1e-3 || math.Abs(f.HalfWidth/(scale*math.Log(20))-1) > 1e-3 {
			t.Errorf("forecast %+v, for noise of scale %v", f, scale)
		}
	}
	exact, _ := released(t, p, people(n))
	for _, far := range []string{"-1000000000000000000000", "1000000000000000000000"} {
		exact[0].SetString(far, 10)
		for i, most := range []float64{115. * 115 / 4 * n / (n - 1), 115. * 115 / 4} {
			e := answer.Rows([][]*big.Int{exact}, 0.05)[0][i].Estimate
			if e.Value < 0 || e.Value > most*(1+1e-12) || e.Low < 0 || e.High > most*(1+1e-12) {
				t.Errorf("beyond its bounds: %+v", e)
			}
		}
	}
}
