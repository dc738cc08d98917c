package curator

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/engine/postgres/pgtest"
)

// Of a table that is read where it is, a unit's rows have no sealed rank: which of them count is decided by the columns that a question reads. So
// an answer follows from an earlier one about units only where both read the same columns, however they are written; of a copy it does from any.
func TestLiveFollowsByTheSameColumns(t *testing.T) {
	owner := pgtest.Start(t).Database(t)
	pgtest.Exec(t, owner, `CREATE SCHEMA clinic; CREATE TABLE clinic.visits(person int, ward text, kind int);
	 INSERT INTO clinic.visits SELECT i / 4, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, i % 4 / 2 FROM generate_series(0, 3999) AS i`)
	t.Setenv("DITHER_TEST_CLINIC", owner)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	policy, _, _ := strings.Cut(livePolicy, "    rows_per_unit")
	c := openHome(t, initHome(t, policy+`    rows_per_unit: 1
    columns: {person: {type: integer}, ward: {type: text, values: [a, b], nullable: true}, kind: {type: integer, bounds: [0, 1], nullable: true}}
`))
	ask := func(sql string) *Release {
		t.Helper()
		a, err := c.Answer(t.Context(), Question{SQL: sql})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return a
	}
	for _, copied := range []bool{false, true} {
		options := SealOptions{}
		if copied {
			options.Copy = "clinic"
		}
		if _, err := c.Seal(t.Context(), "visits", options); err != nil {
			t.Fatal(err)
		}
		fine := ask("SELECT ward, kind, COUNT(*), SUM(kind) FROM visits GROUP BY ward, kind")
		if a := ask("SELECT kind, ward, COUNT(*) FROM (SELECT person, ward, kind FROM visits) v GROUP BY kind, ward"); !a.Replayed {
			t.Errorf("copied %t: the same columns, and it does not follow from %s", copied, fine.ID)
		}
		if a := ask("SELECT ward, COUNT(*) FROM visits GROUP BY ward"); a.Replayed != copied {
			t.Errorf("copied %t: fewer columns: follows %t: %s", copied, a.Replayed, fmt.Sprint(a.Rows))
		}
	}
}
