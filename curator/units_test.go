package curator

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/plan"
)

const unitsPolicy = `
version: 1
population: {name: test, neighbours: change-one}
budget: {epsilon: 100}
price: {default: 1, maximum: 50}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    units: 4
    columns:
      id: {type: integer}
      age: {type: integer, bounds: [0, 100]}
      height: {type: real, bounds: [50, 250]}
      grade: {type: integer, values: [1, 2, 3]}
`

const fourPeople = "id,age,height,grade\n1,30,170.5,1\n2,40,160,2\n3,130,1e300,3\n4,-5,180,1\n"

// The declared number of units is checked against every version that is sealed, before a question can read it. Questions
// never read a version that was sealed under another number.
func TestDeclaredUnits(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := t.TempDir() + "/home"
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", unitsPolicy)
	seals := func(policy, people, want string) *Owner {
		t.Helper()
		write(t, home, "policy.yaml", policy)
		write(t, home, "people.csv", people)
		c := openHome(t, home)
		_, err := c.Seal(t.Context(), "people", SealOptions{})
		if want == "" && err != nil || want != "" && (codeOf(err) != CodeSource || !strings.Contains(err.Error(), want)) {
			t.Fatalf("sealing: %v, want %q", err, want)
		}
		return c
	}
	further := fourPeople + "5,50,150,2\n"
	seals(unitsPolicy, further, "the policy declares 4 units, and there are 5")
	seals(unitsPolicy, strings.Replace(fourPeople, "160", "NaN", 1), `column "height" is not declared nullable, and has 1 values`)
	seals(unitsPolicy, strings.Replace(fourPeople, ",2\n", ",7\n", 1), `column "grade" is not declared nullable, and has 1 values`)
	c := seals(unitsPolicy, fourPeople, "")

	r, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people"})
	if err != nil || !r.Free || r.Rows[0][0].Key != int64(4) || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "declares") {
		t.Fatalf("%+v, %v", r, err)
	}
	e, err := c.Explain(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people"})
	if err != nil || !e.Free || e.DeclaredUnits != 4 || len(e.Notes) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	r, err = c.Answer(t.Context(), Question{SQL: "SELECT COUNT(height) + COUNT(grade) FROM people"})
	if err != nil || !r.Free || r.Rows[0][0].Key != float64(8) {
		t.Errorf("COUNT of columns that are never NULL: %+v, %v", r, err)
	}
	averages := Question{SQL: "SELECT COUNT(*) AS n, AVG(age), AVG(grade) AS grade FROM people", Epsilon: "40"}
	r, err = c.Answer(t.Context(), averages)
	if err != nil || r.Columns[0].Mechanism != Constant || r.Columns[1].Mechanism != Derived || len(r.Notes) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	// the exact average of 30, 40, 100 and 0 is 42.5, and the noise has scale 100/20/4
	if x := r.Rows[0][1].Estimate; x.Value.Real < 0 || x.Low.Real < 42.5-40 || x.High.Real > 42.5+40 || x.StdDev == nil {
		t.Errorf("AVG is %+v", x)
	}
	if again, err := c.Answer(t.Context(), averages); err != nil || !again.Replayed || again.ID != r.ID {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	m := must[*Measurements](t)(c.Measured(r.ID, ""))
	some := must[*Measurements](t)(c.Measure(t.Context(), Question{SQL: "SELECT AVG(age) FROM people WHERE grade = 1", Epsilon: "1"}))
	if len(m.Vectors) != 2 || m.Vectors[0].Rows != 4 || m.Vectors[1].Rows != 4 || some.Vectors[0].Rows != 0 || some.Vectors[1].Rows != 0 {
		t.Errorf("rows of sums: %+v, of a condition: %+v", m.Vectors, some.Vectors)
	}
	counted := averages
	counted.SQL = "SELECT AVG(age), COUNT(age) AS n, AVG(grade) AS grade FROM people"
	if again, err := c.Answer(t.Context(), counted); err != nil || again.ID != r.ID || again.Rows[0][1].Estimate.Value.Real != 4 {
		t.Errorf("with COUNT(age): %+v, %v", again, err)
	}

	// another number of rows cannot be sealed, so that the version stays
	seals(unitsPolicy, further, "the policy declares 4 units, and there are 5")
	c = openHome(t, home)
	if again, err := c.Answer(t.Context(), averages); err != nil || !again.Replayed {
		t.Errorf("after a refused sealing: %+v, %v", again, err)
	}
	// another declaration makes the sealed version stale, whatever its rows
	for _, edit := range [][2]string{
		{"units: 4", "units: 5"}, {"    units: 4\n", ""}, {"values: [1, 2, 3]", "values: [1, 2]"},
	} {
		write(t, home, "policy.yaml", strings.Replace(unitsPolicy, edit[0], edit[1], 1))
		c = openHome(t, home)
		if _, err := c.Answer(t.Context(), Question{SQL: "SELECT AVG(age) FROM people"}); codeOf(err) != CodeStale {
			t.Errorf("%v: %v", edit, err)
		}
	}
	c = seals(strings.Replace(unitsPolicy, "units: 4", "units: 5", 1), further, "")
	if r, err := c.Answer(t.Context(), averages); err != nil || r.Replayed || fmt.Sprint(r.Rows[0][0].Estimate.Value) != "5" {
		t.Errorf("under another number: %+v, %v", r, err)
	}
}

// Past answers about another table of persons forbid the number of persons.
func TestUnitsAfterPersons(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := t.TempDir() + "/home"
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	alone := strings.NewReplacer("unit: row", "unit: id\n    rows_per_unit: 1").Replace(unitsPolicy)
	write(t, home, "policy.yaml", strings.Replace(alone, "    units: 4\n", "", 1)+`
  visits:
    source: {csv: visits.csv}
    unit: id
    rows_per_unit: 2
    columns: {id: {type: integer}}
`)
	write(t, home, "people.csv", fourPeople)
	write(t, home, "visits.csv", "id\n1\n7\n")
	c := openHome(t, home)
	for _, table := range []string{"people", "visits"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits"}); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", alone)
	c = openHome(t, home)
	if _, err := c.AcceptPolicy(t.Context(), false); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "past answers may have read table visits") {
		t.Errorf("accepted: %v", err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT AVG(age) FROM people"}); codeOf(err) != CodePolicy {
		t.Errorf("answered: %v", err)
	}
}

// A release that measured a count of all rows, as earlier versions did, is replayed, and its vectors are found by its name.
// Alone, such a count is free.
func TestMeasuredCountsAreReplayed(t *testing.T) {
	c := unitsHome(t)
	for _, sql := range []string{
		"SELECT COUNT(age), AVG(age) FROM people", "SELECT REGR_COUNT(age, height), AVG(grade) AS g, COUNT(*) FROM people",
		"SELECT REGR_SLOPE(height, age), REGR_COUNT(height, age) FROM people", "SELECT COUNT(grade) FROM people",
		"SELECT REGR_COUNT(grade, age) * 2 FROM people",
	} {
		q := Question{SQL: sql}
		before := q
		before.counts = plan.CountsMeasured
		old := must[*Release](t)(c.Answer(t.Context(), before))
		if m, err := c.Measured(old.ID, ""); err != nil || m.ID != old.ID {
			t.Errorf("%s: %v", sql, err)
		}
		for _, c := range []*Owner{c, openHome(t, c.home)} {
			again := must[*Release](t)(c.Answer(t.Context(), q))
			if !again.Free && (!again.Replayed || again.ID != old.ID || !sameRows(again, old)) {
				t.Errorf("%s: %s is not replayed, but %s", sql, old.ID, again.ID)
			}
			if e := must[*Explanation](t)(c.Explain(t.Context(), q)); !e.Replayed && !e.Free {
				t.Errorf("%s: explain says that it is paid again", sql)
			}
		}
		afresh := q
		afresh.Fresh = true
		now := must[*Release](t)(c.Answer(t.Context(), afresh))
		if again := must[*Release](t)(c.Answer(t.Context(), q)); !now.Free && (now.ID == old.ID || again.ID != now.ID) {
			t.Errorf("%s: the question's own release %s is not replayed, but %s", sql, now.ID, again.ID)
		}
	}
	// AVG(age) follows from the first release, which measured COUNT(age) too
	c = unitsHome(t)
	old := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT COUNT(age), AVG(age) FROM people", counts: plan.CountsMeasured}))
	if r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT AVG(age) FROM people"})); fmt.Sprint(r.From) != "["+old.ID+"]" {
		t.Errorf("AVG(age) does not follow from %s: %+v", old.ID, r)
	}
}
