package curator

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// at sets the curator's clock for one test.
func at(t *testing.T, text string) {
	t.Helper()
	fixed, err := time.Parse(time.DateTime, text)
	if err != nil {
		t.Fatal(err)
	}
	before := now
	now = func() time.Time { fixed = fixed.Add(time.Millisecond); return fixed } // a second reading would differ
	t.Cleanup(func() { now = before })
}

const recent = "SELECT COUNT(*) AS n FROM people WHERE age < EXTRACT(day FROM now()) + EXTRACT(day FROM CURRENT_DATE)"

// Within one grain of the clock, a question about the current time is one question. In the next grain it is a new one.
func TestTheCurrentTimeIsAConstantOfAQuestion(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	ask := func(time string) *Release {
		t.Helper()
		at(t, time)
		r, err := c.Answer(t.Context(), Question{SQL: recent})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := ask("2026-03-05 00:00:00")
	want := "SELECT COUNT(*) AS n FROM people WHERE age < EXTRACT(day FROM TIMESTAMP '2026-03-05 00:00:00') + " +
		"EXTRACT(day FROM DATE '2026-03-05')"
	if first.SQL != want {
		t.Errorf("the answer shows %s\nwant %s", first.SQL, want)
	}
	const note = "The current time counts as 2026-03-05 00:00:00: the policy truncates it to a day."
	if !slices.Contains(first.Notes, note) {
		t.Errorf("the answer has the notes %q", first.Notes)
	}
	for sql, noted := range map[string]bool{
		recent: true, "SELECT COUNT(*) FROM people WHERE age < EXTRACT(day FROM now()::date)": false,
		"SELECT COUNT(*) FROM people WHERE age < EXTRACT(day FROM CURRENT_DATE)": false,
		"SELECT CURRENT_TIMESTAMP": true,
		"SELECT AVG(n) AS a, LOCALTIMESTAMP AS t FROM (SELECT COUNT(*) AS n FROM people) q": true,
	} {
		e, err := c.Explain(t.Context(), Question{SQL: sql})
		if err != nil || slices.Contains(e.Notes, note) != noted {
			t.Errorf("%s: %v, %v", sql, e, err)
		}
	}
	again := ask("2026-03-05 23:59:59")
	if !again.Replayed || again.ID != first.ID || spent(t, c) != "0.1" {
		t.Errorf("later on the same day it is %s (replayed %t), and %s is spent", again.ID, again.Replayed, spent(t, c))
	}
	next := ask("2026-03-06 00:00:00")
	if next.Replayed || spent(t, c) != "0.2" {
		t.Errorf("on the next day it is %s (replayed %t), and %s is spent", next.ID, next.Replayed, spent(t, c))
	}
	recorded, err := c.Asked(first.ID, Question{})
	if err != nil || recorded.Question != want {
		t.Errorf("the ledger has %v (%v)", recorded, err)
	}
	at(t, "2026-03-05 12:00:00")
	e, err := c.Explain(t.Context(), Question{SQL: recent})
	if err != nil || e.SQL != want || !e.Replayed {
		t.Errorf("explain says %+v (%v)", e, err)
	}
	// the recorded constant is asked later, and is the same question
	at(t, "2027-01-01 12:00:00")
	r, err := c.Answer(t.Context(), Question{SQL: want})
	if err != nil || r.ID != first.ID {
		t.Errorf("the recorded question is answered by %v (%v)", r, err)
	}
}

func TestErrorsStandWhereTheAnalystWroteThem(t *testing.T) {
	c := openHome(t, newHome(t))
	at(t, "2026-03-05 00:00:00")
	sql := "SELECT COUNT(*) FROM people WHERE now() > '2026-01-01' AND wrong = 3"
	for _, err := range []error{
		func() error { _, err := c.Answer(t.Context(), Question{SQL: sql}); return err }(),
		func() error { _, err := c.Explain(t.Context(), Question{SQL: sql}); return err }(),
	} {
		var e *Error
		if !errors.As(err, &e) || e.Line != 1 || e.Column != strings.Index(sql, "wrong")+1 {
			t.Errorf("%+v, want column %d", e, strings.Index(sql, "wrong")+1)
		}
	}
}
