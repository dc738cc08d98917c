package stats

import (
	"errors"
	"strings"
	"testing"

	"dither/curator"
)

// A condition is one: what closes its bracket is refused, whatever quotes and comments hold.
func TestConditionAlone(t *testing.T) {
	for _, text := range []string{
		"", " ", "x > 1", "(x > 1) AND (y IN (1, 2))", "g = ')'", "g = 'it''s )'", `"odd )" > 1`, "x > 1 -- )", "x > 1 /* ) */ AND (TRUE)", "x > 1 -- )\n AND (TRUE)", "'", `"`, "/*", "-",
	} {
		if err := conditionAlone(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{")", "(", "TRUE) GROUP BY (g", "x IN (1, 2", "TRUE) -- (", "')') (", "/* */)", "--\n)"} {
		if err := conditionAlone(text); err == nil {
			t.Errorf("%q is a condition", text)
		}
	}
}

func FuzzConditionAlone(f *testing.F) {
	for _, text := range []string{"x > 1", "g = 'a)' -- (", "/* ) */ (x)", "é) '"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { _ = conditionAlone(text) })
}

// Groups that a text brings along, and rows that it takes away again, are refused before anything is paid, or are told of where nothing says so beforehand.
func TestMoreThanACondition(t *testing.T) {
	c, _, _ := peopleOf(t, "epsilon: 100", 300)
	price := curator.Question{Epsilon: "1"}
	before := remaining(t, c)
	for _, s := range []Sample{
		{Question: price, Table: "people", Columns: []string{"x"}, Where: "TRUE GROUP BY g"},
		{Question: price, Table: "people", Columns: []string{"x"}, Where: "TRUE) GROUP BY (g"},
		{Question: price, Table: "people", Columns: []string{"x"}, Where: "TRUE) LIMIT (0"},
		{Question: price, Table: "people GROUP BY g", Columns: []string{"x"}},
		{Question: price, Table: "people", Columns: strings.Split(strings.Repeat("x ", maxColumns+1), " ")[:maxColumns+1]},
	} {
		for _, method := range []string{"", MethodCoinPress} {
			for _, population := range []bool{false, true} {
				s.Method, s.Population = method, population
				if _, err := Mean(t.Context(), c, s); err == nil {
					t.Errorf("the mean of %.40s %s is told", s.Table, s.Where)
				}
				if _, err := Covariance(t.Context(), c, s); err == nil {
					t.Errorf("the covariance of %.40s %s is told", s.Table, s.Where)
				}
			}
		}
	}
	where := "TRUE) GROUP BY (g"
	if _, err := FitLinear(t.Context(), c, Linear{Question: price, Table: "people", Formula: "y ~ x", Where: where}); err == nil {
		t.Error("a regression of groups")
	}
	if _, err := FitGLM(t.Context(), c, GLM{Question: price, Family: Logistic, Table: "people", Formula: "none ~ x", Where: where}); err == nil {
		t.Error("a logistic model of groups")
	}
	for _, method := range []string{KMeansLloyd, KMeansGrid, KMeansTree} {
		if _, err := KMeans(t.Context(), c, Clustering{Table: "people", Columns: []string{"x", "y"}, K: 2, Method: method, Epsilon: "10", Where: where}); err == nil {
			t.Errorf("clusters of groups by %s", method)
		}
	}
	if after := remaining(t, c); after.Cmp(before) != 0 {
		t.Errorf("refusals cost: %s remain of %s", after, before)
	}
	// LIMIT behind a relation is known by its answer alone.
	s := Sample{Question: curator.Question{Epsilon: "4"}, Table: "people LIMIT 0", Columns: []string{"x"}, Population: true}
	_, err := Quantile(t.Context(), c, s, "0.5")
	var e *curator.Error
	if !errors.As(err, &e) || e.Code != curator.CodeUsage || !strings.Contains(e.Hint, "stays paid") {
		t.Error(err)
	}
}
