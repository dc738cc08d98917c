package stats

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/cluster"
	"dither/stats/internal/statstest"
)

// Groups that a text brings along, and rows that it takes away again, are refused before anything is paid, or are told of where nothing says so beforehand.
func TestMoreThanACondition(t *testing.T) {
	columns := "      x: {type: real, bounds: [0, 100]}\n      y: {type: real, bounds: [-50, 50]}\n" +
		"      g: {type: text, values: [a, b]}\n      none: {type: real, bounds: [0, 1], nullable: true}\n"
	c := statstest.People(t, "epsilon: 100", columns, "x,y,g,none", func(i int) string {
		return fmt.Sprintf("%d,%d,%s,", 20+i%40, i%23-11, []string{"a", "b"}[i%2])
	}, 300)
	price := curator.Question{Epsilon: "1"}
	before := statstest.Remaining(t, c)
	for _, s := range []Sample{
		{Question: price, Table: "people", Columns: []string{"x"}, Where: "TRUE GROUP BY g"},
		{Question: price, Table: "people", Columns: []string{"x"}, Where: "TRUE) GROUP BY (g"},
		{Question: price, Table: "people", Columns: []string{"x"}, Where: "TRUE) LIMIT (0"},
		{Question: price, Table: "people GROUP BY g", Columns: []string{"x"}},
		{Question: price, Table: "people", Columns: strings.Split(strings.Repeat("x ", 1001), " ")[:1001]},
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
	for _, method := range []string{cluster.MethodLloyd, cluster.MethodGrid, cluster.MethodTree} {
		if _, err := cluster.KMeans(t.Context(), c, cluster.Request{Table: "people", Columns: []string{"x", "y"}, K: 2, Method: method, Epsilon: "10", Where: where}); err == nil {
			t.Errorf("clusters of groups by %s", method)
		}
	}
	if after := statstest.Remaining(t, c); after.Cmp(before) != 0 {
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
