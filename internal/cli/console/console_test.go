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

// SQL may begin with a comment, in any position among the flags. A flag's value may too.
func TestSQLBeginsWithComment(t *testing.T) {
	const remark = "-- Metabase:: userID: 1\nSELECT 1"
	for _, c := range []struct {
		args   []string
		rest   string // joined by |
		a, b   string
		sw     bool
		refuse string
	}{
		{args: []string{remark}, rest: remark},
		{args: []string{"--\tone line"}, rest: "--\tone line"},
		{args: []string{"--\nSELECT 1"}, rest: "--\nSELECT 1"},
		{args: []string{"--glued\nSELECT a=1"}, rest: "--glued\nSELECT a=1"},
		{args: []string{"--glued=1\nSELECT 1"}, rest: "--glued=1\nSELECT 1"},
		{args: []string{"--a", "1", "--switch", remark, "-b=2"}, rest: remark, a: "1", b: "2", sw: true},
		{args: []string{"--a=1", remark, remark, "--b", "2"}, rest: remark + "|" + remark, a: "1", b: "2"},
		{args: []string{"SELECT 1", remark, "--b", "2"}, rest: "SELECT 1|" + remark, b: "2"},
		{args: []string{"--", remark}, rest: remark},
		{args: []string{"--a", remark, "--switch"}, a: remark, sw: true},
		{args: []string{"--a=1\n2", "x"}, rest: "x", a: "1\n2"},
		{args: []string{"--glued"}, refuse: "there is no flag --glued"},
		{args: []string{"--glued=1", remark}, refuse: "there is no flag --glued"},
		{args: []string{remark, "--a"}, refuse: "-a needs a value"},
	} {
		var a, b string
		sw := false
		s := New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
		s.Take(Verb{Name: "query"})
		s.Flag(&a, "a", "A", "")
		s.Flag(&b, "b", "B", "")
		s.Flag(&sw, "switch", "", "")
		rest, _, err := s.Parse(c.args)
		if c.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%q: error %v, not %q", c.args, err, c.refuse)
			}
			continue
		}
		if err != nil || strings.Join(rest, "|") != c.rest || a != c.a || b != c.b || sw != c.sw {
			t.Errorf("%q: %q, a %q, b %q, switch %v, error %v", c.args, rest, a, b, sw, err)
		}
	}
}
