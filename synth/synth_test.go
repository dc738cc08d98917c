package synth

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/synth/aim"
	"dither/synth/model"
)

// the last column has no declared values, so it is left out
const people = `
version: 1
population: {name: town, neighbours: NEIGHBOURS}
budget: BUDGET
tables:
  people:
    source: {csv: people.csv}
    unit: id
    rows_per_unit: 1
    columns:
      id: {type: integer}
      job: {type: text, values: [baker, nurse, tailor], nullable: true}
      married: {type: boolean}
      age: {type: integer, bounds: [0, 99]}
      size: {type: real, bounds: [0.5, 2.5]}
      note: {type: text}
`

// Budgets that pay for a request twice.
const (
	inRho     = "{rho: 100, delta: 1e-6}\nprice: {default: 1, maximum: 14}"
	inEpsilon = "{epsilon: 100}\nprice: {default: 1, maximum: 100}"
)

// town returns an owner of a home with made-up people, and their rows. Jobs, marriages and sizes depend on the age.
func town(t *testing.T, budget, neighbours string, seed uint64, rows int) (*curator.Owner, [][]string) {
	t.Helper()
	return townAt(t, filepath.Join(t.TempDir(), "home"), budget, neighbours, seed, rows)
}

// townAt is town in a folder.
func townAt(t *testing.T, dir, budget, neighbours string, seed uint64, rows int) (*curator.Owner, [][]string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // where homes note the sources that they sealed
	if err := curator.Init(dir); err != nil {
		t.Fatal(err)
	}
	policy := strings.NewReplacer("BUDGET", budget, "NEIGHBOURS", neighbours).Replace(people)
	words := splitmix.At(splitmix.Mix(seed))
	var all [][]string
	text := "id,job,married,age,size,note\n"
	for i := range rows {
		age := words.Below(100)
		job := []string{"", "baker", "nurse", "tailor"}[(age/25+words.Below(10)/8)%4]
		married := strconv.FormatBool(age > 30 != (words.Below(10) == 0))
		size := strconv.FormatFloat(0.5+min(2, float64(age)/50*(0.9+float64(words.Below(100))/500)), 'f', 3, 64)
		all = append(all, []string{job, married, strconv.Itoa(age), size})
		text += fmt.Sprintf("%d,%s,%s,%d,%s,note\n", i, job, married, age, size)
	}
	for name, content := range map[string]string{"policy.yaml": policy, "people.csv": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := curator.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Seal(t.Context(), "people", curator.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	return c, all
}

// drawn returns the rows of a result, without the line of names.
func drawn(t testing.TB, r *Result) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(rows)-1) != r.Rows {
		t.Fatalf("%d rows instead of %d", len(rows)-1, r.Rows)
	}
	return rows[1:]
}

// apart returns the mean total variation distance of all pairs of columns of two tables, with numbers cut to ten bins.
func apart(a, b [][]string) (mean float64) {
	cut := func(column int, v string) string {
		x, err := strconv.ParseFloat(v, 64)
		switch {
		case err != nil:
			return v
		case column == 2:
			return fmt.Sprint(int(x) / 10)
		}
		return fmt.Sprint(int((x - 0.5) * 4.99))
	}
	pairs := 0
	for i := range 4 {
		for j := range i {
			share := map[string]float64{}
			for n, rows := range [][][]string{a, b} {
				for _, row := range rows {
					share[cut(i, row[i])+","+cut(j, row[j])] += float64(1-2*n) / float64(len(rows))
				}
			}
			for _, d := range share {
				mean += math.Abs(d) / 2
			}
			pairs++
		}
	}
	return mean / float64(pairs)
}

// At a high price, the marginals of synthetic rows are those of the real ones: all pairs for AIM, a tree of pairs for
// MST, and no pairs for independent columns. The noise of a cell has a standard deviation of a few rows of 4,000, so
// that it exceeds the limits with probability below 1e-6. Every value is within the declared values and bounds.
func TestSyntheticRowsHaveTheMarginals(t *testing.T) {
	for i, of := range []struct {
		method      Method
		budget, rho string
		neighbours  string
		least, most float64
	}{
		{AIM, inRho, "50", "add-remove", 0, 0.04},
		{MST, inRho, "50", "change-one", 0, 0.06},
		{MWEM, inRho, "50", "add-remove", 0, 0.06},
		{Independent, inEpsilon, "", "add-remove", 0.2, 0.6},
		{AIM, inEpsilon, "", "change-one", 0, 0.06},
	} {
		c, real := town(t, of.budget, of.neighbours, uint64(i), 4000)
		r := Request{Table: "people", Method: of.method, Rho: of.rho, Bins: 10}
		if of.rho == "" {
			r.Epsilon = "50"
		}
		p, err := Explain(t.Context(), c.Session(), r)
		if err != nil || !p.Affordable || len(p.Columns) != 4 || len(p.Omitted) != 2 {
			t.Fatalf("%s: %+v, %v", of.method, p, err)
		}
		result, err := Synthesize(t.Context(), c.Session(), r)
		if err != nil {
			t.Fatal(of.method, err)
		}
		rows := drawn(t, result)
		got := apart(real, rows)
		t.Logf("%s under %s: %.4f apart after %d rounds in %.1f s, expected error %.4f",
			of.method, of.budget, got, result.Rounds, result.Seconds, result.ExpectedError)
		if got < of.least || got > of.most || math.Abs(float64(len(rows)-4000)) > 200 {
			t.Errorf("%s: %d rows, pairs are %v apart", of.method, len(rows), got)
		}
		for _, row := range rows {
			age, err := strconv.Atoi(row[2])
			size, err2 := strconv.ParseFloat(row[3], 64)
			if err != nil || err2 != nil || age < 0 || age > 99 || size < 0.5 || size > 2.5 ||
				!strings.Contains(",,baker,nurse,tailor,", ","+row[0]+",") || row[1] != "true" && row[1] != "false" {
				t.Fatalf("%s: the row %q", of.method, row)
			}
		}
		again, err := Synthesize(t.Context(), c.Session(), r)
		if err != nil || !again.Replayed || again.Release != result.Release {
			t.Fatalf("%s: again: %+v, %v", of.method, again, err)
		}
		if fmt.Sprint(drawn(t, again)) != fmt.Sprint(rows) {
			t.Errorf("%s: the same release has other rows", of.method)
		}
	}
}

