package synth

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

// oddHome has tables of few kinds of rows. In each, a person counts with at most 3 rows.
func oddHome(t *testing.T) *curator.Owner {
	t.Helper()
	const columns = `
    unit: id
    rows_per_unit: 3
    columns:
      id: {type: integer}
      job: {type: text, values: [baker, nurse], nullable: true}
      age: {type: integer, bounds: [0, 99], nullable: true}
`
	one, nulls := "id,job,age\n", "id,job,age\n"
	for i := range 200 {
		one += fmt.Sprintf("7,nurse,%d\n", i%100)
		nulls += fmt.Sprintf("%d,,%d\n", i, i%100)
	}
	files := map[string]string{}
	policy := "version: 1\npopulation: {name: odd, neighbours: add-remove}\nbudget: " + inRho + "\ntables:\n"
	for name, text := range map[string]string{"one": one, "nulls": nulls, "expected": nulls} {
		files[name+".csv"] = text
		policy += "  " + name + ":\n    source: {csv: " + name + ".csv}" + columns
		if name == "expected" {
			policy += "    expected_rows: 200\n"
		}
	}
	c, _ := testhome.Opened(t, testhome.Files(policy, files), "one", "nulls", "expected")
	return c
}

// A column of NULLs stays one, up to the noise. A person with all rows counts with few of them. Both cost what they
// were priced at.
func TestOddRows(t *testing.T) {
	c := oddHome(t)
	for _, method := range []Method{AIM, MST, MWEM, Independent} {
		for _, table := range []string{"nulls", "one"} {
			if table == "one" && method != AIM && method != MWEM {
				continue
			}
			result, err := Synthesize(t.Context(), c.Session(), Request{Table: table, Rho: "5", Method: method, Bins: 4})
			if err != nil {
				t.Fatal(table, method, err)
			}
			rows := drawn(t, result)
			if table == "one" { // three of 200 rows count; noise adds a few
				if len(rows) > 60 {
					t.Errorf("%s: one person has %d rows", method, len(rows))
				}
				continue
			}
			null := 0
			for _, row := range rows {
				if row[0] == "" {
					null++
				}
			}
			if len(rows) < 150 || 10*null < 8*len(rows) {
				t.Errorf("%s: %d of %d jobs are NULL", method, null, len(rows))
			}
		}
	}
	if spent := spentRho(t, c); spent != "30" {
		t.Errorf("%s is spent", spent)
	}
}

// What is too large or too faint is refused before anything is spent, and the refusal names what would do.
func TestBadInputIsRefusedFirst(t *testing.T) {
	odd := oddHome(t)
	c, _ := town(t, inRho, "add-remove", 70, 100)
	for _, of := range []struct {
		c     *curator.Owner
		r     Request
		words []string
	}{
		{c, Request{Table: "people", Rho: "1", ModelBytes: 500}, []string{"single columns alone need", "--model-size"}},
		{c, Request{Table: "people", Rho: "1", ModelBytes: 500, Cliques: [][]string{{"age", "size"}}}, []string{"need a model of", "--model-size"}},
		{c, Request{Table: "people", Rho: "1", Columns: []string{"note"}}, []string{"note cannot be synthesized"}},
		{c, Request{Table: "people", Rho: "1", Bins: 1}, []string{"between 2 and"}},
		{c, Request{Table: "people", Rho: "1", Ways: []int{9, 10}}, []string{"no marginal has 9 of the", "--ways 2"}},
		{
			c,
			Request{Table: "people", Rho: "1", Columns: []string{"age", "size"}, ModelBytes: 1000},
			[]string{"no marginal of several columns fits", "age, size", "--model-size"},
		},
		{c, Request{Table: "people", Rho: "99"}, []string{"maximum"}},
		{odd, Request{Table: "expected", Rho: "0.01"}, []string{"more noise than signal", "expects 200 rows", "larger price"}},
	} {
		_, err := Synthesize(t.Context(), of.c.Session(), of.r)
		var e *curator.Error
		if !errors.As(err, &e) {
			t.Errorf("%+v: %v", of.r, err)
			continue
		}
		for _, w := range of.words {
			if !strings.Contains(e.Message+"\n"+e.Hint, w) {
				t.Errorf("%q is missing in: %s\n%s", w, e.Message, e.Hint)
			}
		}
		if spent := spentRho(t, of.c); spent != "0" {
			t.Fatalf("%+v: %s is spent", of.r, spent)
		}
	}
	if _, err := Synthesize(t.Context(), odd.Session(), Request{Table: "expected", Rho: "5", Bins: 4}); err != nil {
		t.Errorf("a useful price: %v", err)
	}
}

// What fits does fit: with a number of bins, or else some columns.
func TestFitting(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 71, 10)
	cells := func(r Request) (*Plan, float64) {
		t.Helper()
		p, err := Explain(t.Context(), c.Session(), r)
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for i := range p.Columns {
			all = append(all, i)
		}
		return p, p.domain.Cells(all...)
	}
	r := Request{Table: "people", Rho: "1", Bins: 60}
	for _, most := range []float64{5000, 500, 100} {
		p, before := cells(r)
		fits := r
		if _, err := fmt.Sscanf(p.fitting(most), "--bins %d,", &fits.Bins); err != nil {
			t.Fatal(p.fitting(most))
		}
		if _, now := cells(fits); now > most || before <= most {
			t.Errorf("%v cells: %d bins have %v", most, fits.Bins, now)
		}
	}
	p, _ := cells(r)
	if got := p.fitting(9); got != "--columns married,job, which fits" {
		t.Error(got)
	}
	for _, bad := range []Request{
		{Target: "nobody"},
		{Target: "age", Method: MST},
		{Target: "age", Workload: []Wanted{{SQL: "SELECT COUNT(*) FROM people"}}},
	} {
		bad.Table, bad.Rho = "people", "1"
		if _, err := Explain(t.Context(), c.Session(), bad); err == nil {
			t.Errorf("%+v is possible", bad)
		}
	}
	r.Cliques = [][]string{{"age", "size", "job"}}
	r.ModelBytes = 100
	if _, err := Explain(t.Context(), c.Session(), r); err == nil || !strings.Contains(fmt.Sprint(err), "--model-size") {
		t.Error(err)
	}
	if got := p.fitting(1); got != "fewer columns" {
		t.Error(got)
	}
}
