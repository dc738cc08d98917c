package curator

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"dither/internal/engine/postgres/pgtest"
)

const linePolicy = `
version: 1
population: {name: test, neighbours: NEIGHBOURS}
budget: BUDGET
price: {default: 0.1, maximum: MAXIMUM}
tables:
  points:
    source: SOURCE
    unit: row
    expected_rows: 200
    columns:
      x: {type: real, bounds: [10, 30]}
      y: {type: real, bounds: [-100, 100], nullable: true}
      n: {type: integer, bounds: [0, 20]}
      same: {type: integer, bounds: [3, 3]}
  rows:
    source: {csv: rows.csv}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      x: {type: real, bounds: [0, 1]}
      y: {type: real, bounds: [0, 1]}
`

func lineHome(t *testing.T, neighbours, budget, maximum, rows string) *Owner {
	t.Helper()
	home := initHome(t, strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET", budget, "MAXIMUM", maximum, "SOURCE", "{csv: points.csv}").Replace(linePolicy))
	write(t, home, "points.csv", rows)
	write(t, home, "rows.csv", "person,x,y\n1,0.1,0.2\n1,0.5,0.6\n1,0.9,0.9\n1,1,0\n2,0.3,0.3\n")
	c := openHome(t, home)
	for _, table := range []string{"points", "rows"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// linePoints are 200 points about y = 3·x − 40, twenty of them far off, and one without a y.
func linePoints() string {
	r := rand.New(rand.NewPCG(91, 92))
	var b strings.Builder
	b.WriteString("x,y,n,same\n")
	for i := range 200 {
		x := 10 + 20*r.Float64()
		y := 3*x - 40 + r.NormFloat64()
		if i%10 == 0 {
			y = -100
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%d,3\n", x, y, i%20)
	}
	b.WriteString("10,,5,3\n")
	return b.String()
}

// A line at a high price is that of the rows, outliers or not, and its price is its draws' together; it is told beforehand, and again, free.
func TestFitLine(t *testing.T) {
	for _, terms := range []struct{ neighbours, budget, price, spent string }{
		{"add-remove", "{epsilon: 400}", "100", "100"}, {"change-one", "{epsilon: 400}", "100", "100"}, {"add-remove", "{rho: 10000, delta: 1e-6}", "50", ""},
	} {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		c := lineHome(t, terms.neighbours, terms.budget, "100", linePoints())
		q := LineQuestion{Request: Request{SQL: "SELECT x, y FROM points", Epsilon: terms.price}}
		told, err := c.ExplainFitLine(t.Context(), q)
		if err != nil || told.Replayed || !told.Affordable || told.ID != "" || told.Slope.Value != nil || told.Rows != 200 || len(told.Draws) != 4 || told.Slope.Most != 40 || told.Middle != 20 ||
			told.Confidence != "0.95" || !(told.Slope.Noise > 0) || told.Slope.Noise > 0.5 {
			t.Fatalf("%+v, %v", told, err)
		}
		f, err := c.FitLine(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		within := func(of LineEstimate, want, off float64) {
			if of.Value == nil || math.Abs(*of.Value-want) > off || of.Low == nil || *of.Low > want || *of.High < want || *of.High-*of.Low > 20*off {
				t.Errorf("%v: %+v, want %g", terms, of, want)
			}
		}
		within(f.Slope, 3, 0.3)
		within(f.Height, 20, 1)
		if got := spent(t, c); terms.spent != "" && got != terms.spent || f.Replayed || f.Price != told.Price || fmt.Sprint(f.Draws) != fmt.Sprint(told.Draws) {
			t.Errorf("%v: spent %s: %+v", terms, got, f)
		}
		again, err := c.FitLine(t.Context(), q)
		if err != nil || !again.Replayed || again.ID != f.ID || *again.Slope.Value != *f.Slope.Value || *again.Height.High != *f.Height.High {
			t.Errorf("again: %+v, %v", again, err)
		}
		if told, err = c.ExplainFitLine(t.Context(), q); err != nil || !told.Replayed || told.Slope.Value != nil {
			t.Errorf("explained after it: %+v, %v", told, err)
		}
		// At a low price, all of it is for the estimates.
		q.Epsilon, q.Rows = "0.5", 100
		low, err := c.FitLine(t.Context(), q)
		if err != nil || low.Confidence != "" || len(low.Draws) != 2 || low.Slope.Value == nil || low.Slope.Low != nil || len(low.Notes) == 0 || low.Replayed {
			t.Errorf("at a low price: %+v, %v", low, err)
		}
		// Whoever asks for the same in so many words gets it, without paying for it once more.
		q.WithoutIntervals = true
		if plain, err := c.FitLine(t.Context(), q); err != nil || !plain.Replayed || plain.ID != low.ID {
			t.Errorf("without intervals: %+v, %v", plain, err)
		}
		if f, err = c.FitLine(t.Context(), LineQuestion{Request: Request{SQL: "SELECT x, y FROM rows", Epsilon: "0.1"}, Rows: 5}); err != nil || f.Slope.Value == nil || len(f.Notes) < 2 {
			t.Errorf("several rows a unit: %+v, %v", f, err)
		}
	}
}

// What cannot be asked is refused before anything is spent, by what is public.
func TestFitLineRefuses(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := lineHome(t, "add-remove", "{epsilon: 1}", "0.5", "x,y,n,same\n")
	for _, q := range []struct {
		LineQuestion
		says string
	}{
		{LineQuestion{Request: Request{SQL: "SELECT x, n, y FROM points"}}, "one predictor"},
		{LineQuestion{Request: Request{SQL: "SELECT y FROM points"}}, "at least one predictor"},
		{LineQuestion{Request: Request{SQL: "SELECT same, y FROM points"}}, "constant"},
		{LineQuestion{Request: Request{SQL: "SELECT x, same FROM points"}}, "constant"},
		{LineQuestion{Request: Request{SQL: "SELECT x, 5 FROM points"}}, "constant"},
		{LineQuestion{Request: Request{SQL: "SELECT x, y FROM rows"}}, "number of rows is missing"},
		{LineQuestion{Request: Request{SQL: "SELECT x, y FROM points"}, Rows: -1}, "number of rows"},
		{LineQuestion{Request: Request{SQL: "SELECT x, y FROM points"}, Rows: math.MaxInt64}, "number of rows"},
		{LineQuestion{Request: Request{SQL: "SELECT x, y FROM points GROUP BY n"}}, "GROUP BY"},
		{LineQuestion{Request: Request{SQL: "SELECT x, y FROM points", Epsilon: "0.6"}}, "maximum"},
	} {
		if f, err := c.FitLine(t.Context(), q.LineQuestion); err == nil || !strings.Contains(err.Error()+fmt.Sprint(err), q.says) {
			t.Errorf("%s: %+v, %v", q.SQL, f, err)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("spent %s", got)
	}
	// A table without rows, and one of few, have a line as any other.
	if f, err := c.FitLine(t.Context(), LineQuestion{Request: Request{SQL: "SELECT x, y FROM points", Epsilon: "0.5"}, Rows: 1000}); err != nil || f.Slope.Value == nil || math.Abs(*f.Slope.Value) > 40 {
		t.Errorf("no rows: %+v, %v", f, err)
	}
	if f, err := c.FitLine(t.Context(), LineQuestion{Request: Request{SQL: "SELECT x, y FROM points WHERE x > 29", Epsilon: "0.5"}, Rows: 1000}); err != nil || f.Slope.Value == nil {
		t.Errorf("a condition: %+v, %v", f, err)
	}
	if _, err := c.FitLine(t.Context(), LineQuestion{Request: Request{SQL: "SELECT x, n FROM points", Epsilon: "0.5"}}); codeOf(err) != CodeExhausted {
		t.Errorf("with nothing left: %v", err)
	}
}

// FitLine on two homes that differ by one person: what is charged and recorded is the same.
func TestReplayFitLine(t *testing.T) {
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"change-one":       newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{anothers, somebodys}),
		"add-remove, zCDP": newTwins(t, zcdpTerms, [2]string{"", somebody}, [2]string{"", somebodys}),
		"a NULL":           newTwins(t, pureTerms, [2]string{"", nobodyKnown}, [2]string{"", somebodys}),
	} {
		for i, sql := range []string{"SELECT age, change FROM people", "SELECT age, height FROM people", "SELECT day = 'mon', cost FROM visits"} {
			for _, plain := range []bool{false, true} {
				q := LineQuestion{Request: Request{SQL: sql, Epsilon: "20", Fresh: true}, Rows: 5, WithoutIntervals: plain}
				if !plain {
					q.Rows = 100
				}
				r := w.replay(t, byte(i), func(c *Owner) ([]*big.Int, error) {
					f, err := c.FitLine(t.Context(), q)
					if err == nil && (f.Slope.Value == nil || f.Height.Value == nil || (f.Confidence == "") != plain) {
						err = fmt.Errorf("%+v", f)
					}
					return nil, err
				})
				sameLedger(t, relation+": "+sql, r, "reserve", "release")
			}
		}
	}
}

// A server's rows give the line that a file's do, of the same randomness: nothing depends on how an engine orders them.
func TestLiveFitLine(t *testing.T) {
	owner := pgtest.Start(t).Database(t)
	t.Setenv("DITHER_TEST_CLINIC", owner)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	file := lineHome(t, "add-remove", "{epsilon: 1000}", "100", linePoints())
	var values []string
	for line := range strings.Lines(linePoints()) {
		if fields := strings.Split(strings.TrimSpace(line), ","); fields[0] != "x" {
			if fields[1] == "" {
				fields[1] = "NULL"
			}
			values = append(values, "("+strings.Join(fields, ",")+")")
		}
	}
	pgtest.Exec(t, owner, "CREATE SCHEMA clinic; CREATE TABLE clinic.points(x float8, y float8, n int, same int); INSERT INTO clinic.points SELECT * FROM (VALUES "+strings.Join(values, ",")+") AS v ORDER BY 3, 1")
	home := initHome(t, strings.NewReplacer("NEIGHBOURS", "add-remove", "BUDGET", "{epsilon: 1000}", "MAXIMUM", "100", "SOURCE", "{postgres: {url_env: DITHER_TEST_CLINIC}, table: clinic.points}").Replace(linePolicy))
	live := openHome(t, home)
	if _, err := live.Seal(t.Context(), "points", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, sql := range []string{"SELECT x, y FROM points", "SELECT n, x * 2 FROM points WHERE n > 3"} {
		for _, epsilon := range []string{"20", "1"} {
			var lines []string
			r := twins{file, live}.replay(t, byte(i), func(c *Owner) ([]*big.Int, error) {
				f, err := c.FitLine(t.Context(), LineQuestion{Request: Request{SQL: sql, Epsilon: epsilon}})
				if err == nil {
					text, _ := json.Marshal([]LineEstimate{f.Slope, f.Height})
					lines = append(lines, string(text))
				}
				return nil, err
			})
			if len(lines) != 2 || lines[0] != lines[1] || r.Data.Bytes() != r.Neighbor.Bytes() {
				t.Errorf("%s at %s, of %d and %d bytes: %s", sql, epsilon, r.Data.Bytes(), r.Neighbor.Bytes(), lines)
			}
		}
	}
}
