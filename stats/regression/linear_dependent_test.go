package regression

import (
	"strings"
	"testing"

	"dither/curator"
	"dither/examples/randhie"
)

// Where a person may have several rows, a regression warns that its intervals take rows for independent.
func TestDependentRowsOfARegression(t *testing.T) {
	policy, err := randhie.Files.ReadFile("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := randhie.Files.ReadFile("randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	c := homeOf(t, strings.Replace(string(policy), "maximum: 0.5", "maximum: 1", 1), "randhie.csv",
		string(rows), "visits")
	f, err := FitLinear(t.Context(), c,
		Linear{Request: curator.Request{Epsilon: "1"}, Table: "visits", Formula: "mdvis ~ lpi"})
	if err != nil || !strings.Contains(strings.Join(f.Warnings, " "), "A person may have several rows") {
		t.Errorf("%+v, %v", f, err)
	}
}
