package curator

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/release"
	"dither/internal/stattest"
)

// heavy is a crowd of persons, each with the same number of visits.
func heavy(persons, visits int) string {
	var b strings.Builder
	for i := range persons {
		b.WriteString(strings.Repeat(fmt.Sprintf("%d,3,mon\n", 1000+i), visits))
	}
	return b.String()
}

// An estimate of what the bounds cut, on twins: with the same randomness it moves by at most its sensitivity, the answer beside it by at most its own, and
// the reads, charges and records are the same.
func TestReplayTruncation(t *testing.T) {
	visits, moved := crowd("%d,3,mon"), 0
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{"", somebody}, [2]string{visits, visits + somebodys}),
		"change-one":       newTwins(t, changeTerms, [2]string{another, somebody}, [2]string{visits + anothers, visits + somebodys}),
		"add-remove, zCDP": newTwins(t, zcdpTerms, [2]string{"", somebody}, [2]string{visits, visits + somebodys}),
		"by groups":        newTwins(t, cappedTerms, [2]string{another, somebody}, [2]string{visits + anothers, visits + somebodys}),
	} {
		for i, sql := range []string{
			"SELECT COUNT(*), SUM(cost) FROM visits",
			"SELECT AVG(cost) FROM visits",
			"SELECT day, COUNT(*), COUNT(DISTINCT person) FROM visits GROUP BY day",
			"SELECT day, AVG(cost) FROM visits WHERE cost > 2 GROUP BY ROLLUP (day)",
			"SELECT MEDIAN(cost) FROM visits",
			"SELECT AVG(n) FROM (SELECT v.cost AS n FROM visits v JOIN visits w ON v.person = w.person) q",
		} {
			question := Question{SQL: sql, Epsilon: "16", Truncation: "5%", Fresh: true}
			if i == 1 {
				question.TruncationRows = 9
			}
			r, plans := w.asked(t, byte(i), asking(question), func(s *release.Released) []*big.Int { return s.Truncation })
			name := relation + ": " + sql
			sameLedger(t, name, r, "reserve", "release")
			if strings.Contains(sql, "MEDIAN") { // its draws read as many bytes as rows say
				continue
			}
			sameFlow(t, name, r, "reserve", "release")
			for j, m := range plans[0].plan.Truncation.Measures {
				d, err := audit.Distance(r.Data.Output[j:j+1], r.Neighbor.Output[j:j+1])
				if err != nil {
					t.Fatal(err)
				}
				if r.Data.Output[j].Cmp(r.Neighbor.Output[j]) != 0 {
					moved++
				}
				if err := d.Within(audit.Distances{L1: new(big.Rat).SetInt(m.L1), L2Squared: new(big.Rat).SetInt(m.L2Squared)}); err != nil {
					t.Errorf("%s: %s: %v", name, m, err)
				}
			}
		}
	}
	if moved < 12 {
		t.Errorf("%d numbers moved: the audit shows little", moved)
	}
}

// The estimate and the answer are one release, at the question's price: a replay gives both again, free, to Measure too, and after the home is opened again.
// An answer without it is another release, and with another share.
func TestTruncationIsOneRelease(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := zcdpTerms.home(t, "", crowd("%d,3,mon")+heavy(30, 5))
	for i, sql := range []string{
		"SELECT COUNT(*), AVG(cost) FROM visits",
		"SELECT day, COUNT(*) FROM visits GROUP BY day",
		"SELECT SUM(cost, bounds => auto) FROM visits",
		"SELECT MEDIAN(cost) FROM visits",
	} {
		q := Question{SQL: sql, Epsilon: "1", Truncation: "5%"}
		first := must[*Release](t)(c.Answer(t.Context(), q))
		again := must[*Release](t)(c.Answer(t.Context(), q))
		text := func(r *Release) string { return string(must[[]byte](t)(json.Marshal(r.Truncation))) }
		if first.Truncation == nil || first.Replayed || !again.Replayed || text(first) != text(again) {
			t.Errorf("%s: %s, replayed %s", sql, text(first), text(again))
		}
		if i < 3 {
			m := must[*Measurements](t)(c.Measure(t.Context(), q))
			if !m.Replayed || m.Truncation == nil || m.Truncation.Units.Value.Whole.Cmp(first.Truncation.Units.Value.Whole) != 0 {
				t.Errorf("%s: measured %+v", sql, m.Truncation)
			}
		}
		for _, other := range []string{"", "10%"} {
			q.Truncation = other
			r := must[*Release](t)(c.Answer(t.Context(), q))
			if r.Replayed || (r.Truncation == nil) != (other == "") {
				t.Errorf("%s with %q: replayed %t, estimate %+v", sql, other, r.Replayed, r.Truncation)
			}
		}
	}
}

// A policy that asks for the estimate asks for it in every question where something can be cut, and its digest says so.
func TestTruncationByPolicy(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	terms := pureTerms
	terms.price = "price: {default: 0.5, maximum: 20, truncation: 5%}\n"
	c := terms.home(t, "", crowd("%d,3,mon"))
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM visits":                  "0.025",
		"SELECT COUNT(*, epsilon => 0.5) FROM visits":  "",
		"SELECT COUNT(*) FROM people":                  "",
		"SELECT COUNT(DISTINCT person) FROM visits":    "",
		"SELECT COUNT(*) FROM visits WHERE cost > 100": "0.025",
	} {
		e, err := c.Explain(t.Context(), Question{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e.Truncation != nil {
			got = e.Truncation.Share.Epsilon
		}
		if got != want {
			t.Errorf("%s: share %q, want %q", sql, got, want)
		}
		if e, err = c.Explain(t.Context(), Question{SQL: sql, Truncation: "0"}); err != nil || e.Truncation != nil {
			t.Errorf("%s: %+v, %v", sql, e.Truncation, err)
		}
	}
}

// Answers warn of what is cut, and hardly ever where nothing is. A warning has a probability of at most 1 % where nothing is cut, and of at least 95 %
// where as many units are cut as explain states. So the test fails by chance with a probability below 1e-6. DITHER_LONG=1 asks 1,000 questions of each.
func TestTruncationWarns(t *testing.T) {
	runs := 60
	if os.Getenv("DITHER_LONG") != "" {
		runs = 1000
	}
	terms := pureTerms
	terms.budget, terms.price = "epsilon: 1000", "price: {default: 0.1, minimum: 0.001, maximum: 20}\n"
	q := Question{SQL: "SELECT COUNT(*) FROM visits", Epsilon: "0.9", Truncation: "50%", Fresh: true}
	for _, visible := range []bool{false, true} {
		t.Run(fmt.Sprint(visible), func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			cut := 0
			if visible {
				cut = 15
			}
			home := terms.home(t, "", crowd("%d,3,mon")+heavy(cut, 5))
			e := must[*Explanation](t)(home.Explain(t.Context(), q))
			if e.Truncation.Visible != 15 {
				t.Fatalf("%d units are visible", e.Truncation.Visible)
			}
			warned := 0
			for range runs {
				if r := must[*Release](t)(home.Answer(t.Context(), q)); r.Truncation.Verdict == Cuts {
					warned++
				}
			}
			t.Logf("%d units cut: %d of %d answers warn", cut, warned, runs)
			switch of := (stattest.Binomial{Trials: runs, Probability: 0.01}); {
			case !visible && of.AtLeast(warned) < 1e-6:
				t.Errorf("%d false alarms of %d", warned, runs)
			case visible && (stattest.Binomial{Trials: runs, Probability: 0.95}).AtMost(warned) < 1e-6:
				t.Errorf("%d warnings of %d", warned, runs)
			}
		})
	}
}
