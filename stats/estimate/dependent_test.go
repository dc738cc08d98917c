package estimate

import (
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/examples/randhie"
	"dither/internal/testhome"
)

// Where a person may have several rows, intervals about a population say that they take rows for independent; those
// about the rows do not.
func TestDependentRows(t *testing.T) {
	policy, err := randhie.Files.ReadFile("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := randhie.Files.ReadFile("randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := testhome.Sealed(t,
		strings.Replace(strings.Replace(string(policy), "epsilon: 1.2", "epsilon: 100", 1), "maximum: 0.5",
			"maximum: 10", 1), "visits",
		map[string]string{"randhie.csv": string(rows)})
	s := Sample{Request: curator.Request{Epsilon: "2"}, Table: "visits", Columns: []string{"lpi"}}
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
}
