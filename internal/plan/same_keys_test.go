package plan_test

import (
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
)

// relationKeys returns a function from a question about the tables of relations to its canonical text, or to its refusal.
func relationKeys(t *testing.T) func(sql string) (string, error) {
	t.Helper()
	p, err := policy.Decode(enginetest.RelationPolicy("add-remove", false), ".")
	if err != nil {
		t.Fatal(err)
	}
	return func(sql string) (string, error) {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			return "", err
		}
		return q.Canonical(1, 1, 1), nil
	}
}

// sameKeys checks that each question has the canonical text of another one.
func sameKeys(t *testing.T, key func(sql string) (string, error), questions map[string]string) {
	t.Helper()
	for sql, same := range questions {
		got, err := key(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		want, err := key(same)
		if err != nil {
			t.Fatal(same, err)
		}
		if got != want {
			t.Errorf("%s is\n%s, want\n%s", sql, got, want)
		}
	}
}

// The value before IN stands outside the subquery, so its names mean columns of the outer row, even if the subquery has
// columns of the same names.
func TestValuesBeforeInAreOfTheOuterRow(t *testing.T) {
	key := relationKeys(t)
	same := map[string]string{}
	for _, in := range []string{"IN", "NOT IN"} {
		for _, rest := range []string{
			"w.j > v.j", "w.j > v.j AND w.c <> v.c", "w.j > v.j AND (w.c <> v.c OR w.ref = v.ref)",
		} {
			from := " " + in + " (SELECT w.d FROM v w WHERE w.who = v.who AND " + rest + ")"
			same["SELECT COUNT(*) FROM v WHERE d"+from] = "SELECT COUNT(*) FROM v WHERE v.d" + from
		}
	}
	const joined = "SELECT COUNT(*) FROM p JOIN v ON v.who = p.person WHERE v.d IN "
	same[joined+"(SELECT v.d FROM v WHERE v.who = p.person AND v.j > p.i AND v.ref <> p.id)"] =
		joined + "(SELECT w.d FROM v w WHERE w.who = p.person AND w.j > p.i AND w.ref <> p.id)"
	sameKeys(t, key, same)
	// y is a real
	const real = "SELECT COUNT(*) FROM v WHERE y IN (SELECT w.y FROM v w WHERE w.who = v.who AND w.j > v.j)"
	if _, err := key(real); err == nil || !strings.Contains(err.Error(), "a real number cannot link a subquery") {
		t.Errorf("%s: %v", real, err)
	}
}