// A synthesis that stops after its first measurements continues under the same reservation, with the same noise. A
// cancelled one is not charged before it begins.
func TestInterruptedSynthesisContinues(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 99, 500)
	spent := func() string {
		b, err := c.Budget()
		if err != nil {
			t.Fatal(err)
		}
		return b.Spent.Rho
	}
	r := Request{Table: "people", Rho: "20", Bins: 5}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Synthesize(stopped, c.Session(), r); err == nil || spent() != "0" {
		t.Fatalf("cancelled: %v, and %s is spent", err, spent())
	}
	s, err := begin(t.Context(), c.Session(), r)
	if err != nil {
		t.Fatal(err)
	}
	begun := func(s *synthesis) {
		t.Helper()
		if err := s.measureShapes(t.Context()); err != nil {
			t.Fatal(err)
		}
		rounds, left, err := s.plannedRounds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		schedule, err := aim.NewSchedule(left, len(s.Columns), rounds)
		if err != nil {
			t.Fatal(err)
		}
		first := schedule.First()
		if err := s.measure(t.Context(), s.ones(), times(first.Measure, first.Times)); err != nil {
			t.Fatal(err)
		}
	}
	begun(s)
	if _, err := Synthesize(t.Context(), c.Session(), r); err == nil {
		t.Error("two run at once")
	}
	if err := s.rounds.Close(); err != nil {
		t.Fatal(err)
	}
	result, err := Synthesize(t.Context(), c.Session(), r)
	if err != nil || result.Replayed || result.Release != s.rounds.ID || spent() != "20" {
		t.Fatalf("%+v, %v, and %s is spent", result, err, spent())
	}
	again, err := begin(t.Context(), c.Session(), r)
	if err != nil || again.rounds.Recorded != 3+2*result.Rounds {
		t.Fatalf("%+v, %v", again, err)
	}
	defer func() { _ = again.rounds.Close() }()
	begun(again)
	if fmt.Sprint(again.measured) != fmt.Sprint(s.measured) {
		t.Errorf("the first step was %v, and then %v", s.measured, again.measured)
	}
}

// Small and odd tables have a synthetic table, or a refusal that costs nothing.
func TestOddTables(t *testing.T) {
	for _, rows := range []int{0, 2} {
		c, _ := town(t, inRho, "change-one", uint64(200+rows), rows)
		for _, columns := range [][]string{nil, {"married"}} {
			for _, method := range []Method{AIM, MST, MWEM, Independent} {
				r := Request{Table: "people", Rho: "1", Columns: columns, Method: method, Rows: 5, Bins: 9}
				result, err := Synthesize(t.Context(), c.Session(), r)
				if err != nil {
					t.Fatalf("%d rows, %v by %s: %v", rows, columns, method, err)
				}
				var b bytes.Buffer
				if err := result.WriteCSV(&b); err != nil || strings.Count(b.String(), "\n") != 6 {
					t.Errorf("%d rows, %v by %s: %v\n%s", rows, columns, method, err, &b)
				}
			}
		}
	}
}

// The JSON of a result begins with the members that other programs rely on, in their order.
func TestResultJSON(t *testing.T) {
	c, _ := town(t, inEpsilon, "add-remove", 80, 100)
	result, err := Synthesize(t.Context(), c.Session(), Request{Table: "people", Epsilon: "2", Method: Independent, Bins: 5})
	if err != nil {
		t.Fatal(err)
	}
	text, err := result.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, member := range []string{"release", "method", "price", "seconds", "rounds", "measured", "expected_error", "rows"} {
		i := strings.Index(string(text)[at:], `"`+member+`":`)
		if i < 0 {
			t.Fatalf("%s is missing after %s in %s", member, text[:at], text)
		}
		if at += i; member == "measured" {
			at += strings.Index(string(text)[at:], "}],") // its own members
		}
	}
}

// A marginal whose table is too large to compute is left out of AIM's round, and is no error.
func TestTooLargeMarginalsAreLeftOut(t *testing.T) {
	sizes, measured := []int{}, []model.Measurement{}
	for i := range 6 { // a star whose centre is small: pairs of its leaves have 20,000² cells
		sizes = append(sizes, []int{2, 20_000}[min(i, 1)])
	}
	d, err := model.NewDomain(sizes...)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 6; i++ {
		measured = append(measured, model.Measurement{Attributes: []int{0, i}, Values: make([]float64, 40_000), Variance: 1})
	}
	m, err := model.Fit(d, measured, model.Options{Total: 10, Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &synthesis{model: m}
	kept, sets, tables, err := s.computed([]aim.Marginal{{Attributes: []int{0, 1}}, {Attributes: []int{1, 2}}, {Attributes: []int{3}}})
	if err != nil || len(kept) != 2 || fmt.Sprint(sets) != "[[0 1] [3]]" || len(tables) != 2 || len(tables[1]) != 20_000 {
		t.Errorf("%v, %v, %d tables (%v)", kept, sets, len(tables), err)
	}
	if _, _, _, err := s.computed([]aim.Marginal{{Attributes: []int{1, 2}}}); err == nil {
		t.Error("nothing is left, and there is no error")
	}
}
