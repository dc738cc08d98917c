package synth

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/synth/estimate"
)

// Draws of a home's table give intervals for statistics of measured columns, and say why other statistics have none.
func TestDraws(t *testing.T) {
	for _, budget := range []string{inRho, inEpsilon} {
		c, _ := town(t, budget, "add-remove", 4, 1500)
		r, err := Synthesize(t.Context(), c.Session(), Request{
			Table: "people", Epsilon: "4", Rows: 1000, Columns: []string{"job", "married", "age"}, Bins: 100,
			Cliques: [][]string{{"married", "age"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Plan.Method != Fixed || len(r.Measured) != 2 {
			t.Errorf("%s measured %+v", r.Plan.Method, r.Measured)
		}
		d, err := r.Draw(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "people.csv")
		if err := d.Write(out, func(name string, write func(io.Writer) error) error {
			f, err := os.Create(name)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			return write(f)
		}); err != nil {
			t.Fatal(err)
		}
		tables, err := estimate.Read(ManifestName(out))
		if err != nil {
			t.Fatal(err)
		}
		for text, reason := range map[string]string{"age ~ married": "", "age ~ job": "outside of the span"} {
			s, err := estimate.ParseStatistic(estimate.Linear, text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tables.Estimate(t.Context(), s, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.Reason, reason) || (reason == "") != (got.Coefficients[1].Interval != nil) {
				t.Errorf("%s: %q, %+v", text, got.Reason, got.Coefficients)
			}
		}
	}
}

// Draws of AIM, and of marginals whose cells have fewer rows than their noise, say that intervals do not hold.
func TestDrawsWithoutIntervals(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 4, 300)
	for _, of := range []struct {
		request Request
		reason  string
	}{
		{Request{Table: "people", Epsilon: "1", Method: AIM, Columns: []string{"job", "married"}}, "aim selects"},
		{Request{Table: "people", Epsilon: "1", Bins: 100, Cliques: [][]string{{"job", "age"}}, Columns: []string{"job", "age"}}, "job, age has"},
	} {
		r, err := Synthesize(t.Context(), c.Session(), of.request)
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Draw(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if m := d.Manifest("x.csv"); m.Valid || !strings.Contains(m.Reason, of.reason) {
			t.Errorf("%v, %q", m.Valid, m.Reason)
		}
	}
}

func TestDrawsRefused(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 4, 200)
	for _, r := range []Request{
		{Table: "people", Method: Fixed},
		{Table: "people", Method: AIM, Cliques: [][]string{{"age"}}},
		{Table: "people", Cliques: [][]string{{"age", "age"}}},
		{Table: "people", Cliques: [][]string{{"note"}}},
		{Table: "people", Cliques: [][]string{{}}},
		{Table: "people", Cliques: [][]string{{"age", "job"}, {"job", "age"}}},
		{Table: "people", Cliques: [][]string{{"age", "job"}}, ModelBytes: 100},
	} {
		if _, err := Explain(t.Context(), c.Session(), r); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
	for _, m := range []int{-1, 0, 1, MaxDraws + 1} {
		if CheckDraws(MST, m) == nil {
			t.Errorf("%d draws are accepted", m)
		}
	}
	if CheckDraws(MWEM, 5) == nil {
		t.Error("MWEM has draws")
	}
}

// The manifest names columns whose values include the empty text, which CSV writes as NULL. NULL itself is no such
// value.
func TestManifestsNameColumnsWithAnEmptyText(t *testing.T) {
	d := &Draws{Results: []*Result{{Plan: &Plan{Method: Fixed, Columns: []*Column{
		{Name: "a", Type: "text", values: []any{"x", ""}},
		{Name: "b", Type: "text", values: []any{"x", nil}},
		{Name: "c", Type: "text", values: []any{"", nil}},
	}}, model: &histogram{total: 5}}}}
	for i, c := range d.Manifest("t.csv").Columns {
		if want := []bool{true, false, true}[i]; c.Empty != want {
			t.Errorf("%+v", c)
		}
	}
}
