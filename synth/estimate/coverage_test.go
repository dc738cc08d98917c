package estimate_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"dither/internal/splitmix"
	"dither/internal/stattest"
	"dither/synth/estimate"
	"dither/synth/model"
	"dither/synth/posterior"
)

// A population of all combinations of five columns: a and e of texts, b and d of booleans, and c of numbers. Every two columns
// depend on each other, so no model of few marginals has this population.
var (
	sizes   = []int{3, 2, 5, 2, 3}
	columns = []estimate.Column{
		{Name: "a", Type: "text", Values: []string{"x", "y", "z"}},
		{Name: "b", Type: "boolean", Values: []string{"false", "true"}},
		{Name: "c", Type: "integer", Values: []string{"0", "1", "2", "3", "4"}},
		{Name: "d", Type: "boolean", Values: []string{"false", "true"}},
		{Name: "e", Type: "text", Values: []string{"p", "q", "r"}},
	}
	measured = [][]int{{0, 1, 2}, {2, 3}, {3, 4}}
)

func population() (cells [][]int, shares []float64) {
	sum := 0.0
	for i := range 3 * 2 * 5 * 2 * 3 {
		codes, rest := make([]int, 5), i
		for k := 4; k >= 0; k-- {
			codes[k], rest = rest%sizes[k], rest/sizes[k]
		}
		a, b, c, d, e := float64(codes[0]), float64(codes[1]), float64(codes[2]), float64(codes[3]), float64(codes[4])
		w := math.Exp(-0.5*a + 0.4*a*b - 0.3*b + 0.25*c*b - 0.2*(c-1.5)*(c-1.5) + 0.3*(c-2)*d - 0.5*d + 0.5*d*e - 0.6*e + 0.2*a*e)
		cells, shares, sum = append(cells, codes), append(shares, w), sum+w
	}
	for i := range shares {
		shares[i] /= sum
	}
	return cells, shares
}

// statistics are in the span of the measured marginals.
var statistics = []struct {
	kind estimate.Kind
	text string
}{
	{estimate.Mean, "c"},
	{estimate.Mean, "d"},
	{estimate.Proportion, "a=z"},
	{estimate.Proportion, "e=r"},
	{estimate.Proportion, "c=4"},
	{estimate.Linear, "c ~ a + b"},
	{estimate.Linear, "c ~ d"},
	{estimate.Logistic, "b ~ a + c"},
	{estimate.Logistic, "d ~ c"},
	{estimate.Logistic, "d ~ e"},
}

func csvOf(rows [][]int) []byte {
	var b bytes.Buffer
	b.WriteString("a,b,c,d,e\n")
	for _, row := range rows {
		for k, v := range row {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(columns[k].Values[v])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// tablesOf returns tables in memory.
func tablesOf(rows, realRows int64, files [][]byte) *estimate.Tables {
	t := &estimate.Tables{Manifest: estimate.Manifest{
		Synthetic: true, Valid: true, Rows: rows, RealRows: realRows, Columns: columns, Files: make([]string, len(files)),
	}}
	for _, m := range measured {
		var names []string
		for _, a := range m {
			names = append(names, columns[a].Name)
		}
		t.Measured = append(t.Measured, names)
	}
	t.Open = func(i int) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files[i])), nil }
	return t
}

// gaussian draws from a normal distribution, approximately: the sum of 48 uniform numbers.
func gaussian(words *splitmix.Stream, deviation float64) float64 {
	sum := -24.0
	for range 48 {
		sum += float64(words.Word()>>11) / (1 << 53)
	}
	return sum / 2 * deviation
}

// truths returns the true coefficients of all statistics: of a table with each combination as often as its share says.
func truths(t *testing.T) (out [][]float64) {
	t.Helper()
	cells, shares := population()
	var all [][]int
	for i, c := range cells {
		for range int(math.Round(shares[i] * 400_000)) {
			all = append(all, c)
		}
	}
	text := csvOf(all)
	whole := tablesOf(int64(len(all)), int64(len(all)), [][]byte{text, text})
	for _, s := range statistics {
		out = append(out, values(t, whole, s.kind, s.text, nil))
	}
	return out
}

