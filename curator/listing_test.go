package curator

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A list of declared values is free, leaves no entry, and has the same values whatever the rows are.
func TestListsOfDeclaredValuesAreFree(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session := sealedHome(t, "ferry")
	before, err := session.ledger.State()
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT DISTINCT channel FROM trips ORDER BY channel DESC LIMIT 2":          "",
		"SELECT channel AS c FROM trips WHERE channel LIKE 'zzz%' GROUP BY channel": "no rows",
		"SELECT DISTINCT channel FROM trips WHERE fare > 5":                         "can only concern the listed columns",
		"SELECT DISTINCT passenger FROM trips":                                      "each group would hold one unit only",
		"SELECT DISTINCT channel, cancelled FROM trips":                             "",
		"SELECT DISTINCT channel FROM (SELECT channel FROM trips) q":                "the question has no aggregate",
	} {
		r, err := session.Answer(t.Context(), Question{SQL: sql})
		var e *Error
		switch {
		case err != nil:
			if !errors.As(err, &e) || want == "" || !strings.Contains(e.Message, want) {
				t.Errorf("%s: %v", sql, err)
			}
		case !r.Free || r.ID != "" || (len(r.Rows) == 0) != (want == "no rows"):
			t.Errorf("%s: %+v", sql, r)
		}
	}
	after, err := session.ledger.State()
	if err != nil || fmt.Sprint(before.Spent) != fmt.Sprint(after.Spent) {
		t.Errorf("%v: %v is spent, after %v", err, after.Spent, before.Spent)
	}
}
