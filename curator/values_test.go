package curator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const valuesFromPolicy = `
version: 1
population: {name: x}
budget: {epsilon: 300}
price: {default: 20}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns: {region: {type: text, values_from: regions.region}, age: {type: integer, bounds: [0, 115]}}
  regions: {public: true, source: {csv: regions.csv}, columns: {region: {type: text, nullable: true}, inhabitants: {type: integer}}}
`

// Groups from a public table are those of its sealed version: each is answered, whoever is in it; another version is another
// question; and without one the column cannot be used.
func TestValuesFromPublicTable(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", valuesFromPolicy)
	write(t, home, "people.csv", "region,age\nnorth,30\nnorth,40\nsouth,50\nnowhere,60\n")
	write(t, home, "regions.csv", "region,inhabitants\nwest,1\nsouth,3\nnorth,2\nsouth,4\n,5\n")
	c := openHome(t, home)
	seal := func(table string) {
		t.Helper()
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const sql = "SELECT region, COUNT(*) FROM people GROUP BY region"
	answer := func() (keys []string, r *Release) {
		t.Helper()
		r, err := c.Answer(t.Context(), Question{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			keys = append(keys, row[0].Key.(string))
		}
		return keys, r
	}
	seal("people")
	if _, err := c.Answer(t.Context(), Question{SQL: sql}); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "regions.region") {
		t.Errorf("before it is sealed: %v", err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT AVG(age) FROM people"}); err != nil {
		t.Errorf("a question that does not need it: %v", err)
	}
	seal("regions")
	keys, first := answer()
	if want := []string{"north", "south", "west"}; !slices.Equal(keys, want) {
		t.Errorf("groups %v, want %v", keys, want)
	}
	for i, n := range []float64{2, 1, 0} {
		if got := first.Rows[i][1].Estimate.Value.Real; got < n-3 || got > n+3 { // 20 times 1/ε away, e⁻⁶⁰
			t.Errorf("%s: %v", keys[i], got)
		}
	}
	if _, again := answer(); !again.Replayed {
		t.Error("not replayed")
	}
	const public = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) region, COUNT(*) FROM people RIGHT JOIN (SELECT DISTINCT region FROM regions) USING (region) GROUP BY region"
	if r, err := c.Answer(t.Context(), Question{SQL: public}); err != nil || !r.Replayed || len(r.Rows) != 3 {
		t.Errorf("as GoogleSQL writes it, it is not the same question: %v", err)
	}
	if e, err := c.Explain(t.Context(), Question{SQL: sql, Within: "50%"}); err != nil || !strings.Contains(strings.Join(e.Notes, ""), first.ID) {
		t.Errorf("an accuracy is found from %s: %v", first.ID, err)
	}
	tables, err := c.Tables()
	if err != nil || !slices.Equal(tables[0].Columns[0].Values, keys) || tables[0].Columns[0].ValuesFrom != "regions.region" {
		t.Errorf("%+v, %v", tables, err)
	}
	write(t, home, "regions.csv", "region,inhabitants\nwest,1\neast,3\n")
	seal("regions")
	if keys, second := answer(); second.Replayed || !slices.Equal(keys, []string{"east", "west"}) {
		t.Errorf("after another version: %v, %v", keys, second.Replayed)
	}
	write(t, home, "regions.csv", "region,inhabitants\nwest,1\neast,4\n") // the same values, another version
	seal("regions")
	if _, third := answer(); third.Replayed {
		t.Error("an answer under another version was replayed")
	}
	*inside(c).Engine = failing{}
	inside(c).ForgetValues()
	files, err := filepath.Glob(filepath.Join(home, "sealed", "*", "*.values-*.json"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Answer(t.Context(), Question{SQL: sql}); codeOf(err) != CodePolicy || strings.Contains(err.Error(), "Alice") {
		t.Errorf("an engine that fails: %v", err)
	}
}
