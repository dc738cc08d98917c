package tabulate_test

import (
	"strings"
	"testing"

	"dither/strategy/tabulate"
)

// A declared total of rows with a condition is at most that of the same rows without it. The policy and the tables may
// declare them. Totals of other rows are not compared.
func TestTotalsWithAConditionAreCompared(t *testing.T) {
	head, _, _ := strings.Cut(specText, "tables:\n")
	const old = "  - {name: old, from: people, where: age >= 50, rows: [county, state, country], totals: "
	declared := strings.Replace(policyText, "    unit: row\n", "    unit: row\n    totals: {'*': 600}\n", 1)
	for _, c := range []struct{ policy, tables, says string }{
		{
			policyText, old + "{state: {north: 120}}}\n  - {name: all, from: people, rows: [state], totals: {state: {north: 100}}}\n",
			`table old: the declared totals with the condition age >= 50 have 120 rows of state "north", and those without it at most 100`,
		},
		{
			policyText, old + "{county: {c1: 70, c2: 50}}}\n  - {name: all, from: people, rows: [state], totals: {state: {north: 100}}}\n",
			`have 120 rows of state "north"`,
		},
		{
			policyText, old + "{state: {north: 120}}}\n  - {name: all, from: people, rows: [county], totals: {county: {c1: 60, c2: 50}}}\n",
			`at most 110`,
		},
		{
			policyText, old + "{county: {c1: 120}}}\n  - {name: all, from: people, rows: [state], totals: {state: {north: 100}}}\n",
			`120 rows of county "c1"`,
		},
		{declared, old + "{state: {north: 300, south: 310}}}\n", `610 rows of country "country", and those without it at most 600`},
		{declared, old + "{state: {north: 300, south: 290}}}\n", ""},
		{
			strings.Replace(declared, "{'*': 600}", "{'*': 600, county: {c1: 86}}", 1), old + "{county: {c2: 515}}}\n",
			`515 rows of county "c2", and those without it at most 514`,
		},
		{strings.Replace(declared, "{'*': 600}", "{'*': 600, county: {c1: 86}}", 1), old + "{county: {c2: 514}}}\n", ""},
		{policyText, old + "{state: {north: 100}}}\n  - {name: all, from: people, rows: [state], totals: {state: {north: 100}}}\n", ""},
		// rows of an unknown sex are missing from these totals
		{policyText, old + "{state: {north: 120}}}\n  - {name: all, from: people, rows: [state], columns: [sex], " +
			"totals: {state: {north: 100}}}\n", ""},
		{policyText, old + "{state: {north: 120}}}\n  - {name: young, from: people, where: age < 50, rows: [state], " +
			"totals: {state: {north: 100}}}\n", ""},
	} {
		_, err := tabulate.Explain(t.Context(), sessionWith(t, c.policy, "rho: 3, delta: 1e-6"), parse(t, head+"tables:\n"+c.tables), "")
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s%v, want %q", c.tables, err, c.says)
		}
	}
}

// Declared totals of tables over two hierarchies of one column agree.
func TestTotalsOverTwoHierarchiesAreCompared(t *testing.T) {
	head, _, _ := strings.Cut(specText, "tables:\n")
	head += "  region:\n    key: county\n    levels: [district, half]\n    total: nation\n    places: {upper: [c1, c2, c3], lower: [c4, c5, c6]}\n"
	const a, b = "  - {name: a, from: people, rows: [county, state, country], totals: ", "  - {name: b, from: people, rows: [district, half, nation], totals: "
	for _, c := range []struct{ first, second, says string }{
		{"{country: {country: 600}}", "{nation: {nation: 500}}", "500 rows in all over region, and 600 over place"},
		{"{county: {c1: 86}}", "{district: {c1: 85}}", `85 rows of county "c1" over region, and 86 over place`},
		{"{county: {c1: 86}}", "{nation: {nation: 80}}", "add up to 86 rows, and those of all rows to 80"},
		{"{county: {c1: 86, c2: 5}}", "{district: {c1: 86}, nation: {nation: 91}}", ""},
	} {
		spec := head + "tables:\n" + a + c.first + "}\n" + b + c.second + "}\n"
		_, err := tabulate.Explain(t.Context(), sessionWith(t, policyText, "rho: 3, delta: 1e-6"), parse(t, spec), "")
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s, %s: %v, want %q", c.first, c.second, err, c.says)
		}
	}
}
