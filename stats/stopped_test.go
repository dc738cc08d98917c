package stats

import (
	"errors"
	"strings"
	"testing"

	"dither/curator"
)

func TestStopped(t *testing.T) {
	cause := &curator.Error{Code: curator.CodeExhausted, Message: "no more", Hint: "ask for less"}
	var e *curator.Error
	if err := stopped(cause, "r1", "r2"); !errors.As(err, &e) || e.Code != cause.Code || !strings.HasPrefix(e.Hint, "ask for less; ") || !strings.Contains(e.Hint, "(r1, r2) stays paid") {
		t.Error(err)
	}
	if cause.Hint != "ask for less" {
		t.Errorf("the error itself was changed: %s", cause.Hint)
	}
	other := errors.New("other")
	if err := stopped(cause); err != error(cause) {
		t.Error(err)
	}
	if err := stopped(other, "r1"); !errors.Is(err, other) {
		t.Error(err)
	}
	if err := stopped(nil, "r1"); err != nil {
		t.Error(err)
	}
}
