package estimate

import (
	"errors"
	"strings"
	"testing"

	"dither/curator"
	"dither/stats/internal/statstest"
)

// A WHERE or FROM text that adds groups or a limit is refused before anything is paid. A LIMIT that only the answer
// shows is an error that names the price.
func TestMoreThanACondition(t *testing.T) {
	c := statstest.Grouped(t)
	price := curator.Request{Epsilon: "1"}
	before := statstest.Remaining(t, c)
	for _, s := range []Sample{
		{Request: price, Table: "people", Columns: []string{"x"}, Where: "TRUE GROUP BY g"},
		{Request: price, Table: "people", Columns: []string{"x"}, Where: "TRUE) GROUP BY (g"},
		{Request: price, Table: "people", Columns: []string{"x"}, Where: "TRUE) LIMIT (0"},
		{Request: price, Table: "people GROUP BY g", Columns: []string{"x"}},
		{Request: price, Table: "people", Columns: strings.Split(strings.Repeat("x ", 1001), " ")[:1001]},
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
	if after := statstest.Remaining(t, c); after.Cmp(before) != 0 {
		t.Errorf("refusals cost: %s remain of %s", after, before)
	}
	// LIMIT behind a relation is known by its answer alone.
	s := Sample{
		Request: curator.Request{Epsilon: "4"}, Table: "people LIMIT 0", Columns: []string{"x"},
		Population: true,
	}
	_, err := Quantile(t.Context(), c, s, "0.5")
	var e *curator.Error
	if !errors.As(err, &e) || e.Code != curator.CodeUsage || !strings.Contains(e.Hint, "stay paid") {
		t.Error(err)
	}
}
