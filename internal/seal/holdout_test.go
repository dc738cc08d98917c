package seal

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

// heldOut adds a column that holds a share of units out, at a place among the columns.
func heldOut(t *policy.Table, at int, share *big.Rat) *policy.Table {
	out := *t
	out.Columns = append(append(append([]*policy.Column{}, t.Columns[:at]...), &policy.Column{
		Name: "held_out", Type: value.Boolean, Invalid: policy.InvalidRefused, Holdout: share,
	}), t.Columns[at:]...)
	return &out
}

// sealedRows seals a table and returns its rows.
func sealedRows(t *testing.T, w world, home string, table *policy.Table) (rows [][]string) {
	t.Helper()
	v, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(v.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var row []string
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// All rows of a unit are held out, or none: in each table, wherever the column is, and in whatever order the rows are.
// The share is the declared one: with 2,000 units it is exceeded by 0.05 with probability below 1e-5. Other units' rows
// do not matter.
func TestHoldoutIsByUnit(t *testing.T) {
	w := newWorld(t)
	home := w.home("home")
	var forward, backward string
	for i := range 4000 {
		row := fmt.Sprintf("%d,c%d\n", i/2, i)
		forward, backward = forward+row, row+backward
	}
	held := map[string]string{}
	for i, text := range []string{"id,city\n" + forward, "id,city\n" + backward, "id,city\n" + forward[:2000]} {
		table := people(w.write(fmt.Sprintf("people%d.csv", i), text))
		table.Name = fmt.Sprint("people", i)
		at := i % 3
		count := 0
		for _, row := range sealedRows(t, w, home, heldOut(table, at, big.NewRat(1, 4))) {
			id := row[0]
			if at == 0 {
				id = row[1]
			}
			if before, known := held[id]; known && before != row[at] {
				t.Fatalf("table %d: unit %s is held out: %s, and %s before", i, id, row[at], before)
			}
			if held[id] = row[at]; row[at] == "true" {
				count++
			}
		}
		if share := float64(count) / 4000; i < 2 && math.Abs(share-0.25) > 0.05 {
			t.Errorf("%v of the rows are held out", share)
		}
	}
	key, err := os.ReadFile(filepath.Join(home, HoldoutKey))
	if err != nil || len(key) != 64 {
		t.Fatalf("the key is %q (%v)", key, err)
	}
	if info, err := os.Stat(filepath.Join(home, HoldoutKey)); err != nil || info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
	// another home has another key, and holds out other units
	other := w.home("other")
	table := people(w.write("again.csv", "id,city\n"+forward))
	same := 0
	for _, row := range sealedRows(t, w, other, heldOut(table, 2, big.NewRat(1, 2))) {
		if row[2] == held[row[0]] {
			same++
		}
	}
	if same < 1500 || same > 2500 {
		t.Errorf("%d of 4000 rows are held out in both homes, or in neither", same)
	}
}

// If each row is a unit, equal rows are held out together, and NULL differs from every text.
func TestHoldoutOfRows(t *testing.T) {
	w := newWorld(t)
	home := w.home("home")
	text := "id,city\n"
	for i := range 1000 {
		text += fmt.Sprintf("%d,x\n", i%500)
	}
	table := people(w.write("rows.csv", text))
	table.Unit = policy.Unit{RowsPerUnit: 1, MaxGroups: 1, RowsPerGroup: 1}
	held, count := map[string]string{}, 0
	for _, row := range sealedRows(t, w, home, heldOut(table, 1, big.NewRat(1, 2))) {
		if before, known := held[row[0]]; known && before != row[1] {
			t.Fatalf("row %s is held out: %s, and %s before", row[0], row[1], before)
		}
		if held[row[0]] = row[1]; row[1] == "true" {
			count++
		}
	}
	if count < 300 || count > 700 {
		t.Errorf("%d of 1000 rows are held out", count)
	}
	null, empty := value.NullOf(value.Text), value.Value{Type: value.Text}
	if string(encoded(&null)) == string(encoded(&empty)) {
		t.Error("NULL is an empty text")
	}
}

// A damaged key is an error, and is never replaced. Another share makes another version. A source that has the column
// of its own keeps it out.
func TestHoldoutKeyIsKept(t *testing.T) {
	w := newWorld(t)
	home := w.home("home")
	table := people(w.write("people.csv", "id,city,held_out\n1,Oslo,true\n2,Rome,true\n3,Rome,true\n4,Rome,true\n5,Rome,true\n6,Rome,true\n"))
	all := ""
	for _, row := range sealedRows(t, w, home, heldOut(table, 2, big.NewRat(1, 1000000))) {
		all += row[2]
	}
	if strings.Contains(all, "true") { // with probability 6e-6 for a right program
		t.Error("the source decides: ", all)
	}
	for _, row := range sealedRows(t, w, home, heldOut(table, 2, big.NewRat(1, 1))) {
		if row[2] != "true" {
			t.Error("a share of 100 % holds out: ", row)
		}
	}
	w.write("home/"+HoldoutKey, "damaged")
	_, _, err := Seal(t.Context(), home, heldOut(table, 2, big.NewRat(1, 3)), &fake{}, w.options("L"))
	wantError(t, err, HoldoutKey, "damaged")
	if text, err := os.ReadFile(filepath.Join(home, HoldoutKey)); err != nil || string(text) != "damaged" {
		t.Errorf("%q (%v)", text, err)
	}
}
