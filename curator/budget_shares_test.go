package curator

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/ledger"
	"dither/privacy"
)

const sharesPolicy = `
version: 1
population: {name: patients, neighbours: NEIGHBOURS}
budget: {epsilon: 2}
price: {default: 0.1, maximum: 2}
analysts: {ann: 1.5, ben: 100%}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 3
    part: {column: ward}
    columns: {person: {type: integer}, ward: {type: text, values: [a, b, c]}, age: {type: integer, bounds: [0, 100]}}
  bills:
    source: {csv: bills.csv}
    unit: person
    rows_per_unit: 2
    part: {column: day, per_unit: 2}
    columns: {person: {type: integer}, day: {type: date, bounds: [2026-01-01, 2026-01-07]}, euros: {type: integer, bounds: [0, 50]}}
`

func sharesHome(t *testing.T, neighbours string) *Owner {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", strings.ReplaceAll(sharesPolicy, "NEIGHBOURS", neighbours))
	write(t, home, "visits.csv", "person,ward,age\n1,a,30\n1,b,30\n2,b,50\n3,c,20\n")
	write(t, home, "bills.csv", "person,day,euros\n1,2026-01-01,10\n1,2026-01-03,10\n2,2026-01-05,30\n")
	c := openHome(t, home)
	for _, table := range []string{"visits", "bills"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Several tables of one population draw on one budget; the parts of each are its own; every primitive is charged to the parts that it is
// about, but a stream to everybody; and what has been answered is free for all who may ask.
func TestSharesOfABudget(t *testing.T) {
	for neighbours, want := range map[string][]string{
		"add-remove": {"0.5", "0.5", "0.9", "1.1", "1.1", "1.4"},
		"change-one": {"0.5", "0.8", "1.2", "1.4", "1.4", "1.7"}, // two units' parts: of two wards, of four days
	} {
		c := sharesHome(t, neighbours)
		ctx := t.Context()
		step := 0
		check := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %s: %v", neighbours, what, err)
			}
			if got := spent(t, c); got != want[step] {
				t.Errorf("%s: after %s %s is spent, want %s", neighbours, what, got, want[step])
			}
			step++
		}
		_, err := c.Answer(ctx, Question{SQL: "SELECT COUNT(*) FROM visits WHERE ward = 'a'", Epsilon: "0.5", Analyst: "ann"})
		check("ward a", err)
		_, err = c.Smooth(ctx, Request{SQL: "SELECT age FROM visits WHERE ward = 'b'", Epsilon: "0.3", Analyst: "ann"})
		check("ward b", err)
		_, err = c.Select(ctx, Selection{Request: Request{SQL: "SELECT day, COUNT(*) FROM bills WHERE day <= '2026-01-03' GROUP BY day", Epsilon: "0.4", Analyst: "ben"}})
		check("three days", err)
		_, err = c.Answer(ctx, Question{SQL: "SELECT SUM(euros) FROM bills WHERE day = DATE '2026-01-07'", Epsilon: "0.2", Analyst: "ben"})
		check("another day", err)
		_, err = c.Answer(ctx, Question{SQL: "SELECT COUNT(*) FROM visits WHERE 'c' = ward", Epsilon: "0.3", Analyst: "ben"})
		check("ward c", err)
		stream, err := c.Above(ctx, Threshold{Table: "visits", Threshold: "1", Epsilon: "0.3", Analyst: "ann"})
		check("a stream", err)
		if _, err := stream.Ask(ctx, "SELECT COUNT(*) FROM visits WHERE ward = 'a'"); err != nil {
			t.Error(err)
		}
		for name, free := range map[string]bool{"ann": true, "ben": true, "eve": false, "": false} {
			r, err := c.Answer(ctx, Question{SQL: "SELECT COUNT(*) FROM visits WHERE ward = 'a'", Epsilon: "0.5", Analyst: name})
			var e *Error
			if free != (err == nil && r.Replayed) || !free && (!errors.As(err, &e) || e.Code != CodeAnalyst) {
				t.Errorf("%q: %v", name, err)
			}
		}
		if _, err := c.Explain(ctx, Question{SQL: "SELECT COUNT(*) FROM visits", Analyst: "eve"}); err == nil {
			t.Error("who may not ask may not explain")
		}
		e, err := c.Explain(ctx, Question{SQL: "SELECT COUNT(*) FROM visits WHERE ward = 'a'", Epsilon: "0.5", Fresh: true, Analyst: "ann"})
		room := map[string]string{"add-remove": "0.4", "change-one": "0.3"}[neighbours] // of her 1.5 ann has 0.4 left; of the ward 0.6, or 0.3
		if err != nil || e.Remaining.Epsilon != room || e.Affordable || len(e.Charged) != 1 {
			t.Errorf("%s: %v %+v", neighbours, err, e)
		}
		b, err := c.Budget()
		if err != nil || len(b.Analysts) != 2 || b.Analysts[0].Spent.Epsilon != "1.1" || b.Analysts[1].Spent.Epsilon != "0.9" || len(b.Divided) != 2 {
			t.Errorf("%v %+v", err, b)
		}
	}
}

// An opening is a charge: a changed policy waits for the owner, and rows become no persons of whom the other homes know more.
func TestOpeningIsACharge(t *testing.T) {
	c := sharesHome(t, "add-remove")
	rows := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(sharesPolicy, "NEIGHBOURS", "add-remove"), "unit: person\n    rows_per_unit: 3", "unit: row"),
		"unit: person\n    rows_per_unit: 2\n    part: {column: day, per_unit: 2}", "unit: row")
	write(t, c.home, "policy.yaml", rows)
	c = openHome(t, c.home) // nothing is spent
	price, err := privacy.ParseEpsilon("0.15")
	if err != nil {
		t.Fatal(err)
	}
	if err := inside(c).Ledger.Opened(ledger.Opening{Loss: privacy.PureLoss(price), From: []ledger.Origin{{ID: strings.Repeat("0", 32), Head: c.ledger.Head().String()}}}, c.ledger.Head()); err != nil {
		t.Fatal(err)
	}
	write(t, c.home, "policy.yaml", strings.ReplaceAll(sharesPolicy, "NEIGHBOURS", "add-remove"))
	c = openHome(t, c.home)
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits", Analyst: "ann"}); codeOf(err) != CodePolicy {
		t.Errorf("the policy took over by itself: %v", err)
	}
	for _, dry := range []bool{true, false} {
		if _, err := c.AcceptPolicy(t.Context(), dry); !errors.Is(err, ledger.ErrIncompatible) {
			t.Error(err, "what other homes spent on rows was counted as spent on persons")
		}
	}
	write(t, c.home, "policy.yaml", strings.Replace(rows, "add-remove", "change-one", 1))
	c = openHome(t, c.home)
	if _, err := c.AcceptPolicy(t.Context(), false); err != nil || spent(t, c) != "0.3" {
		t.Errorf("%v, spent %s", err, spent(t, c))
	}
}
