package postgres

import (
	"maps"
	"math/big"
	"slices"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/policy"
	"dither/internal/value"
)

var confinedQuestions = []string{
	"SELECT COUNT(*), SUM(j), SUM(x) FROM p WHERE k = 5",
	"SELECT COUNT(*), COUNT(DISTINCT person) FROM p WHERE k = 0 AND x > 0",
	"SELECT s, COUNT(*), SUM(i) FROM p WHERE k <> -3 GROUP BY s",
	"SELECT k, COUNT(*) FROM p WHERE k <= 0 GROUP BY k",
	"SELECT AVG(i) FROM p WHERE k IN (-3) AND s = 'a'",
}

// Persons count in their own parts alone: a copy gives the reference's sums for questions that are confined, over a
// crowd of whom most have rows in every part; and of one part more for a unit both give others, so that the test shows
// something. Of the table itself they are refused.
func TestOwnPartsAgree(t *testing.T) {
	for name, text := range ways {
		b := newBench(t, text("add-remove"))
		rows := crowd(300)
		b.write(t, "p", rows)
		from := b.copied(t, "p", &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
		rows = b.ranks(t, rows)
		for _, question := range confinedQuestions {
			p := b.plan(t, question)
			if p.Part == nil {
				t.Fatal(question)
			}
			b.isRefused(t, &p.Statement, engine.Sealed{})
			answer := func() map[string]string {
				got, reference := map[string]*big.Int{}, map[string]*big.Int{}
				if err := b.engine("p").sums(t.Context(), &p.Statement, from, gather(got)); err != nil {
					t.Fatal(err)
				}
				enginetest.Sum(&p.Statement, rows, gather(reference))
				if got, want := nonZero(got), nonZero(reference); !maps.Equal(got, want) {
					t.Errorf("%s: %s: got %v, want %v", name, question, got, want)
				}
				return nonZero(got)
			}
			before := answer()
			p.Part.PerUnit++
			if after := answer(); maps.Equal(before, after) {
				t.Errorf("%s: %s: one part more for a unit changes nothing", name, question)
			}
		}
	}
}

// What a unit adds to a cell is clamped to bounds of its own, and a cap on rows and groups beside an order is kept, of
// the table and of a copy.
func TestCellBoundsAgree(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	rows := crowd(40)
	b.write(t, "p", rows)
	from := b.copied(t, "p", &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
	inCopy := b.ranks(t, rows)
	for _, question := range []string{
		"SELECT SUM(i, contribution_bounds_per_group => (-1, 3)) FROM p",
		"SELECT s, SUM(i, contribution_bounds_per_group => (2, 3)), COUNT(*) FROM p GROUP BY s",
		"SELECT SUM(x, contribution_bounds_per_group => (0, 2.5)), COUNT(*, contribution_bounds_per_group => (0, 1)) FROM p",
	} {
		p := b.plan(t, question)
		inTable := b.ranked(t, &p.Statement, "p", rows)
		for _, c := range []struct {
			from engine.Sealed
			rows []enginetest.Row
		}{{engine.Sealed{}, inTable}, {from, inCopy}} {
			got, reference, without := map[string]*big.Int{}, map[string]*big.Int{}, map[string]*big.Int{}
			if err := b.engine("p").sums(t.Context(), &p.Statement, c.from, gather(got)); err != nil {
				t.Fatal(err)
			}
			enginetest.Sum(&p.Statement, c.rows, gather(reference))
			if got, want := nonZero(got), nonZero(reference); !maps.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", question, got, want)
			}
			free := p.Statement
			free.Measures = nil
			for _, m := range p.Statement.Measures {
				m := *m
				m.Cells = nil
				free.Measures = append(free.Measures, &m)
			}
			enginetest.Sum(&free, c.rows, gather(without))
			if maps.Equal(nonZero(got), nonZero(without)) {
				t.Errorf("%s: the bounds cut nothing off: the test shows nothing", question)
			}
		}
	}
}

// The values of a public table are those of its copy, cleaned and in their order, and not of the table itself, of which
// sealing notes them.
func TestValues(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	b.write(t, "t", []enginetest.Row{
		{"w": value.OfText("b")}, {"w": value.OfText("É")}, {"w": value.OfText("B")}, {"w": value.NullOf(value.Text)}, {"w": value.OfText("b")}, {"w": value.OfText("")},
	})
	w := bounded.PublicColumn(b.policy.Table("t").Column("w"))
	if _, err := b.engine("t").Values(t.Context(), w, engine.Sealed{}, 10); err == nil {
		t.Error("values of a table that may change")
	}
	public := *b.policy.Table("t")
	public.Source = source("t")
	if found, err := (Sealer{}).Look(t.Context(), &public, "w"); err != nil || found.Values != nil {
		t.Errorf("values of a table that is not public: %q, %v", found.Values, err)
	}
	public.Public = true
	if found, err := (Sealer{}).Look(t.Context(), &public, "w", "x", "nothing"); err != nil || len(found.Values) != 1 ||
		!slices.Equal(found.Values["w"], []string{"", "B", "b", "É"}) {
		t.Errorf("noted at sealing: %q, %v", found.Values, err)
	}
	from := b.copied(t, "t")
	for most, want := range map[int][]string{10: {"", "B", "b", "É"}, 2: {"", "B"}} {
		got, err := b.engine("t").Values(t.Context(), w, from, most)
		if err != nil || len(got) != len(want) {
			t.Fatal(got, err)
		}
		for i := range want {
			if got[i] != value.OfText(want[i]) {
				t.Errorf("%v, want %q", got, want)
			}
		}
	}
}
