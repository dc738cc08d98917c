package regression

import (
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/formula"
)

// A response of texts, of two classes or more, by the policy's order or another; rows of other values do not count.
func TestClasses(t *testing.T) {
	c, _ := glmHome(t, "{rho: 1000, delta: 1e-6}", "15", 100)
	for _, of := range []struct {
		response   string
		classes    formula.Classes
		many       bool
		name, sql  string
		levels     string
		high, says string
	}{
		{response: "g", many: true, name: "g", levels: "a b c", high: "2", sql: "CASE WHEN g = 'a' THEN 0 WHEN g = 'b' THEN 1 WHEN g = 'c' THEN 2 END"},
		{response: "g", says: "neither a number"},
		{response: "g", classes: formula.Classes{Positive: "b"}, name: "g[b]", levels: "other than b b", high: "1", sql: "CAST(g = 'b' AS INTEGER)"},
		{response: "g", classes: formula.Classes{Positive: "b", Levels: []string{"a", "b"}}, name: "g[b]", levels: "other than b b", high: "1", sql: "CASE WHEN g IN ('a', 'b') THEN CAST(g = 'b' AS INTEGER) END"},
		{response: "g", classes: formula.Classes{Levels: []string{"c", "a"}}, name: "g[a]", levels: "c a", high: "1", sql: "CASE WHEN g = 'c' THEN 0 WHEN g = 'a' THEN 1 END"},
		{response: "g", classes: formula.Classes{Levels: []string{"c", "b", "a"}}, says: "has 3 classes"},
		{response: "ill", classes: formula.Classes{Levels: []string{"true", "false"}}, name: "ill[false]", levels: "true false", high: "1", sql: "CASE WHEN ill = true THEN 0 WHEN ill = false THEN 1 END"},
		{response: "ill", many: true, name: "ill", high: "1", sql: "CAST(ill AS INTEGER)"},
		{response: "visits", classes: formula.Classes{Levels: []string{"1", "5", "3"}}, many: true, name: "visits", levels: "1 5 3", high: "2", sql: "CASE WHEN visits = 1 THEN 0 WHEN visits = 5 THEN 1 WHEN visits = 3 THEN 2 END"},
		{response: "visits", classes: formula.Classes{Positive: "0"}, name: "visits[0]", levels: "other than 0 0", high: "1", sql: "CAST(visits = 0 AS INTEGER)"},
		{response: "g", classes: formula.Classes{Levels: []string{"a", "a"}}, says: "named twice"},
		{response: "g", classes: formula.Classes{Levels: []string{"a"}}, says: "has only one"},
		{response: "g", classes: formula.Classes{Positive: "bb"}, says: "not a declared value"},
		{response: "visits", classes: formula.Classes{Levels: []string{"2", "1) OR (1"}}, says: "is not a value"},
		{response: "ill", classes: formula.Classes{Positive: "perhaps"}, says: "not a declared value"},
	} {
		d, err := classDesign(c, "people", of.response+" ~ x", nil, of.classes, of.many)
		if of.says != "" {
			if err == nil || !strings.Contains(err.Error(), of.says) {
				t.Errorf("%+v: %v", of, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", of, err)
			continue
		}
		if r := d.Response; r.Name != of.name || r.SQL != of.sql || strings.Join(r.Levels, " ") != of.levels ||
			r.High.RatString() != of.high || r.Low.Sign() != 0 {
			t.Errorf("%+v: %+v", of, r)
		}
	}
}

// A softmax and a network learn classes of texts, a logistic model one against the others; the order of classes is
// told.
func TestFitClasses(t *testing.T) {
	c, _ := glmHome(t, gradientsBudget, "3", 2000)
	for _, kind := range []string{curator.SoftmaxModel, curator.NetworkModel} {
		q := smallTraining()
		q.Formula, q.Kind, q.Hidden = "g ~ age + x", kind, map[string]int{curator.NetworkModel: 3}[kind]
		e, err := ExplainGradients(t.Context(), c, q)
		if err != nil || strings.Join(e.Levels, "") != "abc" {
			t.Fatalf("%+v, %v", e, err)
		}
		f, err := FitGradients(t.Context(), c, q, nil)
		if err != nil || f.Classes != 3 || strings.Join(f.Levels, "") != "abc" ||
			len(f.Outputs([]float64{1, 0, 0})) != 3 {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	q := GLM{Family: Logistic, Table: "people", Formula: "g ~ x", Classes: formula.Classes{Positive: "b"}, Rows: 2000}
	q.Epsilon, q.Confidence = "2", "0.9999999"
	f, err := FitGLM(t.Context(), c, q)
	if err != nil || strings.Join(f.Levels, "|") != "other than b|b" {
		t.Fatalf("%+v, %v", f, err)
	}
	glmCovers(t, f, map[string]float64{formula.InterceptName: -0.6931, "x": 0}) // a third of the rows
	k := Calibration{}
	k.Epsilon, k.Confidence = "1", "0.999999999"
	got, err := f.Calibrate(t.Context(), c, k)
	if err != nil || got.Response != "g[b]" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, b := range got.Bins {
		if b.Off != 0 {
			t.Errorf("%+v", b)
		}
	}
	if _, err := FitGLM(t.Context(), c,
		GLM{
			Family: Poisson, Table: "people", Formula: "visits ~ x",
			Classes: formula.Classes{Positive: "b"},
		}); err == nil || !strings.Contains(err.Error(), "no classes") {
		t.Error(err)
	}
}

// Where rows may have values that are none of the classes, how many rows the policy declares says nothing of how many
// count: these are counted.
func TestSomeLevelsAreCounted(t *testing.T) {
	c, _ := glmHome(t, pureBudget, "100", 2000)
	for _, of := range []struct {
		formula.Classes
		some bool
	}{
		{formula.Classes{Levels: []string{"a", "b"}}, true},
		{formula.Classes{Levels: []string{"a", "b"}, Positive: "a"}, true},
		{formula.Classes{Levels: []string{"c", "b", "a"}, Positive: "a"}, false},
		{formula.Classes{Positive: "a"}, false},
	} {
		p, err := decideGLM(c,
			GLM{
				Family: Logistic, Table: "people", Formula: "g ~ age", Classes: of.Classes,
				Request: curator.Request{Epsilon: "20"},
			})
		if err != nil || p.design.Response.Partial != of.some {
			t.Errorf("%+v: %v", of, err)
			continue
		}
		_, rows, _, err := p.counted(t.Context())
		if want := map[bool]float64{true: 1333, false: 2000}[of.some]; err != nil || math.Abs(rows-want) > 120 {
			t.Errorf("%+v: %g rows, %v", of, rows, err)
		}
	}
}
