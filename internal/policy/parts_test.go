package policy_test

import (
	"errors"
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/privacy"
)

const divided = `version: 1
population: {name: p}
budget: {epsilon: 1, per: month, lifetime: 10}
analysts: {alice: 20%, bob: {share: 5%}, carol: {epsilon: 0.5}, dave: 1}
tables:
  voters:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 4
    part: {column: party}
    columns:
      person: {type: integer}
      party: {type: text, values: [D, R]}
      day: {type: date, bounds: [2026-01-01, 2026-12-31]}
      money: {type: integer, bounds: [0, 100]}
`

// The shares of a budget: each part of each of them, as read, in the terms, and in the digest.
func TestShares(t *testing.T) {
	p := decode(t, divided)
	if got := p.Budget.Grant; got.Per != "month" || !same(got.Loss, pure(t, "1")) ||
		!same(p.Budget.Loss, pure(t, "10")) {
		t.Errorf("%+v", p.Budget)
	}
	for name, limit := range map[string]string{"alice": "2", "bob": "0.5", "carol": "0.5", "dave": "1"} {
		if !same(p.Analysts[name], pure(t, limit)) {
			t.Errorf("%s: %v", name, p.Analysts[name])
		}
	}
	if !same(p.Price.Default, pure(t, "0.05")) || !same(p.Price.Maximum, pure(t, "1")) {
		t.Errorf("prices are shares of the grant: %+v", p.Price)
	}
	terms := p.Terms()
	if terms.Per != "month" || terms.Parts["voters"].Most != 1 ||
		!strings.HasPrefix(terms.Parts["voters"].Term, "party text of 2 values, ") {
		t.Errorf("%+v", terms)
	}
	for _, c := range []struct{ old, next, note string }{
		{"part: {column: party}", "part: {column: day, per_unit: 3}", "party text of 2 values, 1 for a unit → day date from 2026-01-01 to 2026-12-31, 3 for a unit"},
		{"part: {column: party}", "part: {column: party, per_unit: 2}", "1 for a unit → party"},
		{"    part: {column: party}\n", "", "no longer divided"},
		{"[D, R]", "[D, R, I]", "3 values"},
		{"[D, R]", "[D, S]", "the past charges of"},
		{"per: month", "per: week", "ε = 1 per month → ε = 1 per week"},
		{"epsilon: 1,", "epsilon: 2,", "granted"},
		{"lifetime: 10", "lifetime: 11", "budget: ε = 10 → ε = 11"},
		{"alice: 20%", "alice: 30%", "analyst alice: may spend"},
		{"alice: 20%, ", "", "analyst alice: no longer listed"},
		{"dave: 1", "dave: 1, eve: 1", "analyst eve"},
	} {
		q := decode(t, strings.Replace(divided, c.old, c.next, 1))
		if q.Digest() == p.Digest() {
			t.Errorf("%s → %s leaves the digest", c.old, c.next)
		}
		k, notes, err := policy.Reread(terms, q.Terms())
		if all := strings.Join(notes, "\n"); err != nil || k != 1 || !strings.Contains(all, c.note) {
			t.Errorf("%s → %s: ×%d %v\n%s", c.old, c.next, k, err, all)
		}
	}
}

func same(a, b privacy.Loss) bool { return a.Within(b) && b.Within(a) }

// Grants under ρ: the period's and the lifetime's ε convert at one δ, each to its own ρ.
func TestGrantUnderRho(t *testing.T) {
	rho := strings.Replace(divided, "analysts: {alice: 20%, bob: {share: 5%}, carol: {epsilon: 0.5}, dave: 1}",
		"analysts: {alice: {rho: 0.001}}", 1)
	p := decode(t, strings.Replace(rho, "{epsilon: 1, per: month, lifetime: 10}",
		"{epsilon: 1, delta: 1e-6, per: quarter, lifetime: 2}", 1))
	for loss, epsilon := range map[privacy.Loss]string{p.Budget.Grant.Loss: "1", p.Budget.Loss: "2"} {
		got, err := loss.EpsilonAt(p.Budget.Conversion)
		if want := pure(t, epsilon); err != nil || !privacy.PureLoss(got).Within(want) {
			t.Errorf("%v is %v, %v", loss, got, err)
		}
	}
	p = decode(t, strings.Replace(rho, "{epsilon: 1, per: month, lifetime: 10}",
		"{rho: 0.01, delta: 1e-6, per: day, lifetime: 0.5}", 1))
	if r, _ := p.Budget.Loss.ZCDP(); r.String() != "0.5" {
		t.Error(r)
	}
}

