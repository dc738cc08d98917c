package cli

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/curator"
	"dither/internal/engine/postgres/pgtest"
	"dither/internal/timing"
)

// A question that makes 4⁹ rows of one person's four fails the test of equivalence: the lower bound on its shift, over
// as many repetitions as a budget pays for, is beyond what may be told. The machine may be busy, so there are up to six
// attempts of 30 pairs. Of alike homes an attempt would say so with probability 0.001. The long form has both engines.
func TestTimingSeesWhatIsPlanted(t *testing.T) {
	o := timing.Options{Rows: 100, Pairs: 20, Doors: []timing.Door{timing.Library}, Classes: []string{timing.Planted}, Planted: true}
	if !exceeds(t, o) {
		t.Error("the planted question was not seen")
	}
}

// exceeds reports that a class is beyond what may be told, in one of a few attempts.
func exceeds(t *testing.T, o timing.Options) bool {
	for range 8 {
		r, err := timing.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Classes[0]
		t.Logf("%s: shift %v, σ %v, d %.2g to %.2g, %v", r.Engine, c.Shift, c.Sigma, c.AtLeast, c.AtMost, r.Load)
		if c.AtLeast*math.Sqrt(timingRatio) > audit.MostTold {
			return true
		}
	}
	return false
}

// timingServer is an environment variable that holds the URL of the tests' server.
func timingServer(t *testing.T) string {
	t.Setenv("DITHER_TEST_TIMING", pgtest.Start(t).Database(t))
	return "DITHER_TEST_TIMING"
}

// The equivalence of times, in its long form: at 100, 20,000 and a million rows, on both engines, by both doors (a million
// rows in ten pairs through the library alone), the planted question is seen, alike homes are not told apart (of 30 pairs each that would be chance with probability 0.01
// in all), and no class is called shown that was not: 30 pairs show none. Figures of longer runs are in
// docs/timing.md. DITHER_LONG=1 runs it, a quarter of an hour.
func TestTimingLong(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("DITHER_LONG=1 runs it: a quarter of an hour")
	}
	program, err := exec.LookPath("dither")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"", timingServer(t)} {
		for _, rows := range []int64{100, 20_000, 1_000_000} {
			o := timing.Options{
				Rows: rows, Pairs: 30, Doors: []timing.Door{timing.Library, timing.Command}, Program: []string{program}, Postgres: server, Seed: 1,
				Classes: []string{timing.Control, "count", "worst-exp"},
			}
			if rows == 1_000_000 {
				o.Doors, o.Pairs = o.Doors[:1], 10
			}
			r, err := timing.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Classes {
				one := timed{timingRatio, r}
				if one.shown(c) || c.Name == timing.Control && one.exceeded(c) {
					t.Errorf("%s, %d rows, %s (%s): %+v", r.Engine, rows, c.Name, c.Door, c.Clock)
				}
			}
			t.Logf("\n%s", timingText(timed{timingRatio, r}))
			o.Planted, o.Classes, o.Doors, o.Pairs = true, []string{timing.Planted}, o.Doors[:1], 60
			if rows == 100 && !exceeds(t, o) {
				t.Errorf("server %q, %d rows: the planted question was not seen", server, rows)
			}
		}
	}
}

// What is measured are legal questions, as dear as they may be, and the planted one is not legal. The generated ones
// are the same for one seed, and others for another.
func TestTimingQuestions(t *testing.T) {
	sql := map[uint64]string{}
	for _, seed := range []uint64{1, 2} {
		all, limit, err := timing.Legal(t.Context(), t.TempDir(), seed)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := timing.Legal(t.Context(), t.TempDir(), seed)
		if err != nil {
			t.Fatal(err)
		}
		most := int64(0)
		for i, q := range all {
			if q.Steps <= 0 || q.Steps > limit || q != again[i] {
				t.Errorf("%s: %d steps of %d", q.Name, q.Steps, limit)
			}
			most = max(most, q.Steps)
			sql[seed] += q.SQL
		}
		if float64(most) < 0.8*float64(limit) || len(all) != len(timing.Names(false))-1 {
			t.Errorf("the dearest of %d questions has %d steps of %d", len(all), most, limit)
		}
	}
	if sql[1] == sql[2] {
		t.Error("another seed gives the same questions")
	}
}

// The words say what was not shown, what follows, and never that something is safe.
func TestTimingWords(t *testing.T) {
	class := func(name string, c audit.Clock) timing.Class {
		return timing.Class{Question: timing.Question{Name: name}, Door: timing.Library, Clock: &c}
	}
	told := timed{100, &timing.Report{Engine: "duckdb", Rows: 100, Classes: []timing.Class{
		class("alpha", audit.Clock{Pairs: 10_000, D: 0.01, AtMost: 0.04}),
		class("beta", audit.Clock{Pairs: 10_000, D: 0.04, AtMost: 0.08}),
		class("gamma", audit.Clock{Pairs: 10_000, D: math.Inf(1), AtLeast: 2, AtMost: math.Inf(1), Epsilon: 3}),
	}}}
	words := timingText(told) + timingWords([]timed{told})
	for _, want := range []string{
		"shown: at most this", "not shown", "exceeded: at least 20", "a ratio of 115 at most",
		"reveals more than the answer is charged for: gamma (library, 100 rows).", "answer_delay is mandatory where analysts ask: beta (library, 100 rows), gamma (library, 100 rows).",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("it does not say %q:\n%s", want, words)
		}
	}
	if strings.Contains(words, "safe") || strings.Contains(words, "alpha (") {
		t.Error(words)
	}
	text, err := timingReports{told}.MarshalJSON()
	if err != nil || !strings.Contains(string(text), `"d_at_most":null`) || strings.Count(string(text), `"shown":true`) != 1 || strings.Count(string(text), `"exceeded":true`) != 1 {
		t.Errorf("%s, %v", text, err)
	}
}

// A calibration's line is one that a policy takes, and its instant leaves the margin for whatever was measured.
func TestTimingCalibration(t *testing.T) {
	c, err := timing.Calibrate(t.Context(), timing.Options{Rows: 200, Seed: 1, Classes: []string{"count", "worst-join"}})
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
	if err := os.WriteFile(file, []byte(strings.Replace(string(draft), "tables:\n", c.Line()+"\ntables:\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := curator.CheckPolicy(home + "/home")
	if err != nil || !slices.ContainsFunc(lines, func(s string) bool { return strings.Contains(s, "answers leave at") }) {
		t.Errorf("%s: %v, %v", c.Line(), lines, err)
	}
	for _, q := range c.Quotients {
		cost, _ := q.Cost.Float64()
		if left := float64(c.Floor) + c.Factor*cost; left < timing.Margin*float64(q.Took) {
			t.Errorf("%s over %d rows took %v, and the instant leaves %v ns", q.Name, q.Rows, q.Took, left)
		}
	}
	if text, err := (calibrationReport{c}).MarshalJSON(); err != nil || !strings.Contains(string(text), fmt.Sprintf("%q", c.Line())) {
		t.Errorf("%s, %v", text, err)
	}
}

// A factor is measured of questions whose rows take time: of the control alone there is none, and nothing is printed to paste.
func TestTimingCalibrationNeedsQuestions(t *testing.T) {
	_, err := timing.Calibrate(t.Context(), timing.Options{Rows: 100, Seed: 1, Classes: []string{timing.Control}})
	if err == nil || !strings.Contains(err.Error(), "leave --class and --planted out") {
		t.Errorf("%v", err)
	}
}
