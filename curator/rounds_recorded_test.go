package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/policy"
)

// Recorded marginals are those that the rounds returned: during the rounds, after their end, and after a later version
// of the table. They are free, and need the question that was measured, and the permission to ask it.
func TestRecordedRounds(t *testing.T) {
	for name, terms := range map[string]homeTerms{"pure": pureTerms, "zCDP": zcdpTerms} {
		c := terms.alone(t)
		q, step := terms.rounds(6)
		r := must[*Rounds](t)(c.Rounds(t.Context(), q))
		recorded := func(id string) (*RecordedRounds, error) {
			return c.RecordedRounds(t.Context(), Request{SQL: roundsSQL}, id)
		}
		if got, err := recorded(r.ID); err != nil || len(got.Marginals) != 0 || got.Finished {
			t.Errorf("%s: before the first step: %+v, %v", name, got, err)
		}
		must[*SelectedMarginal](t)(r.Select(t.Context(), optionsOf(1), step))
		want := must[[]MeasuredMarginal](t)(r.Measure(t.Context(), []int{2, 0, 3}, step))
		same := func(when string, current, finished bool) {
			t.Helper()
			got, err := recorded(r.ID)
			if err != nil || len(got.Marginals) != len(want) || got.Current != current || got.Finished != finished ||
				got.Versions["visits"] != 1 || fmt.Sprint(got.Values) != fmt.Sprint(r.Values) {
				t.Fatalf("%s, %s: %+v, %v", name, when, got, err)
			}
			for i, m := range got.Marginals {
				if fmt.Sprint(m.Keys) != fmt.Sprint(q.Candidates[want[i].Candidate]) || fmt.Sprint(m.Values) != fmt.Sprint(want[i].Values) ||
					m.Noise.Variance() != want[i].Noise.Variance() || m.Unit.Cmp(want[i].Unit) != 0 {
					t.Errorf("%s, %s: %+v, and returned were %+v", name, when, m, want[i])
				}
			}
		}
		paid := spent(t, c)
		same("midway", true, false)
		must[struct{}](t)(struct{}{}, r.Finish())
		same("at the end", true, true)
		if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits"}); err != nil {
			t.Fatal(err)
		}
		paid2 := spent(t, c)
		uniform := ""
		for what, of := range map[string][2]string{
			"another question": {"SELECT COUNT(*) FROM visits GROUP BY day", r.ID},
			"other keys":       {"SELECT COUNT(*) FROM visits GROUP BY day, cost > 6", r.ID},
			"a condition":      {"SELECT COUNT(*) FROM visits WHERE cost > 1 GROUP BY day, cost > 5", r.ID},
			"a sum":            {"SELECT SUM(cost) FROM visits GROUP BY day, cost > 5", r.ID},
			"another order":    {"SELECT COUNT(*) FROM visits GROUP BY cost > 5, day", r.ID},
			"another table":    {"SELECT COUNT(*) FROM people GROUP BY region", r.ID},
			"no rounds":        {roundsSQL, "r" + fmt.Sprint(mustAtoi(r.ID)+4)},
			"the future":       {roundsSQL, "r1234567"},
			"the beginning":    {roundsSQL, "r0"},
		} {
			got, err := c.RecordedRounds(t.Context(), Request{SQL: of[0]}, of[1])
			text := strings.Replace(fmt.Sprint(err), of[1], "rN", 1)
			if err == nil || codeOf(err) != CodeUsage || uniform != "" && text != uniform {
				t.Errorf("%s, %s: %+v, %v", name, what, got, err)
			}
			uniform = text
		}
		for _, id := range []string{"", "3", "r", "r-1", "r99999999999999999999", "x3"} {
			if got, err := recorded(id); codeOf(err) != CodeUsage {
				t.Errorf("%s, %q: %+v, %v", name, id, got, err)
			}
		}
		write(t, c.home, "visits.csv", replayVisits+"5,7,fri\n")
		if _, err := c.Seal(t.Context(), "visits", SealOptions{}); err != nil {
			t.Fatal(err)
		}
		same("after another version", false, true)
		if got := spent(t, c); got != paid2 || paid == "0" {
			t.Errorf("%s: %s is spent, after %s", name, got, paid2)
		}
	}
}

