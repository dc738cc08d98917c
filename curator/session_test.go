package curator

import (
	"reflect"
	"testing"

	"dither/internal/ledger"
)

// A session asks as its analyst, whoever a request names, and pays from their limit; the owner may name anybody.
func TestSessionIsBound(t *testing.T) {
	owner := openHome(t, newHome(t))
	s := owner.For("ann")
	sql := "SELECT COUNT(*) FROM people"
	if _, err := s.Answer(t.Context(), Question{SQL: sql}); err != nil {
		t.Fatal(err)
	}
	var payers []string
	err := owner.ledger.Entries(func(e ledger.Entry) error {
		if r, ok := e.Body.(ledger.Reservation); ok {
			payers = append(payers, r.Analyst)
		}
		return nil
	})
	if err != nil || len(payers) != 1 || payers[0] != "ann" {
		t.Errorf("%v, %v", payers, err)
	}
	for what, err := range map[string]error{
		"answer":  second(s.Answer(t.Context(), Question{SQL: sql, Analyst: "bob"})),
		"explain": second(s.Explain(t.Context(), Question{SQL: sql, Analyst: "bob"})),
		"measure": second(s.Measure(t.Context(), Question{SQL: sql, Analyst: "bob"})),
		"smooth":  second(s.Smooth(t.Context(), Request{SQL: "SELECT age FROM people", Analyst: "bob"})),
		"above":   second(s.Above(t.Context(), Threshold{Table: "people", Threshold: "1", Analyst: "bob"})),
		"train":   second(s.Train(t.Context(), Training{Request: Request{Analyst: "bob"}})),
		"nobody":  second(owner.For("").Answer(t.Context(), Question{SQL: sql, Analyst: "bob"})),
	} {
		if codeOf(err) != CodeAnalyst {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := owner.Answer(t.Context(), Question{SQL: sql, Analyst: "bob"}); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

// A session has none of the owner's verbs.
func TestSessionsHaveNoOwnersVerbs(t *testing.T) {
	var s any = openHome(t, newHome(t)).For("ann")
	if _, ok := s.(interface{ Close() error }); ok {
		t.Error("it closes the home")
	}
	for name, has := range map[string]bool{
		"Seal": hasMethod(s, "Seal"), "AcceptPolicy": hasMethod(s, "AcceptPolicy"), "AcceptPolicyWith": hasMethod(s, "AcceptPolicyWith"),
		"RemoveVersions": hasMethod(s, "RemoveVersions"), "For": hasMethod(s, "For"),
	} {
		if has {
			t.Errorf("it has %s", name)
		}
	}
}

func hasMethod(x any, name string) bool {
	_, ok := reflect.TypeOf(x).MethodByName(name)
	return ok
}
