package tabulate_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"dither/strategy/tabulate"
)

// pairsSpec is a specification with the covariances of some pairs of cells.
func pairsSpec(pairs string) string {
	return `
version: 1
price: {rho: 1}
hierarchies:
  place: {key: county, levels: [county, state], total: country, places: {north: [c1, c2], south: [c3]}}
tables:
  - {name: residents, from: people, rows: [county, state, country], columns: [sex]}
  - {name: all, from: people, rows: [country]}
covariances: ` + pairs
}

// A specification can ask for covariances. Those of a total and its parts add up to the total's variance.
func TestCovariancesOnRequest(t *testing.T) {
	owner, err := town(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close() }()
	plan := func(pairs string) (*tabulate.Plan, error) {
		spec, err := tabulate.Parse([]byte(pairsSpec(pairs)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return tabulate.Explain(t.Context(), owner.Session(), spec, "")
	}
	p, err := plan(`
  - [{table: all, level: country, place: country}, {table: all, level: country, place: country}]
  - [{table: all, level: country, place: country}, {table: residents, level: country, place: country, values: [f]}]
  - [{table: all, level: country, place: country}, {table: residents, level: country, place: country, values: [m]}]`)
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Covariances; len(c) != 3 || !(c[0] > 0) || math.Abs(c[1]+c[2]-c[0]) > 1e-9*c[0] {
		t.Errorf("covariances %v", c)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Covariances []struct {
			Cells      []struct{ Table, Level, Place string }
			Covariance float64
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if c := read.Covariances; len(c) != 3 || c[1].Covariance != p.Covariances[1] || len(c[1].Cells) != 2 || c[1].Cells[1].Table != "residents" {
		t.Errorf("JSON %s", text)
	}
	_, err = plan(`[[{table: all, level: country, place: country}, {table: all, level: country, place: atlantis}]]`)
	if err == nil || !strings.Contains(err.Error(), "pair 1 of covariances") || !strings.Contains(err.Error(), "atlantis") {
		t.Errorf("an unknown place: %v", err)
	}
}

// Malformed pairs are refused when the specification is read.
func TestPairsAreChecked(t *testing.T) {
	cell := `{table: all, level: country, place: country}`
	for pairs, want := range map[string]string{
		`[[` + cell + `]]`:                                                        "a covariance is that of two cells",
		`[[` + cell + `, {level: country}]]`:                                      "table is missing",
		`[[` + cell + `, {table: all, cell: 1}]]`:                                 "cell",
		`[` + strings.Repeat(`[`+cell+`, `+cell+`], `, tabulate.MaxPairs+1) + `]`: "at most 100 pairs",
		`all`: "covariances",
	} {
		if _, err := tabulate.Parse([]byte(pairsSpec(pairs)), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, not %q", pairs, err, want)
		}
	}
}
