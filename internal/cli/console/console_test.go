package console

import (
	"bytes"
	"strings"
	"testing"

	"dither/curator"
)

// Standard output has one JSON value: what fails after the answer is told in words on standard error.
func TestOneJSONValue(t *testing.T) {
	for answered, want := range map[bool]string{false: `{"error":`, true: `{"id":"r1"}` + "\n"} {
		var out, errs bytes.Buffer
		s := &Console{Stdout: &out, Stderr: &errs, Format: "json"}
		if answered {
			s.Print("%s\n", `{"id":"r1"}`)
		}
		s.report(&curator.Error{Code: curator.CodeCancelled, Message: "the calibration was given up", Charged: true})
		if !strings.HasPrefix(out.String(), want) || strings.Count(out.String(), "\n") != 1 || answered != strings.Contains(errs.String(), "the calibration was given up") {
			t.Errorf("answered %v: %q, and %q", answered, out.String(), errs.String())
		}
	}
}
