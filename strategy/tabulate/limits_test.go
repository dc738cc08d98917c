package tabulate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"dither/internal/testhome"
	"dither/strategy/tabulate"
)

// TestLimitsAreCheckedBeforePaying asks for tables that are too large to measure, and for tables whose integers are too many
// to round together. Both are refused at no cost. Sums that have nearly no noise are shown, and not too finely to be rounded.
func TestLimitsAreCheckedBeforePaying(t *testing.T) {
	c, _ := testhome.Sealed(t, `
version: 1
population: {name: town}
budget: {epsilon: 1000}
price: {default: 1, maximum: 100}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      a: {type: integer, bounds: [0, 199]}
      b: {type: integer, bounds: [0, 199]}
      c: {type: integer, bounds: [0, 199]}
      many: {type: integer, bounds: [0, 9999]}
      more: {type: integer, bounds: [0, 9999]}
      n: {type: integer, bounds: [0, 1]}
`, "people", map[string]string{"people.csv": "a,b,c,many,more,n\n" + strings.Repeat("1,2,3,4,5,1\n", 3000)})
	for tables, says := range map[string]string{
		"{name: x, from: people, columns: [many, more]}": "table x has more than 1048576 cells",
		"{name: x, from: people, columns: [a, b]}\n  - {name: y, from: people, columns: [b, c]}\n" +
			"  - {name: z, from: people, columns: [a, c]}": "8000000 cells over all their classifications",
	} {
		s := parse(t, "version: 1\nprice: {epsilon: 10}\ntables:\n  - "+tables+"\n")
		if _, err := tabulate.Tabulate(t.Context(), c, s, ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", tables, err, says)
		}
	}
	var places strings.Builder
	for i := range 300 {
		fmt.Fprintf(&places, "p%d: [%d..%d], ", i, i*33, i*33+32)
	}
	s := parse(t, "version: 1\nprice: {epsilon: 10}\nhierarchies: {h: {key: many, levels: [fine, coarse], places: {"+places.String()+
		"p300: [9900..9999]}}}\ntables:\n  - {name: x, from: people, columns: [fine]}\n  - {name: y, from: people, columns: [coarse]}\n")
	if _, err := tabulate.Tabulate(t.Context(), c, s, ""); err == nil || !strings.Contains(err.Error(), "have 301 combinations") {
		t.Errorf("many values of two levels in columns: %v", err)
	}
	b, err := c.Budget()
	if err != nil || b.Answers != 0 {
		t.Errorf("%d answers are paid for (%v)", b.Answers, err)
	}
	s = parse(t, "version: 1\nprice: {epsilon: 50}\ntables:\n  - {name: x, from: people, measure: {sum: n}}\n")
	r, err := tabulate.Tabulate(t.Context(), c, s, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Tables[0].Cells[0].Text(); got != "3000" {
		t.Errorf("the sum is %s", got)
	}
	s.Confidence = "0.99999999999999999999"
	if _, err = tabulate.Explain(t.Context(), c, s, ""); err == nil || !strings.Contains(err.Error(), "at most 1 − 10⁻¹²") {
		t.Errorf("at a confidence near 1, where margins would be infinite: %v", err)
	}
}

// TestManyPlacesAreRefused parses a short text whose ranges of whole numbers have 15 million places. It is refused once more
// places are read than a hierarchy may have: the text would else take gigabytes.
func TestManyPlacesAreRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nprice: {rho: 1}\nhierarchies:\n  h:\n    key: k\n    levels: [a, b]\n    places:\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "      s%d: [%d..%d]\n", i, i*10_000, i*10_000+9_999)
	}
	b.WriteString("tables: [{name: x, from: people, rows: [a]}]\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := tabulate.Parse([]byte(b.String()), nil)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than 200000 places") {
		t.Errorf("%v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 500<<20 {
		t.Errorf("%d MiB are allocated", took>>20)
	}
}
