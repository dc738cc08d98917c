package audit

import (
	"context"
	"testing"
)

func TestDeterministicAnswersAreRefuted(t *testing.T) {
	m := Func(func(side Side) string { return side.String() })
	r, err := Run(context.Background(), m, Options{Runs: 1000, Claim: claim(t, "1", "0")})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Refuted || r.Epsilon != r.Reach {
		t.Errorf("%+v", r)
	}
}
