package synth

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/testhome"
)

// homeOf returns an owner of a home with one table t, whose rows are units.
func homeOf(t testing.TB, columns, text string) *curator.Owner {
	t.Helper()
	policy := "version: 1\npopulation: {name: p}\nbudget: {rho: 100, delta: 1e-9}\nprice: {default: 1, maximum: 14, minimum: 0.001}\n" +
		"tables:\n  t:\n    source: {csv: t.csv}\n    unit: row\n    columns:\n" + columns
	c, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"t.csv": text}), "t")
	return c
}

// The RAND table keeps its free care (lncoins = 0), its three other rates of coinsurance, which lie within bins, and
// the shape of the numbers of visits. At ρ = 0.5, the noise of each share is below .001, so 0.01 is exceeded with
// probability below 1e-9.
func TestShapesOfRealData(t *testing.T) {
	text, err := os.ReadFile("../examples/randhie/randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	c := homeOf(t, "      mdvis: {type: integer, bounds: [0, 200]}\n      lncoins: {type: real, bounds: [0, 4.62]}\n"+
		"      idp: {type: integer, values: [0, 1]}\n      physlm: {type: real, bounds: [0, 1]}\n", string(text))
	result, err := Synthesize(t.Context(), c.Session(), Request{
		Table: "t", Method: MST, Rho: "0.5", Bins: 12, Edges: map[string][]string{"mdvis": {"4", "8", "16", "32"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	real := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	share := func(rows [][]string, of func([]float64) bool) float64 {
		n := 0
		for _, row := range rows {
			var x []float64
			for _, field := range row {
				v, _ := strconv.ParseFloat(field, 64)
				x = append(x, v)
			}
			if of(x) {
				n++
			}
		}
		return float64(n) / float64(len(rows))
	}
	var rows [][]string
	for _, line := range real {
		f := strings.Split(line, ",")
		rows = append(rows, []string{f[0], f[1], f[2], f[5]})
	}
	made := drawn(t, result)
	for name, of := range map[string]func([]float64) bool{
		"free care":            func(x []float64) bool { return x[1] == 0 },
		"free care and visits": func(x []float64) bool { return x[1] == 0 && x[0] > 3 },
		"25 %":                 func(x []float64) bool { return x[1] > 3.2 && x[1] < 3.3 },
		"50 %":                 func(x []float64) bool { return x[1] > 3.9 && x[1] < 3.95 },
		"95 %":                 func(x []float64) bool { return x[1] > 4.6 },
		"no visit":             func(x []float64) bool { return x[0] == 0 },
		"one visit":            func(x []float64) bool { return x[0] == 1 },
		"nine visits":          func(x []float64) bool { return x[0] == 9 },
		"no limitation":        func(x []float64) bool { return x[3] == 0 },
		"a limitation":         func(x []float64) bool { return x[3] == 1 },
	} {
		if a, b := share(rows, of), share(made, of); math.Abs(a-b) > 0.01 {
			t.Errorf("%s: %.4f of the real rows, and %.4f of the synthetic ones", name, a, b)
		}
	}
}

// Heaps at round numbers survive in a wide range of whole numbers, and weekdays in dates. So do declared edges, in bins
// that hold nothing else.
func TestHeaps(t *testing.T) {
	words := splitmix.At(8)
	var text strings.Builder
	text.WriteString("pay,day,score\n")
	for range 20_000 {
		pay := words.Below(300_000)
		if words.Below(10) < 7 {
			pay -= pay % 100
		}
		day := words.Below(300)
		if day%7 == 3 {
			day++ // nothing on Saturdays
		}
		score := float64(words.Below(1000)) / 1000
		fmt.Fprintf(&text, "%d,%s,%v\n", pay, integerDay(day), score*score)
	}
	c := homeOf(t, "      pay: {type: integer, bounds: [0, 1000000]}\n      day: {type: date, bounds: [2025-01-01, 2025-12-31]}\n"+
		"      score: {type: real, bounds: [0, 1]}\n", text.String())
	result, err := Synthesize(t.Context(), c.Session(), Request{
		Table: "t", Method: Independent, Rho: "2", Bins: 5, Edges: map[string][]string{"score": {"0.25", "0.36"}, "day": {"2025-03-01"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := result.Plan.Columns[2].Cells; n != 5 { // 0, three bins, and 1
		t.Errorf("%d cells of the score", n)
	}
	hundreds, saturdays, above, far := 0, 0, 0, 0
	rows := drawn(t, result)
	for _, row := range rows {
		pay, _ := strconv.Atoi(row[0])
		if pay%100 == 0 {
			hundreds++
		}
		if math.Mod(dayNumber(row[1])-dayNumber("2025-01-01"), 7) == 3 {
			saturdays++
		}
		if x, _ := strconv.ParseFloat(row[2], 64); x >= 0.5 {
			above++
		}
		if pay > 320_000 || row[1] > "2025-10-29" {
			far++
		}
	}
	n := float64(len(rows))
	if h, s, a := float64(hundreds)/n, float64(saturdays)/n, float64(above)/n; math.Abs(h-.703) > 0.03 || s > 0.03 || math.Abs(a-(1-math.Sqrt(.5))) > 0.03 || float64(far) > n/100 {
		t.Errorf("%v are multiples of 100, %v are on Saturdays, %v are at least 0.5, and %d rows of %v are far", h, s, a, far, n)
	}
}

func integerDay(n int) string {
	c := Column{Type: "date"}
	return c.written(int64(dayNumber("2025-01-01") + float64(n)))
}

func dayNumber(text string) float64 {
	x, _ := (&Column{Type: "date"}).number(text)
	return x
}

// Smoothing keeps a spike and a step, and removes noise: the error of each cell is far below the noise. The words are
// fixed; for random ones, it fails with probability below 0.01.
func TestDenoised(t *testing.T) {
	words := splitmix.At(9)
	want, counts := make([]float64, 700), make([]float64, 700)
	for i := range want {
		if want[i] = 50; i >= 300 {
			want[i] = 10
		}
		if i == 123 || i == 650 {
			want[i] = 400
		}
		for range 12 {
			counts[i] += float64(words.Below(1000))/1000 - .4995
		}
		counts[i] = want[i] + 10*counts[i]
	}
	squares := 0.0
	for i, v := range denoised(counts, 10) {
		squares += (v - want[i]) * (v - want[i]) / 700
		if v < 0 {
			t.Errorf("cell %d has the weight %v", i, v)
		}
	}
	if squares > 15 {
		t.Errorf("the mean squared error is %v, and was 100 before", squares)
	}
	if got := denoised([]float64{-3}, 1); got[0] != 0 {
		t.Error(got)
	}
}

// Edges that are not ascending, or outside the bounds, or of a column without numbers, are refused. Many bins are
// possible.
func TestBadEdges(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 1, 10)
	for name, at := range map[string][]string{"age": {"30", "20"}, "size": {"0.1"}, "job": {"1"}, "nobody": {"1"}, "married": {"1"}} {
		if _, err := Explain(t.Context(), c.Session(), Request{Table: "people", Rho: "1", Edges: map[string][]string{name: at}}); err == nil {
			t.Errorf("%s has the edges %v", name, at)
		}
	}
	for _, at := range []string{"100", "x", "1.5", "-1", "1e400"} {
		if _, err := Explain(t.Context(), c.Session(), Request{Table: "people", Rho: "1", Edges: map[string][]string{"age": {at}}}); err == nil {
			t.Errorf("age has the edge %s", at)
		}
	}
	p, err := Explain(t.Context(), c.Session(), Request{Table: "people", Rho: "1", Method: Independent, Bins: 1000})
	if err != nil || p.Columns[3].Cells != 1002 {
		t.Errorf("%v (%v)", p, err)
	}
}

// The bins of reals and of declared edges cover the bounds without gaps, in order.
func TestBinsCover(t *testing.T) {
	for _, of := range []struct {
		c     curator.TableColumn
		edges []string
		want  int
	}{
		{curator.TableColumn{Name: "x", Type: "real", Lower: "-1", Upper: "2"}, nil, 10 + 3},
		{curator.TableColumn{Name: "x", Type: "real", Lower: "1", Upper: "2"}, nil, 10 + 2},
		{curator.TableColumn{Name: "x", Type: "real", Lower: "0", Upper: "2"}, []string{"0", "0.5"}, 4},
		{curator.TableColumn{Name: "x", Type: "integer", Lower: "-5", Upper: "200"}, []string{"0", "1", "200"}, 4},
		{curator.TableColumn{Name: "x", Type: "timestamp", Lower: "2020-01-01 00:00:00", Upper: "2020-02-01 00:00:00"}, []string{"2020-01-05"}, 2},
	} {
		c, reason := columnOf(&of.c, 10, "x")
		if c == nil {
			t.Fatal(reason)
		}
		if of.edges != nil {
			if err := c.declared(of.edges); err != nil {
				t.Fatal(err)
			}
		}
		if len(c.bins) != of.want {
			t.Errorf("%+v: %d bins instead of %d", of.c, len(c.bins), of.want)
		}
		next := c.lower
		bins := slices.Clone(c.bins)
		if last := len(bins) - 1; !c.whole && bins[last].high.Sign() == 0 {
			bins = bins[:last] // 0
		}
		for _, b := range bins {
			if b.low.Cmp(next) != 0 || b.high.Cmp(b.low) < 0 {
				t.Errorf("%+v: a bin is from %v to %v instead of from %v", of.c, b.low, b.high, next)
			}
			if next = b.high; c.whole {
				next = new(big.Rat).Add(b.high, integer(1))
			}
		}
		if last := bins[len(bins)-1].high; last.Cmp(c.upper) != 0 {
			t.Errorf("%+v ends at %v", of.c, last)
		}
		zero := slices.ContainsFunc(c.bins, func(b bin) bool { return b.low.Sign() == 0 && b.high.Sign() == 0 })
		if !c.whole && zero != (c.lower.Sign() <= 0) {
			t.Errorf("%+v: zero has a bin of its own: %v", of.c, zero)
		}
	}
}
