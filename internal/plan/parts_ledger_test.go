package plan_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/privacy"
)

// The whole of parallel composition, end to end: over random neighbours, random questions about parts and about everybody at random prices, in
// one ledger. What two neighbours can be told apart by is at most the sum of the prices of those questions whose exact sums differ
// between them; it is never more than what the ledger says was spent. And often the two are equal.
func TestNobodyLosesMoreThanIsSpent(t *testing.T) {
	cases, attained := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		relation := rapid.SampledFrom([]string{"add-remove", "change-one"}).Draw(rt, "relation")
		text := rapid.SampledFrom([]func(string) []byte{enginetest.PolicyText, enginetest.ByGroups}).Draw(rt, "policy")
		p, err := policy.Decode(text(relation), ".")
		if err != nil {
			rt.Fatal(err)
		}
		table := p.Table(rapid.SampledFrom([]string{"t", "p", "p"}).Draw(rt, "table"))
		l := newLedger(t, p)
		before := enginetest.Rows(rt, table, 14)
		after := neighbour(rt, table, before, relation == "change-one")
		if unit := table.Unit.Column; unit != "" {
			before, after = enginetest.Ranked(clones(before), unit), enginetest.Ranked(clones(after), unit)
		}
		before, after = inParts(before), inParts(after)
		lost := new(big.Rat)
		for i := range rapid.IntRange(1, 8).Draw(rt, "questions") {
			sql := "SELECT COUNT(*), SUM(i) FROM " + table.Name
			if rapid.IntRange(0, 5).Draw(rt, "everybody") > 0 {
				sql += " WHERE " + rapid.SampledFrom([]string{"k = 5", "k = 0", "k = -3", "k <> 0", "k IN (0, 5) AND b", "k < 0 OR k = 5"}).Draw(rt, "where")
			}
			price := big.NewRat(int64(rapid.IntRange(1, 5).Draw(rt, "price")), 10)
			q, err := plan.Build(p, plan.Request{SQL: sql})
			if err != nil {
				rt.Fatal(err)
			}
			e, err := privacy.EpsilonOf(price)
			if err != nil {
				rt.Fatal(err)
			}
			r := ledger.Reservation{
				Key: fmt.Sprintf("%032x", i), Policy: p.Digest(), Loss: privacy.PureLoss(e), Question: sql,
				Mechanisms: []ledger.Mechanism{{Name: "noise", Sensitivity: "1", Scale: "1", Cells: 1}},
				Sources:    []ledger.Source{{Table: table.Name, Version: 1}},
			}
			if of, parts := q.Confinement(); of != "" {
				r.Confined = &ledger.Confined{Table: of, Parts: parts}
			}
			if _, err := l.Reserve(r); err != nil {
				rt.Fatal(sql, err)
			}
			l1, _ := distances(&q.Statement, before, after)
			for _, d := range l1 {
				if d.Sign() > 0 {
					lost.Add(lost, price)
					break
				}
			}
		}
		s, err := l.State()
		if err != nil {
			rt.Fatal(err)
		}
		e, _ := privacy.EpsilonOf(lost)
		if !privacy.PureLoss(e).Within(s.Spent) {
			rt.Fatalf("between these two ε = %s was lost, and %v is spent\n%v\n%v", e, s.Spent, before, after)
		}
		if cases++; s.Spent.Within(privacy.PureLoss(e)) {
			attained++
		}
	})
	if attained < 5 {
		t.Errorf("what was spent was lost in %d of %d cases: the test shows nothing", attained, cases)
	}
}

// newLedger begins a ledger under a policy's terms, with both tables sealed.
func newLedger(t *testing.T, p *policy.Policy) *ledger.Ledger {
	t.Helper()
	dir, now := t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := ledger.Create(dir, strings.Repeat("0", 32), now); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(dir, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	terms := p.Terms()
	parts := map[string]ledger.Parting{}
	for name, of := range terms.Parts {
		parts[name] = ledger.Parting(of)
	}
	if err := l.Adopt(ledger.Terms{
		Digest: p.Digest(), Population: terms.Population, Neighbours: terms.Neighbours, Budget: terms.Budget, MaxPrice: terms.Maximum,
		Units: terms.Units, Sources: terms.Sources, Held: terms.Held, Parts: parts,
	}, 1, l.Head()); err != nil {
		t.Fatal(err)
	}
	for _, table := range p.Tables {
		if err := l.Sealed(table.Name, 1, strings.Repeat("0", 64)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}
