package curator

import (
	"fmt"
	"testing"
)

// A person moves what is confined to their own parts, and nothing else: on twins whose person has rows on four days, a question
// about each day moves for as many as the policy says at most, twice as many under change-one; the same is charged and recorded on both
// sides; and all five cost what the dearest do.
func TestReplayOfParts(t *testing.T) {
	parted := func(with homeTerms, each int) homeTerms {
		with.caps += fmt.Sprintf("\n    part: {column: day, per_unit: %d}", each)
		return with
	}
	for _, c := range []struct {
		name   string
		with   homeTerms
		visits [2]string
		each   int
		most   int // that move
		spent  string
	}{
		{"one part", pureTerms, [2]string{"", somebodys}, 1, 1, "0.5"},
		{"two parts", pureTerms, [2]string{"", somebodys}, 2, 2, "1"},
		{"one part, changed", changeTerms, [2]string{anothers, somebodys}, 1, 2, "1"},
		{"one part, ρ", zcdpTerms, [2]string{"", somebodys}, 1, 1, "0.5"},
		{"two parts by groups, ρ, changed", cappedTerms, [2]string{anothers, somebodys}, 2, 4, "2"},
	} {
		w := newTwins(t, parted(c.with, c.each), [2]string{another, somebody}, c.visits)
		moved := 0
		for i, day := range []string{"mon", "tue", "wed", "thu", "fri"} {
			sql := fmt.Sprintf("SELECT COUNT(*), SUM(cost), COUNT(DISTINCT person) FROM visits WHERE day = '%s' AND cost > -1", day)
			any := false
			for _, v := range w.measured(t, c.name, byte(i), sql, "") {
				if err := v.apart.Within(v.allowed); err != nil {
					t.Errorf("%s: %s: %v", c.name, day, err)
				}
				any = any || v.apart.L1.Sign() > 0
			}
			if any {
				moved++
			}
		}
		if moved > c.most || moved == 0 {
			t.Errorf("%s: %d days move, at most %d may, and one must", c.name, moved, c.most)
		}
		for _, side := range w {
			b, err := side.Budget()
			if err != nil {
				t.Fatal(err)
			}
			got := b.Spent.Rho
			if got == "" {
				got = b.Spent.Epsilon
			}
			if got != c.spent {
				t.Errorf("%s: spent %s, want %s", c.name, got, c.spent)
			}
		}
	}
}
