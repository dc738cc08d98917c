package cli

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"dither/curator"
)

// A whole number with whole noise has no places, however narrow its interval is.
func TestWithError(t *testing.T) {
	whole := func(n int64) *curator.Number { return &curator.Number{Whole: big.NewInt(n), Real: float64(n)} }
	number := func(x float64) *curator.Number { return &curator.Number{Real: x} }
	for want, e := range map[string]curator.Estimate{
		"4882 ± 5":        {Value: whole(4882), Low: whole(4877), High: whole(4887)},
		"4882 ± 50":       {Value: whole(4882), Low: whole(4832), High: whole(4932)},
		"3 [0, 5]":        {Value: whole(3), Low: whole(0), High: whole(5)},
		"3 ± 2.0":         {Value: whole(3), Low: number(1), High: number(5)},
		"3.5 ± 2.0":       {Value: number(3.5), Low: number(1.5), High: number(5.5)},
		"57 [56.0, 60.1]": {Value: whole(57), Low: number(56), High: number(60.1)},
	} {
		if got := withError(&e); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Standard output has one JSON value: what fails after the answer is told in words on standard error.
func TestOneJSONValue(t *testing.T) {
	for answered, want := range map[bool]string{false: `{"error":`, true: `{"id":"r1"}` + "\n"} {
		var out, errs bytes.Buffer
		s := &session{stdout: &out, stderr: &errs, format: "json"}
		if answered {
			s.print("%s\n", `{"id":"r1"}`)
		}
		s.report(&curator.Error{Code: curator.CodeCancelled, Message: "the calibration was given up", Charged: true})
		if !strings.HasPrefix(out.String(), want) || strings.Count(out.String(), "\n") != 1 || answered != strings.Contains(errs.String(), "the calibration was given up") {
			t.Errorf("answered %v: %q, and %q", answered, out.String(), errs.String())
		}
	}
}
