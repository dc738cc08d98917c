package plan_test

import (
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
