package audit

import (
	"testing"

	"dither/privacy"
)

func claim(t testing.TB, epsilon, delta string) *Claim {
	t.Helper()
	e, err := privacy.ParseEpsilon(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	d, err := privacy.ParseDelta(delta)
	if err != nil {
		t.Fatal(err)
	}
	return &Claim{Epsilon: e, Delta: d}
}
