package synth

import (
	"strings"
	"testing"

	"dither/curator"
)

// Keys have fresh values within their bounds, each once, in their places among the columns. The same measurements serve
// with and without them.
func TestKeysAreUnique(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 5, 50)
	r := Request{Table: "people", Method: Independent, Rho: "1", Rows: 300}
	plain, err := Synthesize(t.Context(), c.Session(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Keys = []string{"note", "id"}
	keyed, err := Synthesize(t.Context(), c.Session(), r)
	if err != nil || !keyed.Replayed || len(keyed.Plan.Omitted) != 0 {
		t.Fatalf("%+v (%v)", keyed, err)
	}
	header, rows := rowsOf(t, keyed)
	if got := strings.Join(header, ","); got != "id,job,married,age,size,note" {
		t.Error(got)
	}
	seen := map[string]bool{}
	for i, row := range drawn(t, plain) {
		if got := strings.Join(rows[i][1:5], ","); got != strings.Join(row, ",") {
			t.Fatalf("row %d is %s instead of %v", i, got, row)
		}
		for _, key := range []string{rows[i][0], rows[i][5]} {
			if seen[key] || key == "" {
				t.Fatalf("the key %q occurs twice", key)
			}
			seen[key] = true
		}
	}
	table := &curator.Table{Columns: []curator.TableColumn{{Name: "k", Type: "integer", Lower: "-3", Upper: "4"}, {Name: "far", Type: "integer", Lower: "70", Upper: "99"}}}
	keys, err := keysOfTable(table, []string{"k", "far"})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		key  int
		row  int64
		want string
	}{{0, 0, "1"}, {0, 3, "4"}, {0, 4, ""}, {1, 0, "70"}, {1, 29, "99"}, {1, 30, ""}} {
		got, err := keys[of.key].fresh(of.row)
		if got != of.want || (err != nil) != (of.want == "") {
			t.Errorf("row %d of %s has %q (%v) instead of %q", of.row, keys[of.key].Name, got, err, of.want)
		}
	}
	for _, bad := range [][]string{{"nobody"}, {"id", "id"}, {"job"}, {"age"}, {"married"}} {
		r.Keys = bad
		if _, err := Explain(t.Context(), c.Session(), r); err == nil {
			t.Errorf("%v are keys", bad)
		}
	}
}