// An analyst's limit leaves a δ for groups that are not known: a share of the budget the same share of it, any other
// all.
func TestLimitsLeaveDelta(t *testing.T) {
	budget := "{rho: 0.01, delta: 1e-6, selection_delta: 4e-7, per: day, lifetime: 0.5}"
	p := decode(t, strings.NewReplacer("{epsilon: 1, per: month, lifetime: 10}", budget, "{epsilon: 0.5}",
		"{rho: 0.3}").Replace(divided))
	for name, want := range map[string]string{
		"alice": "ρ = 0.1, δ = 0.00000008", "bob": "ρ = 0.025, δ = 0.00000002", "carol": "ρ = 0.3, δ = 0.0000004",
		"dave": "ρ = 0.5, δ = 0.0000004",
	} {
		if got := p.Analysts[name].String(); got != want {
			t.Errorf("%s may spend %s, not %s", name, got, want)
		}
	}
}

// Of the δ for unknown groups a share is that share; an ε or a ρ leaves all of it.
func TestLimitsHaveTheirDelta(t *testing.T) {
	p := decode(t, strings.NewReplacer("{epsilon: 1, per: month, lifetime: 10}",
		"{epsilon: 1, delta: 1e-6, selection_delta: 5e-7}", "{epsilon: 0.5}", "{epsilon: 0.1}", "dave: 1",
		"dave: {rho: 0.001}").Replace(divided))
	for name, want := range map[string]string{
		"alice": "0.0000001", "bob": "0.000000025", "carol": "0.0000005",
		"dave": "0.0000005",
	} {
		if _, d := p.Analysts[name].ZCDP(); d.String() != want {
			t.Errorf("%s: δ = %s, want %s", name, d, want)
		}
		if !p.Analysts[name].Within(p.Budget.Loss) {
			t.Errorf("%s: %v", name, p.Analysts[name])
		}
	}
}

func TestBadShares(t *testing.T) {
	for _, c := range []struct{ old, next, want string }{
		{"part: {column: party}", "part: party", "expected keys and values"},
		{"part: {column: party}", "part: {column: parti}", "not among the columns"},
		{"part: {column: party}", "part: {column: money, per_unit: 0}", "between 1 and"},
		{"part: {column: party}", "part: {column: person}", "the parts must be known"},
		{"[D, R]", `[D, ""]`, "1 to 256 bytes"},
		{"unit: person\n    rows_per_unit: 4\n    part: {column: party}", "unit: row\n    part: {column: party, per_unit: 2}", "a row belongs to one part"},
		{"unit: person\n    rows_per_unit: 4", "public: true", "no privacy unit"},
		{"unit: person\n    rows_per_unit: 4", "through: person\n    rows_per_unit: 4\n    references: {person: b.person}", "has no parts"},
		{", lifetime: 10", "", "needs a lifetime"},
		{"per: month, ", "", "applies only to a budget per period"},
		{"per: month", "per: hour", "not a period"},
		{"lifetime: 10", "lifetime: 0.5", "below what one period grants"},
		{"alice: 20%", "alice: 120%", "at most 100%"},
		{"alice: 20%", "alice: 11", "is above the budget"},
		{"alice: 20%", "alice: {share: 2}", "not a share"},
		{"alice: 20%", "Bob: 1", "differs only in case"},
		{"alice: 20%", "'a b': 1", "must be a letter"},
		{"alice: 20%", "alice: {rho: 1}", "no rho"},
	} {
		text := strings.Replace(divided, c.old, c.next, 1)
		if text == divided {
			t.Fatal("nothing was replaced: ", c.old)
		}
		_, err := policy.Decode([]byte(text), ".")
		if !errors.As(err, new(policy.Errors)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.next, err)
		}
	}
}

// A budget that cannot be read is an error, whatever else the policy has.
func TestLimitsOfABadBudget(t *testing.T) {
	for _, budget := range []string{
		"{rho: x, delta: 1e-6, selection_delta: 5e-7}",
		"{epsilon: x, delta: 1e-6, selection_delta: 5e-7}",
		"{rho: x, delta: 1e-6, selection_delta: 5e-7, per: day, lifetime: y}",
	} {
		text := strings.Replace(divided, "{epsilon: 1, per: month, lifetime: 10}", budget, 1)
		if _, err := policy.Decode([]byte(text), "."); !errors.As(err, new(policy.Errors)) {
			t.Errorf("%s: %v", budget, err)
		}
	}
}
