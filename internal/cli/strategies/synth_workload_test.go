package strategies

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"dither/strategy/tabulate"
)

// A specification of tabulate has one question for each table, by the keys of its levels. A file of SQL has its
// statements.
func TestWantedOf(t *testing.T) {
	spec := &tabulate.Spec{
		Hierarchies: []tabulate.Hierarchy{{Name: "place", Key: "county", Levels: []string{"county", "state"}, Total: "nation"}},
		Tables: []tabulate.Table{
			{Name: "a", From: "people", Rows: []string{"nation", "state", "county"}, Columns: []string{"sex"}, Weight: big.NewRat(5, 2)},
			{Name: "b", From: "people", Where: "age > 17", Sum: "size"},
		},
	}
	got, err := wantedTables(spec)
	want := "[{SELECT COUNT(*) FROM people GROUP BY county, sex 3 0} {SELECT SUM(size) FROM people WHERE age > 17 1 0}]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "questions.sql")
	for text, want := range map[string]string{
		"SELECT 1; SELECT ';' -- ;\n;": "[{SELECT 1 0 0} {SELECT ';' -- ; 0 0}]",
		" ;\n":                         "",
		"SELECT 'a":                    "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := wantedOf(file)
		if (err != nil) != (want == "") || err == nil && fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, missing := range []string{file + ".no", file + ".yaml"} {
		if _, err := wantedOf(missing); err == nil {
			t.Errorf("%s is read", missing)
		}
	}
}
