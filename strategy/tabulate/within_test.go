package tabulate_test

import (
	"strings"
	"testing"

	"dither/strategy/tabulate"
)

// A declared total of a table with a condition is at most that of the same rows without it, whoever declares which. Only
// totals that must agree are compared.
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