func mustAtoi(id string) (n int) {
	if _, err := fmt.Sscanf(id, "r%d", &n); err != nil {
		panic(err)
	}
	return n
}

// Whether an analyst may ask is decided before the ledger is read: a refused analyst learns the same of every name.
func TestRecordedRoundsNeedPermission(t *testing.T) {
	terms := pureTerms
	terms.price += "analysts: {ann: {epsilon: 100}}\n"
	c := terms.alone(t)
	q, step := pureTerms.rounds(3)
	q.Analyst = "ann"
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	must[[]MeasuredMarginal](t)(r.Measure(t.Context(), []int{0}, step))
	text := ""
	for _, id := range []string{r.ID, "r0", "r77", "nothing"} {
		_, err := c.RecordedRounds(t.Context(), Request{SQL: roundsSQL, Analyst: "bob"}, id)
		if codeOf(err) != CodeAnalyst || text != "" && err.Error() != text {
			t.Errorf("%s: %v", id, err)
		}
		text = fmt.Sprint(err)
	}
	if got, err := c.RecordedRounds(t.Context(), Request{SQL: roundsSQL, Analyst: "ann"}, r.ID); err != nil || len(got.Marginals) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A change of the known values or of the limits of the table ends the use of recorded marginals. A change of the price
// does not.
func TestRecordedRoundsNeedTheirLimits(t *testing.T) {
	c := pureTerms.alone(t)
	home := c.home
	q, step := pureTerms.rounds(3)
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	must[[]MeasuredMarginal](t)(r.Measure(t.Context(), []int{0}, step))
	must[struct{}](t)(struct{}{}, r.Close())
	text := string(must[[]byte](t)(os.ReadFile(filepath.Join(home, policy.FileName))))
	for _, of := range []struct {
		from, to string
		fits     bool
	}{{"rows_per_unit: 3", "rows_per_unit: 2", false}, {"default: 0.5", "default: 0.25", true}} {
		changed := strings.Replace(text, of.from, of.to, 1)
		if changed == text {
			t.Fatal(of.from, "is not in the policy")
		}
		write(t, home, policy.FileName, changed)
		now := openHome(t, home)
		got, err := now.RecordedRounds(t.Context(), Request{SQL: roundsSQL}, r.ID)
		if fits := err == nil && len(got.Marginals) == 1; fits != of.fits {
			t.Errorf("%s: %+v, %v", of.to, got, err)
		}
	}
}

// Resume continues rounds that were paid, and pays for no others.
func TestResumeRounds(t *testing.T) {
	c := pureTerms.alone(t)
	q, step := pureTerms.rounds(6)
	q.Resume = true
	if _, err := c.Rounds(t.Context(), q); codeOf(err) != CodeUsage || spent(t, c) != "0" {
		t.Fatalf("nothing was paid: %v, and %s is spent", err, spent(t, c))
	}
	q.Resume = false
	r := must[*Rounds](t)(c.Rounds(t.Context(), q))
	must[[]MeasuredMarginal](t)(r.Measure(t.Context(), []int{0}, step))
	must[struct{}](t)(struct{}{}, r.Close())
	paid := spent(t, c)
	q.Resume = true
	again := must[*Rounds](t)(c.Rounds(t.Context(), q))
	if again.ID != r.ID || again.Recorded != 1 || spent(t, c) != paid {
		t.Errorf("%s with %d steps after %s, and %s is spent", again.ID, again.Recorded, r.ID, spent(t, c))
	}
	must[struct{}](t)(struct{}{}, again.Close())
	q.Fresh = true
	if _, err := c.Rounds(t.Context(), q); codeOf(err) != CodeUsage {
		t.Errorf("fresh: %v", err)
	}
}
