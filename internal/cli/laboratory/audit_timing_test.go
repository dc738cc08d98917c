package laboratory

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/curator"
	"dither/internal/timing"
)

// The words say what was not shown, what follows, and never that something is safe.
func TestTimingWords(t *testing.T) {
	class := func(name string, c audit.Clock) timing.Class {
		return timing.Class{Question: timing.Question{Name: name}, Door: timing.Library, Clock: &c}
	}
	told := timed{ratio: 100, Report: &timing.Report{Engine: "duckdb", Rows: 100, Classes: []timing.Class{
		class("alpha", audit.Clock{Pairs: 10_000, D: 0.01, AtMost: 0.04}),
		class("beta", audit.Clock{Pairs: 10_000, D: 0.04, AtMost: 0.08}),
		class("gamma", audit.Clock{Pairs: 10_000, D: math.Inf(1), AtLeast: 2, AtMost: math.Inf(1), Epsilon: 3}),
	}}}
	words := timingText(told) + timingWords([]timed{told})
	for _, want := range []string{
		"shown: at most this", "not shown", "exceeded: at least 20", "a ratio of at most 115",
		"reveals more than the answer is charged for: gamma (library, 100 rows).",
		"must set answer_delay: beta (library, 100 rows), gamma (library, 100 rows).",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("it does not say %q:\n%s", want, words)
		}
	}
	if strings.Contains(words, "safe") || strings.Contains(words, "alpha (") {
		t.Error(words)
	}
	text, err := timingReports{told}.MarshalJSON()
	if err != nil || !strings.Contains(string(text), `"d_at_most":null`) ||
		strings.Count(string(text), `"shown":true`) != 1 || strings.Count(string(text), `"exceeded":true`) != 1 {
		t.Errorf("%s, %v", text, err)
	}
}

// A calibration's line is one that a policy takes, and its instant leaves the margin for whatever was measured.
func TestTimingCalibration(t *testing.T) {
	c, err := timing.Calibrate(t.Context(),
		timing.Options{Rows: 200, Seed: 1, Classes: []string{"count", "worst-join"}})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if _, err := curator.InitDraft(t.Context(), home+"/home", curator.InitOptions{}); err != nil {
		t.Fatal(err)
	}
	file := home + "/home/policy.yaml"
	draft, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(draft), "tables:\n", c.Line()+"\ntables:\n", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := curator.CheckPolicy(home + "/home")
	if err != nil || !slices.ContainsFunc(lines,
		func(s string) bool { return strings.Contains(s, "answers leave at") }) {
		t.Errorf("%s: %v, %v", c.Line(), lines, err)
	}
	for _, q := range c.Quotients {
		cost, _ := q.Cost.Float64()
		if left := float64(c.Floor) + c.Factor*cost; left < timing.Margin*float64(q.Took) {
			t.Errorf("%s over %d rows took %v, and the instant leaves %v ns", q.Name, q.Rows, q.Took, left)
		}
	}
	if text, err := (calibrationReport{c}).MarshalJSON(); err != nil ||
		!strings.Contains(string(text), fmt.Sprintf("%q", c.Line())) {
		t.Errorf("%s, %v", text, err)
	}
}

// A factor is measured with questions whose rows take time. The control alone has none, and nothing is printed to
// paste.
func TestTimingCalibrationNeedsQuestions(t *testing.T) {
	_, err := timing.Calibrate(t.Context(), timing.Options{Rows: 100, Seed: 1, Classes: []string{timing.Control}})
	if err == nil || !strings.Contains(err.Error(), "leave out --class and --planted") {
		t.Errorf("%v", err)
	}
}
