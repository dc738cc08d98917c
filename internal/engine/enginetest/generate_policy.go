package enginetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/policy"
)

// RandomWorld draws a policy over the tables of Policy or of RelationPolicy. Units are integers, texts or dates,
// have 1 to 12 rows, and are bounded by rows or by groups. All or few of their rows are stored. The neighbouring
// relation is add-remove or change-one, under which the number of rows of t may be declared. The budget is pure ε or ρ. Some columns take their values from a public
// table. If parts is set, tables that are not read in place have parts.
func RandomWorld(t *rapid.T, parts bool) World {
	g := generator{t}
	number := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	w := World{Change: g.chance(2), Relation: g.chance(2), Inexact: true}
	neighbours := "add-remove"
	if w.Change {
		neighbours = "change-one"
	}
	rows := number("rows per unit", 1, 12)
	grouped := fmt.Sprint(number("rows per group", 1, rows))
	if g.chance(2) {
		grouped = "1"
	}
	// stored returns the keys of the policy that bound a unit's stored rows: as many as may count, up to two more,
	// or all
	stored := func(rows int) string {
		if g.chance(2) {
			return fmt.Sprintf("rows_per_unit: %d", rows)
		}
		return fmt.Sprintf("rows_per_unit: %d, stored_rows_per_unit: %d", rows, rows+number("stored beside", 0, 2))
	}
	bounds := fmt.Sprintf("%s, max_groups: %d", stored(rows), number("groups", 1, rows))
	unit := g.pick("integer", "text", "date")
	from := g.chance(3) // whether a column has values_from
	big := g.pick("1000000000000", "300000000000000001")
	edit := []string{
		"bounds: [0, 1000000000000]", "bounds: [0, " + big + "]",
		"rows_per_unit: 3, max_groups: 2", bounds,
		"person: {type: integer", "person: {type: " + unit,
	}
	if w.Change && !w.Relation && g.chance(2) { // RandomTwins has no more rows of t
		edit = append(edit, "unit: row,", "unit: row, units: 10,")
	}
	if w.Relation {
		w.Text = relationPolicyText(neighbours, grouped)
		edit = append(
			edit,
			"rows_per_unit: 2, columns: {who: {type: integer",
			stored(number("visits", 1, 4))+", columns: {who: {type: "+unit,
			"rows_per_unit: 4, columns: {parent",
			stored(number("lines", 1, 9))+", columns: {parent",
			"rows_per_unit: 2, max_groups: 1, columns: {up",
			stored(number("further lines", 1, 3))+", max_groups: 1, columns: {up",
		)
		if from {
			edit = append(edit, `s: {type: text, values: [a, B, ""], nullable: true}`,
				"s: {type: text, values_from: r.rs, nullable: true}")
		}
	} else {
		w.Text = policyText(neighbours, grouped, fmt.Sprint(number("parts", 1, 2)))
		if !parts {
			edit = append(edit, " part: {column: k},", "", " part: {column: k, per_unit: 1},", "",
				" part: {column: k, per_unit: 2},", "")
		}
		if from {
			edit = append(
				edit,
				`s: {type: text, values: [a, B, "it's", ""], nullable: true}`,
				"s: {type: text, values_from: r.rs, nullable: true}",
				"tables:",
				"tables:\n  r: {source: {csv: r.csv}, public: true, columns: {rs: {type: text, values: [a, B, "+
					"\"it's\", \"\"], nullable: true}}}",
			)
		}
	}
	w.Text = []byte(strings.NewReplacer(edit...).Replace(string(w.Text)))
	if !g.chance(4) {
		w.Text = opened(w.Text)
	}
	var err error
	if w.Policy, err = policy.Decode(w.Text, "."); err != nil {
		t.Fatalf("%v\n%s", err, w.Text)
	}
	return w
}
