package tabulate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/curator"
	"dither/strategy/tabulate"
)

// TestPlacesOfAPublicTable takes a hierarchy from the columns of a sealed public table, from which the private table's
// column has its values too. A table whose levels do not nest is refused with the first values that do not, a private
// table is never read, and nothing is paid for the places.
func TestPlacesOfAPublicTable(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	var rows strings.Builder
	for i := range 400 {
		fmt.Fprintf(&rows, "c%d\n", i%4+1)
	}
	err := errors.Join(
		curator.Init(home),
		os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(`
version: 1
population: {name: town}
budget: {rho: 3, delta: 1e-6}
tables:
  places:
    source: {csv: places.csv}
    public: true
    columns: {county: {type: text}, state: {type: text}, river: {type: text}, number: {type: integer}}
  people:
    source: {csv: people.csv}
    unit: row
    columns: {county: {type: text, values_from: places.county}}
`), 0o600),
		os.WriteFile(filepath.Join(home, "places.csv"),
			[]byte("county,state,river,number\nc1,north,Elbe,1\nc2,north,Elbe,2\nc3,south,Elbe,3\nc4,south,Inn,4\n"), 0o600),
		os.WriteFile(filepath.Join(home, "people.csv"), []byte("county\n"+rows.String()), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := owner.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"places", "people"} {
		if _, err := owner.Seal(context.Background(), name, curator.SealOptions{StateHome: dir}); err != nil {
			t.Fatal(err)
		}
	}
	c := owner.Session()
	spec := func(table, levels string) *tabulate.Spec {
		return parse(t, `
version: 1
price: {rho: 1}
hierarchies: {place: {key: county, table: `+table+`, levels: [`+levels+`], total: country}}
tables: [{name: residents, from: people, rows: [county, state, country]}]
`)
	}
	r, err := tabulate.Tabulate(t.Context(), c, spec("places", "county, state"), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, cell := range r.Tables[0].Cells {
		got = append(got, cell.Place)
	}
	if text := strings.Join(got, " "); text != "c1 c2 c3 c4 north south country" || r.Remaining.Rho != "2" {
		t.Errorf("the places are %s; %s remain", text, r.Remaining)
	}
	for _, bad := range []struct{ table, levels, want string }{
		{"places", "county, state, river", `do not nest: "south" is in "Elbe" and in "Inn"`},
		{"places", "county, state, lake", "the table places has no column lake"},
		{"people", "county, state", "the policy has none named people"},
		{"nothing", "county, state", "the policy has none named nothing"},
	} {
		_, err := tabulate.Explain(t.Context(), c, spec(bad.table, bad.levels), "")
		if e := (*curator.Error)(nil); !errors.As(err, &e) || e.Code != curator.CodeUsage || !strings.Contains(e.Message, bad.want) {
			t.Errorf("%s: %v", bad.want, err)
		}
	}
	if b, err := c.Budget(); err != nil || b.Remaining.Rho != "2" {
		t.Errorf("%v remain: %v", b, err)
	}
}
