package together

import (
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

const unknownPolicy = `
version: 1
population: {name: people}
budget: {epsilon: 1000}
price: {maximum: 300}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 99]}
      size: {type: integer, values: [1, 2, 9]}
      city: {type: text, values: [a, b]}
      born: {type: date, values: [2020-01-01, 2021-01-01]}
      ill: {type: boolean, nullable: true}
      fit: {type: boolean, values: [true]}
`

// A question asked together with others has the rows of the same question alone, whatever columns the others name: rows
// without a known value count if GROUP BY does not drop them.
func TestRowsWithoutAKnownValueCount(t *testing.T) {
	rows := "age,size,city,born,ill,fit\n" + strings.Join([]string{
		"30,1,a,2020-01-01,true,true", "30,7,z,2022-01-01,,false", "50,2,b,2021-01-01,false,true", "70,7,a,2022-01-01,,true",
		"71,9,z,2020-01-01,true,false", "72,9,z,2020-01-01,true,true",
	}, "\n") + "\n"
	c, _ := testhome.Sealed(t, unknownPolicy, "people", map[string]string{"people.csv": rows})
	questions := []string{
		"SELECT city, COUNT(*) FROM people GROUP BY city",
		"SELECT size, COUNT(*) FROM people WHERE age > 40 GROUP BY size",
		"SELECT born, COUNT(*) FROM people GROUP BY born",
		"SELECT ill, COUNT(*) FROM people GROUP BY ill",
		"SELECT fit, COUNT(*) FROM people WHERE city = 'a' GROUP BY fit",
		"SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people WHERE age > 40", "SELECT COUNT(city), COUNT(size) FROM people",
		"SELECT COUNT(*) FROM people WHERE city IS NULL", "SELECT COUNT(*) FROM people WHERE city IS DISTINCT FROM 'a'",
		"SELECT COUNT(*) FROM people WHERE city <> 'a'", "SELECT COUNT(*) FROM people WHERE size IS NULL OR size = 9",
		"SELECT COUNT(*) FROM people WHERE born IS NULL AND ill IS NULL", "SELECT COUNT(*) FROM people WHERE fit IS NOT TRUE",
		"SELECT age > 40, city, COUNT(*) FROM people WHERE city IS NOT NULL GROUP BY 1, city",
	}
	for _, batch := range [][]string{questions, questions[:9], questions[9:], questions[:4], questions[2:6], {questions[0], questions[1]}} {
		got, err := Ask(t.Context(), c, Batch{Questions: batch, Request: curator.Request{Epsilon: "50"}})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for i, q := range batch {
			alone, err := c.Answer(t.Context(), curator.Question{SQL: q, Epsilon: "15", Fresh: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range alone.Rows {
				for j, cell := range row {
					if alone.Columns[j].Kind == curator.Key {
						continue
					}
					n := got.Counts[at]
					at++
					if off := math.Abs(n.Value - cell.Estimate.Value.Real); n.Question != i || off > 0.45 && off > 12*n.StdDev {
						t.Errorf("%s %v: %v ± %v together, %v alone", q, n.Group, n.Value, n.StdDev, cell.Estimate.Value.Real)
					}
				}
			}
		}
		if at != len(got.Counts) {
			t.Errorf("%d answers, want %d", len(got.Counts), at)
		}
	}
}

// Ordinary questions that follow from questions asked together are answered from their release: those with conditions on
// the rows without a known value, and groups that drop these rows.
func TestOrdinaryQuestionsFollow(t *testing.T) {
	rows := "age,size,city,born,ill,fit\n" + strings.Repeat("30,1,a,2020-01-01,true,true\n50,7,z,2022-01-01,,false\n60,2,z,2021-01-01,true,true\n", 3)
	c, _ := testhome.Sealed(t, unknownPolicy, "people", map[string]string{"people.csv": rows})
	of := func(q curator.Question) *curator.Release {
		t.Helper()
		r, err := c.Answer(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if _, err := Ask(t.Context(), c, Batch{Request: curator.Request{Epsilon: "100"}, Questions: []string{
		"SELECT city, size, ill, COUNT(*) FROM people GROUP BY city, size, ill", "SELECT COUNT(*) FROM people",
	}}); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string][]float64{
		"SELECT COUNT(*) FROM people WHERE city = 'a'":                  {3},
		"SELECT COUNT(*) FROM people WHERE city IS NULL":                {6},
		"SELECT COUNT(*) FROM people WHERE city IS DISTINCT FROM 'a'":   {6},
		"SELECT COUNT(*) FROM people WHERE city IS NULL AND size = 2":   {3},
		"SELECT COUNT(*) FROM people WHERE ill IS NULL":                 {3},
		"SELECT city, COUNT(*) FROM people GROUP BY city":               {3, 0},
		"SELECT size, COUNT(*) FROM people GROUP BY size":               {3, 3, 0},
		"SELECT size, COUNT(*) FROM people WHERE city = 'a' GROUP BY 1": {3, 0, 0},
		"SELECT COUNT(*) FROM people":                                   {9},
	} {
		r := of(curator.Question{SQL: sql})
		if !r.Replayed || len(r.From) != 1 || len(r.Rows) != len(want) {
			t.Errorf("%s: %d rows, from %v", sql, len(r.Rows), r.From)
			continue
		}
		for i, row := range r.Rows {
			if n := row[len(row)-1].Estimate; math.Abs(n.Value.Real-want[i]) > 0.3+12**n.StdDev || *n.StdDev > 1 {
				t.Errorf("%s: row %d is %v ± %v, want %v", sql, i, n.Value.Real, *n.StdDev, want[i])
			}
		}
	}
	// a grouping without the key would count the rows that its groups drop
	if x, err := c.Explain(t.Context(), curator.Question{SQL: "SELECT city, COUNT(*) FROM people GROUP BY ROLLUP (city)"}); err != nil || x.Reuse != nil {
		t.Errorf("%+v, %v", x.Reuse, err)
	}
}

// A key keeps its name and its known values, with one more value for the other rows.
func TestGridsShowKnownValues(t *testing.T) {
	c, _ := testhome.Sealed(t, unknownPolicy, "people", map[string]string{"people.csv": "age,size,city,born,ill,fit\n1,1,a,2020-01-01,true,true\n"})
	g, err := c.Grid(t.Context(), []string{
		"SELECT size, city, born, ill, fit, COUNT(*) FROM people GROUP BY size, city, born, ill, fit", "SELECT COUNT(*) FROM people",
	}, curator.Request{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{4, 3, 3, 3, 2} {
		none := 0
		for _, v := range g.Values[i] {
			if v == nil {
				none++
			}
		}
		if len(g.Values[i]) != want || none != 1 || strings.Contains(g.Keys[i], "COALESCE") {
			t.Errorf("%s: %v", g.Keys[i], g.Values[i])
		}
	}
}

// A recorded choice whose numbers do not compute the counts is not used.
func TestRecordedChoicesComputeTheCounts(t *testing.T) {
	in := [][]bool{{true, true, false, false}, {false, true, true, false}}
	for _, pure := range []bool{true, false} {
		all := choose(in, pure)
		if restored(encoded(all), in) == nil {
			t.Errorf("pure %t: the recorded choice is refused", pure)
		}
		if restored(encoded(all), [][]bool{in[1], in[0]}) != nil {
			t.Errorf("pure %t: the choice is used for other counts", pure)
		}
		all[0].recovers.Set(0, 0, all[0].recovers.At(0, 0)+1e-3)
		if restored(encoded(all), in) != nil {
			t.Errorf("pure %t: a changed choice is used", pure)
		}
	}
}
