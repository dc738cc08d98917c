package curator

import (
	"cmp"
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
	for _, c := range []*Owner{c, openHome(t, c.home)} {
		if r := must[*Release](t)(c.Answer(t.Context(), next)); fmt.Sprint(r.From) != fmt.Sprint([]string{first.ID}) {
			t.Errorf("from %v, not %s", r.From, first.ID)
		}
	}
}

// Of more than are looked at, those that cost most for each measure are; of the same price, the newest.
func TestDearest(t *testing.T) {
	one, five := &ledger.About{Subject: &ledger.Subject{Measures: make([]string, 1)}}, &ledger.About{Subject: &ledger.Subject{Measures: make([]string, 5)}}
	var all []ledger.Answer
	for i := range uint64(5 * mostEarlier) { // the newest first
		a := ledger.Answer{Reserved: 10_000 - i, Rho: float64(i % 7), About: one}
		if i%3 == 0 {
			a.Rho, a.About = 5*a.Rho, five
		}
		all = append(all, a)
	}
	got := dearest(slices.Values(all))
	want := slices.Clone(all)
	slices.SortStableFunc(want, func(a, b ledger.Answer) int {
		return cmp.Compare(b.Rho/float64(len(b.About.Subject.Measures)), a.Rho/float64(len(a.About.Subject.Measures)))
	})
	if !slices.Equal(got, want[:mostEarlier]) {
		t.Errorf("%v", got)
	}
	none := &ledger.About{Subject: &ledger.Subject{}}
	if got := dearest(slices.Values([]ledger.Answer{{Rho: 1, About: none}, {Rho: 3, About: none}, {Rho: 2, About: none}})); len(got) != 3 || got[0].Rho != 3 || got[2].Rho != 1 {
		t.Errorf("%v", got)
	}
}