// values returns the coefficients of a statistic, and calls covered with their intervals.
func values(t *testing.T, tables *estimate.Tables, kind estimate.Kind, text string, covered func(i int, low, high float64)) (out []float64) {
	t.Helper()
	s, err := estimate.ParseStatistic(kind, text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tables.Estimate(t.Context(), s, 0.95)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for i, c := range r.Coefficients {
		out = append(out, c.Value)
		if covered != nil {
			if c.Interval == nil {
				t.Fatalf("%s has no interval: %s", text, r.Reason)
			}
			covered(i, c.Interval.Low, c.Interval.High)
		}
	}
	return out
}

// Each simulation draws people from the population, measures marginals with noise, and draws synthetic tables. Intervals of
// 95 % cover the truth in 94 to 96.5 % of all cases together, and in at least 93 % for each coefficient.
//
// The long form has 1,000 simulations. It fails for a coefficient only if a coverage of 93 % would give so few hits with a
// probability below 1e-4. The short form has 12 simulations, and fails if the intervals are far too short: it requires 85 %
// of all, and half for each coefficient. An exact method fails with a probability below 1e-3 for a new seed. The seeds are
// fixed.
func TestIntervalsOfDrawsCover(t *testing.T) {
	simulations, rows, low, high, each, alarm := 12, int64(4000), 0.85, 1.0, 0.5, 1e-3
	if os.Getenv("DITHER_LONG") != "" {
		simulations, rows, low, high, each, alarm = 1000, 10_000, 0.94, 0.965, 0.93, 1e-4
	}
	const people, draws, deviation = 2000, 20, 8.0
	cells, shares := population()
	truth := truths(t)
	hits, total, widths := map[string]int{}, 0, map[string]float64{}
	pooled := 0
	d, err := model.NewDomain(sizes...)
	if err != nil {
		t.Fatal(err)
	}
	for sim := range simulations {
		words := splitmix.At(splitmix.Mix(uint64(sim) + 77))
		var ms []model.Measurement
		for _, m := range measured {
			n := 1
			for _, a := range m {
				n *= sizes[a]
			}
			ms = append(ms, model.Measurement{Attributes: m, Values: make([]float64, n), Variance: deviation * deviation})
		}
		for range people {
			u, at := float64(words.Word()>>11)/(1<<53), 0
			for ; at < len(shares)-1 && u >= shares[at]; at++ {
				u -= shares[at]
			}
			for k, m := range measured {
				cell := 0
				for _, a := range m {
					cell = cell*sizes[a] + cells[at][a]
				}
				ms[k].Values[cell]++
			}
		}
		for _, m := range ms {
			for i := range m.Values {
				m.Values[i] += math.Round(gaussian(&words, deviation))
			}
		}
		fitted, err := model.Fit(d, ms, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, diagnosis, err := posterior.Sample(t.Context(), posterior.Problem{Model: fitted, Measured: ms}, draws, &words)
		if err != nil {
			t.Fatalf("%v, %+v", err, diagnosis)
		}
		var files [][]byte
		realRows := 0.0
		for _, draw := range all {
			var drawn [][]int
			if err := draw.Sample(rows, model.Independent, &words, func(columns [][]int32) error {
				for i := range columns[0] {
					row := make([]int, len(columns))
					for a := range columns {
						row[a] = int(columns[a][i])
					}
					drawn = append(drawn, row)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			files = append(files, csvOf(drawn))
			realRows += draw.Total() / draws
		}
		tables := tablesOf(rows, int64(math.Round(realRows)), files)
		for k, s := range statistics {
			values(t, tables, s.kind, s.text, func(i int, from, to float64) {
				name := fmt.Sprintf("%s %s [%d]", s.kind, s.text, i)
				total++
				widths[name] += (to - from) / float64(simulations)
				if from <= truth[k][i] && truth[k][i] <= to {
					hits[name]++
					pooled++
				} else {
					hits[name] += 0
				}
			})
		}
	}
	if share := float64(pooled) / float64(total); share < low || share > high {
		t.Errorf("the intervals cover %.4f of the true values instead of %v to %v", share, low, high)
	}
	var lines []string
	for name, n := range hits {
		share := float64(n) / float64(simulations)
		lines = append(lines, fmt.Sprintf("%-28s %.3f width %.4f", name, share, widths[name]))
		of := stattest.Binomial{Trials: simulations, Probability: each}
		if err := (stattest.Proportion{Successes: n, Of: of, FalseAlarm: alarm}).CheckAtLeast(); err != nil {
			t.Errorf("the intervals of %s: %v", name, err)
		}
	}
	t.Logf("pooled %.4f\n%s", float64(pooled)/float64(total), strings.Join(lines, "\n"))
}
