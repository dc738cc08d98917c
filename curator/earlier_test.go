package curator

import (
	"fmt"
	"slices"
	"testing"

	"dither/internal/ledger"
)

// However much else was asked since, what tells an answer is found: here and by a process that begins.
func TestFindsEarlierAmongMany(t *testing.T) {
	c := zcdpTerms.alone(t)
	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT change, COUNT(*) FROM people WHERE age > 7 GROUP BY change", Rho: "0.5"}))
	for i := range 2 * mostEarlier {
		sql := fmt.Sprintf("SELECT COUNT(*) FROM people WHERE age > %d", 10+i%40)
		if i%2 == 0 {
			sql = fmt.Sprintf("SELECT SUM(height + %d) FROM people WHERE age > 7", i)
		}
		must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql, Rho: "1"}))
	}
	next := Question{SQL: "SELECT COUNT(*) AS n FROM people WHERE change = 1 AND age > 7"}
	for _, c := range []*Curator{c, openHome(t, c.home)} {
		if r := must[*Release](t)(c.Answer(t.Context(), next)); fmt.Sprint(r.From) != fmt.Sprint([]string{first.ID}) {
			t.Errorf("from %v, not %s", r.From, first.ID)
		}
	}
}

// Of more than are looked at, those that cost most are; of the same price, the newest.
func TestDearest(t *testing.T) {
	var all []ledger.Answer
	for i := range uint64(5 * mostEarlier) { // the newest first
		all = append(all, ledger.Answer{Reserved: 10_000 - i, Rho: float64(i % 7)})
	}
	got := dearest(slices.Values(all))
	want := slices.Clone(all)
	slices.SortStableFunc(want, func(a, b ledger.Answer) int { return int(b.Rho - a.Rho) })
	if !slices.Equal(got, want[:mostEarlier]) {
		t.Errorf("%v", got)
	}
	if got := dearest(slices.Values(all[:3])); len(got) != 3 || got[0].Rho != 2 {
		t.Errorf("%v", got)
	}
}
