package estimate

import (
	"cmp"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/stattest"
	"dither/stats/internal/statstest"
)

// errorTable is a table of real rows, of which some columns are estimated.
type errorTable struct {
	name, file string
	columns    []string
	declared   string
}

// The errors of estimates on real rows, as docs/reference/statistics.md reports them: of each the rows' own number, the
// root of the mean squared error of 40 estimates, half the interval's width on average, and how often it held. Where
// DITHER_ADULT names a file adult.csv, whose columns are coded from 0, of that one too. The intervals hold as often as
// they say, by mistake once in a million.
func TestEstimateErrors(t *testing.T) {
	asks := 2
	if os.Getenv("DITHER_LONG") != "" {
		asks = 40
	}
	tables := []errorTable{{
		"randhie", "../../examples/randhie/randhie.csv",
		[]string{"mdvis", "disea", "lpi"},
		"      mdvis: {type: integer, bounds: [0, 50]}\n      disea: {type: real, bounds: [0, 60]}\n      lpi: {type: real, bounds: [0, 8]}\n",
	}}
	if file := os.Getenv("DITHER_ADULT"); file != "" {
		tables = append(tables, errorTable{
			"adult", file,
			[]string{"age", "education-num", "hours-per-week"},
			"      age: {type: integer, bounds: [0, 84]}\n      education-num: {type: integer, bounds: [0, 15]}\n      hours-per-week: {type: integer, bounds: [0, 98]}\n",
		})
	}
	for _, table := range tables {
		rows := tableRows(t, table)
		c := statstest.People(t, "epsilon: 1000", table.declared, strings.Join(table.columns, ","),
			func(i int) string { return rows.lines[i] }, len(rows.lines))
		held, of := 0, 0
		for _, try := range []struct {
			name     string
			epsilon  string
			estimate func(s Sample) (*Result, error)
			truths   func() []float64
			method   string
		}{
			{"mean", "0.2", func(s Sample) (*Result, error) { return Mean(t.Context(), c, s) }, rows.means, ""},
			{"variance", "0.5", func(s Sample) (*Result, error) { return Variance(t.Context(), c, s) }, rows.variances, ""},
			{"covariance", "1", func(s Sample) (*Result, error) { return Covariance(t.Context(), c, s) }, rows.moments, ""},
			{"covariance", "1", func(s Sample) (*Result, error) { return Covariance(t.Context(), c, s) }, rows.moments, MethodCoinPress},
		} {
			type tally struct {
				squares, width float64
				held           int
			}
			var tallies []tally
			var names []string
			truths := try.truths()
			for range asks {
				s := Sample{
					Request: curator.Request{Epsilon: try.epsilon, Fresh: true}, Table: "people",
					Columns: quotedNames(table.columns), Method: try.method,
				}
				e, err := try.estimate(s)
				if err != nil {
					t.Fatal(err)
				}
				if tallies == nil {
					tallies = make([]tally, len(e.Values))
				}
				names = names[:0]
				for i, v := range e.Values {
					truth := truths[i]
					names = append(names, v.Name)
					tallies[i].squares += (v.Value.Real - truth) * (v.Value.Real - truth)
					tallies[i].width += (v.High.Real - v.Low.Real) / 2
					if v.Low.Real <= truth && truth <= v.High.Real {
						tallies[i].held++
					}
				}
			}
			for i, x := range tallies {
				t.Logf("| %s | %s | %s | %.4g | %.3g | %.3g | %d of %d |", table.name, names[i],
					cmp.Or(try.method, "bounded")+", ε = "+try.epsilon, truths[i],
					math.Sqrt(x.squares/float64(asks)), x.width/float64(asks), x.held, asks)
				// CoinPress moves rows to the edge of its region: its intervals are about those.
				if try.method == "" {
					held, of = held+x.held, of+asks
				}
			}
		}
		if err := (stattest.Proportion{
			Successes: held, Of: stattest.Binomial{Trials: of, Probability: 0.93},
			FalseAlarm: 1e-6,
		}).CheckAtLeast(); err != nil {
			t.Error(err)
		}
	}
}

func quotedNames(names []string) (out []string) {
	for _, n := range names {
		out = append(out, curator.SQLName(n))
	}
	return out
}

// exactRows are columns of a file, within their bounds.
type exactRows struct {
	lines  []string
	values [][]float64 // by column
}

func tableRows(t *testing.T, table errorTable) (out exactRows) {
	t.Helper()
	f, err := os.Open(filepath.Clean(table.file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out.values = make([][]float64, len(table.columns))
	most := map[string]float64{"mdvis": 50, "disea": 60, "lpi": 8, "age": 84, "education-num": 15, "hours-per-week": 98}
	for _, r := range records[1:] {
		var fields []string
		for i, name := range table.columns {
			text := r[slices.Index(records[0], name)]
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			out.values[i], fields = append(out.values[i], math.Min(math.Max(x, 0), most[name])), append(fields, text)
		}
		out.lines = append(out.lines, strings.Join(fields, ","))
	}
	return out
}

func (r *exactRows) covariance(i, j int) float64 {
	m, sum := r.means(), 0.0
	for k, x := range r.values[i] {
		sum += (x - m[i]) * (r.values[j][k] - m[j])
	}
	return sum / float64(len(r.lines)-1)
}

func (r *exactRows) means() (out []float64) {
	for _, column := range r.values {
		sum := 0.0
		for _, x := range column {
			sum += x
		}
		out = append(out, sum/float64(len(column)))
	}
	return out
}

func (r *exactRows) variances() (out []float64) {
	for i := range r.values {
		out = append(out, r.covariance(i, i))
	}
	return out
}

func (r *exactRows) moments() []float64 {
	out := r.means()
	for i := range r.values {
		for j := i; j < len(r.values); j++ {
			out = append(out, r.covariance(i, j))
		}
	}
	for i := range r.values {
		for j := i + 1; j < len(r.values); j++ {
			out = append(out, r.covariance(i, j)/math.Sqrt(r.covariance(i, i)*r.covariance(j, j)))
		}
	}
	return out
}
