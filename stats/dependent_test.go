package stats

import (
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/examples/randhie"
)

// Where a person may have several rows, intervals about a population say that they take rows for independent; those about the rows have nothing to say of it.
func TestDependentRows(t *testing.T) {
	for _, x := range []struct {
		of   curator.Unit
		want bool
	}{
		{curator.Unit{MaxRows: 1}, false},
		{curator.Unit{}, false},
		{curator.Unit{MaxRows: 1, PersonRows: 1}, false},
		{curator.Unit{MaxRows: 1, PersonRows: 5}, true},
		{curator.Unit{Column: "id", MaxRows: 1}, false},
		{curator.Unit{Column: "id", MaxRows: 3}, true},
		{curator.Unit{Column: "id", MaxGroups: 2}, true},
	} {
		if got := manyRows(x.of); got != x.want {
			t.Errorf("%+v: %t", x.of, got)
		}
	}
	policy, err := randhie.Files.ReadFile("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := randhie.Files.ReadFile("randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	c := homeOf(t, strings.Replace(strings.Replace(string(policy), "epsilon: 1.2", "epsilon: 100", 1), "maximum: 0.5", "maximum: 10", 1), "randhie.csv", string(rows), "visits")
	s := Sample{Question: curator.Question{Epsilon: "2"}, Table: "visits", Columns: []string{"lpi"}}
	for _, population := range []bool{true, false} {
		for _, method := range []string{"", MethodCoinPress} {
			s.Population, s.Method = population, method
			if e, err := Mean(t.Context(), c, s); err != nil || slices.Contains(e.Notes, dependentNote) != population {
				t.Errorf("%s, population %t: %v, %v", method, population, e, err)
			}
		}
	}
	s.Population, s.Method = true, ""
	if e, err := Quantile(t.Context(), c, s, "0.5"); err != nil || !slices.Contains(e.Notes, dependentNote) {
		t.Errorf("%v, %v", e, err)
	}
	f, err := FitLinear(t.Context(), c, Linear{Question: curator.Question{Epsilon: "1"}, Table: "visits", Formula: "mdvis ~ lpi"})
	if err != nil || !strings.Contains(strings.Join(f.Warnings, " "), "A person may have several rows") {
		t.Errorf("%+v, %v", f, err)
	}
}
