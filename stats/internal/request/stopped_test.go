package request

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dither/curator"
)

// What an error is told with beside is in its hint alone, and the error itself stays as it was.
func TestStopped(t *testing.T) {
	cause := &curator.Error{Code: curator.CodeExhausted, Message: "no more", Hint: "ask for less"}
	var e *curator.Error
	if err := Stopped(cause, "r1", "r2"); !errors.As(err, &e) || e.Code != cause.Code ||
		!strings.HasPrefix(e.Hint, "ask for less; ") || !strings.Contains(e.Hint, "(r1, r2) stay paid") {
		t.Error(err)
	}
	if cause.Hint != "ask for less" {
		t.Errorf("the error itself was changed: %s", cause.Hint)
	}
	low := fmt.Errorf("%w: %w", curator.ErrPriceLimits, &curator.Error{
		Code: curator.CodePolicy, Message: "ε = 0.01 is below the policy's minimum", Hint: "ask for a larger one",
	})
	if err := Partly(low); !errors.As(err, &e) || !strings.HasPrefix(e.Message, "ε = 0.01 is below") ||
		!strings.Contains(e.Hint, "several accesses") {
		t.Error(err)
	}
	for _, err := range []error{nil, errors.New("other"), cause, &curator.Error{Code: curator.CodePolicy, Message: "a price of"}} {
		if got := Partly(err); !errors.Is(got, err) {
			t.Error(got)
		}
		if got := Stopped(err); !errors.Is(got, err) {
			t.Error(got)
		}
		if got := Stopped(err, "r1"); err == nil && got != nil {
			t.Error(got)
		}
	}
}
