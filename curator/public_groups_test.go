package curator

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const publicGroupsPolicy = `
version: 1
population: {name: x}
budget: {epsilon: 300}
price: {default: 20}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns: {region: {type: text, nullable: true}, home: {type: text, values: [north, south, east, west]}, age: {type: integer, bounds: [0, 115]}}
  regions: {public: true, source: {csv: regions.csv}, columns: {region: {type: text, nullable: true}, inhabitants: {type: integer}}}
`

// The groups of PUBLIC_GROUPS may come from any public table: they are the values of its newest sealed version, whatever
// the policy declares of the column that is grouped. Rows with other values, or none, are in no group.
func TestPublicGroupsOfAnyPublicTable(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", publicGroupsPolicy)
	write(t, home, "people.csv", "region,home,age\nnorth,north,30\nnorth,north,40\nsouth,south,50\nnowhere,east,60\n,west,61\n")
	write(t, home, "regions.csv", "region,inhabitants\nwest,1\nsouth,3\nnorth,2\nsouth,4\n,5\n")
	c := openHome(t, home)
	seal := func(table string) {
		t.Helper()
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	by := func(column string) Question {
		return Question{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) r.region, COUNT(*) AS n " +
			"FROM people RIGHT JOIN (SELECT DISTINCT region FROM regions) r ON people." + column + " = r.region GROUP BY r.region"}
	}
	answer := func(column string) (keys []string, r *Release) {
		t.Helper()
		r, err := c.Answer(t.Context(), by(column))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			keys = append(keys, row[0].Key.(string))
		}
		return keys, r
	}
	seal("people")
	if _, err := c.Answer(t.Context(), by("region")); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "regions.region") {
		t.Errorf("before it is sealed: %v", err)
	}
	seal("regions")
	for column, counts := range map[string][]float64{"region": {2, 1, 0}, "home": {2, 1, 1}} {
		keys, first := answer(column)
		if !slices.Equal(keys, []string{"north", "south", "west"}) {
			t.Fatalf("%s: groups %v", column, keys)
		}
		for i, n := range counts {
			if got := first.Rows[i][1].Estimate.Value.Real; got < n-3 || got > n+3 { // 60 times 1/ε away, e⁻⁶⁰
				t.Errorf("%s, %s: %v", column, keys[i], got)
			}
		}
		if _, again := answer(column); !again.Replayed {
			t.Error("not replayed")
		}
	}
	write(t, home, "regions.csv", "region,inhabitants\nwest,1\neast,3\n")
	seal("regions")
	keys, second := answer("home")
	if second.Replayed || !slices.Equal(keys, []string{"east", "west"}) {
		t.Errorf("after another version: %v, %v", keys, second.Replayed)
	}
	write(t, home, "regions.csv", "region,inhabitants\nwest,1\nutopia,3\n")
	seal("regions")
	if _, err := c.Answer(t.Context(), by("home")); codeOf(err) != CodePolicy && err == nil || !strings.Contains(err.Error(), "'utopia'") {
		t.Errorf("a public value that the column cannot have: %v", err)
	}
	if keys, third := answer("region"); third.Replayed || !slices.Equal(keys, []string{"utopia", "west"}) {
		t.Errorf("a text without declared values: %v", keys)
	}
}
