package ledger

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/privacy"
)

// divided are terms whose table visits is divided, in most parts for a unit.
func dividedTerms(budget, maximum string, most int64) Terms {
	t := terms(budget, maximum)
	t.Parts = map[string]Parting{"visits": {Term: "party text: 3 values", Most: most}}
	return t
}

func confined(i int, price string, parts ...string) Reservation {
	r := reservation(key(i), price)
	r.Confined = &Confined{Table: "visits", Parts: parts}
	return r
}

func beginWith(tb testing.TB, t Terms, now func() time.Time) (string, *Ledger) {
	tb.Helper()
	dir := tb.TempDir()
	must(tb, Create(dir, testID, now()))
	l, err := Open(dir, now)
	must(tb, err)
	tb.Cleanup(func() { _ = l.Close() })
	must(tb, l.Adopt(t, 1, l.Head()))
	must(tb, l.Sealed("visits", 1, digest))
	return dir, l
}

func wantReserve(tb testing.TB, l *Ledger, r Reservation, admitted bool) {
	tb.Helper()
	_, err := l.Reserve(r)
	switch {
	case admitted && err != nil:
		tb.Errorf("%v: %v", r.Loss, err)
	case !admitted && !errors.As(err, new(*privacy.OverdrawError)):
		tb.Errorf("%v to %v was admitted: %v", r.Loss, r.Confined, err)
	}
}

// The week of Democrats and Republicans: a question about each, at ε₁ and ε₂ ≥ ε₁, costs ε₂ once under
// add/remove, both under change-one.
func TestWeekOfParties(t *testing.T) {
	for neighbours, want := range map[privacy.Neighbours]string{privacy.AddRemove: "0.5", privacy.ChangeOne: "0.8"} {
		terms := dividedTerms("1", "1", 1)
		terms.Neighbours = neighbours
		dir, l := beginWith(t, terms, clock)
		wantReserve(t, l, confined(1, "0.3", "D"), true)
		wantReserve(t, l, confined(2, "0.5", "R"), true)
		wantEpsilon(t, neighbours.String(), mustState(t, l).Spent, want)
		must(t, l.Close())
		l = mustOpen(t, dir)
		wantEpsilon(t, "read again", mustState(t, l).Spent, want)
		wantReserve(t, l, confined(3, "0.2", "I"), true) // the third counts for nobody who has lost more
		wantEpsilon(t, "with a third", mustState(t, l).Spent, want)
		if neighbours == privacy.AddRemove {
			wantReserve(t, l, confined(4, "0.71", "D"), false)
			wantReserve(t, l, confined(4, "0.7", "D"), true)
			wantReserve(t, l, reservation(key(5), "0.1"), false) // everybody: D has nothing left
			wantReserve(t, l, confined(6, "0.5", "R"), true)
			wantReserve(t, l, confined(7, "0.1", "D", "I"), false)
			wantReserve(t, l, confined(7, "0.8", "I"), true)
			wantEpsilon(t, "all", mustState(t, l).Spent, "1")
		}
		if _, err := Verify(dir, nil); err != nil {
			t.Error(err)
		}
	}
}

// Under ρ and δ each part of the loss has its own worst part: (0.2, 1e-6) of D and (0.1, 2e-6) of R are (0.2, 2e-6).
func TestPartsUnderRho(t *testing.T) {
	terms := dividedTerms("1", "1", 1)
	terms.Budget, terms.MaxPrice = zcdp("0.3", "1/100000"), zcdp("0.3", "1/100000")
	_, l := beginWith(t, terms, clock)
	for part, loss := range map[string]privacy.Loss{
		"D": zcdp("0.2", "1/1000000"), "R": zcdp("0.1", "2/1000000"),
		"I": pure("0.5"),
	} {
		// 0.125
		r := confined(1, "1", part)
		r.Loss = loss
		wantReserve(t, l, r, true)
	}
	if s := mustState(t, l); !equal(s.Spent, zcdp("0.2", "2/1000000")) ||
		!equal(s.Remaining, zcdp("0.1", "8/1000000")) {
		t.Errorf("%v %v", s.Spent, s.Remaining)
	}
}

// What two neighbours can lose in truth, by trying every choice of own parts: never more than what the account says;
// with one part for a unit under add/remove exactly that. And room is the largest charge that stays within the budget.
func TestAccountAgainstEveryUnit(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne}).Draw(t, "neighbours")
		most := int64(rapid.IntRange(1, 2).Draw(t, "most"))
		d := division{Source{"t", 1}, Parting{"x", most}}
		a := newAccount()
		type charge struct {
			price *big.Rat
			mask  int // 0 for everybody
		}
		var charges []charge
		pick := func(mask int) (parts []string) {
			for i, name := range names {
				if mask>>i&1 == 1 {
					parts = append(parts, name)
				}
			}
			return parts
		}
		for range rapid.IntRange(0, 8).Draw(t, "charges") {
			c := charge{
				big.NewRat(int64(rapid.IntRange(1, 5).Draw(t, "price")), 10),
				rapid.IntRange(0, 15).Draw(t, "parts"),
			}
			charges = append(charges, c)
			a.charge(pureOf(c.price), d, pick(c.mask))
			if rapid.Bool().Draw(t, "looked at") { // then the next charge adds to what is known
				a.spent(n, privacy.Pure)
			}
		}
		for _, price := range []string{"0.1", "0.3", "1"} {
			budget := pureOf(big.NewRat(int64(rapid.IntRange(1, 40).Draw(t, "budget of a look")), 10))
			mask := rapid.IntRange(0, 15).Draw(t, "parts of a look")
			if a.fits(pure(price), budget, n, d, pick(mask)) && !pure(price).Within(a.room(budget, n, d, pick(mask))) {
				t.Fatalf("%v: %v to %v fits into %v", charges, price, pick(mask), budget)
			}
		}
		k := int(d.parting.most(n))
		truth := new(big.Rat)
		for own := range 16 {
			if bits(own) > k {
				continue
			}
			sum := new(big.Rat)
			for _, c := range charges {
				if c.mask == 0 || c.mask&own != 0 {
					sum.Add(sum, c.price)
				}
			}
			if sum.Cmp(truth) > 0 {
				truth = sum
			}
		}
		spent := a.spent(n, privacy.Pure)
		if !pureOf(truth).Within(spent) || k == 1 && !equal(spent, pureOf(truth)) {
			t.Fatalf("%v: the truth is %v, the account says %v", charges, truth, spent)
		}
		mask := rapid.IntRange(0, 15).Draw(t, "parts of the next")
		budget := pureOf(big.NewRat(int64(rapid.IntRange(1, 40).Draw(t, "budget")), 10))
		room := a.room(budget, n, d, pick(mask))
		if !spent.Within(budget) {
			if !room.IsZero() {
				t.Fatalf("room %v beyond the budget", room)
			}
			return
		}
		after := func(l privacy.Loss) privacy.Loss {
			b := newAccount()
			for _, c := range charges {
				b.charge(pureOf(c.price), d, pick(c.mask))
			}
			b.charge(l, d, pick(mask))
			return b.spent(n, privacy.Pure)
		}
		if !after(room).Within(budget) {
			t.Fatalf("%v + %v to %v is %v, beyond %v", charges, room, pick(mask), after(room), budget)
		}
		if more := room.Plus(pureOf(big.NewRat(1, 1_000_000))); after(more).Within(budget) {
			t.Fatalf("%v: room for %v to %v, and %v fits into %v", charges, room, pick(mask), more, budget)
		}
	})
}

func bits(mask int) (n int) {
	for ; mask > 0; mask &= mask - 1 {
		n++
	}
	return n
}

// Another version, another table, and other parts of the same table are divisions of their own: they add up.
func TestDivisionsAddUp(t *testing.T) {
	terms := dividedTerms("1", "1", 1)
	_, l := beginWith(t, terms, clock)
	wantReserve(t, l, confined(1, "0.3", "D"), true)
	must(t, l.Sealed("visits", 2, digest))
	second := confined(2, "0.2", "R")
	second.Sources = []Source{{"visits", 2}}
	wantReserve(t, l, second, true)
	wantEpsilon(t, "of two versions", mustState(t, l).Spent, "0.5")

	terms.Parts = map[string]Parting{"visits": {Term: "day date: 7 values", Most: 2}}
	must(t, l.Adopt(terms, 1, l.Head()))
	wantEpsilon(t, "after other parts", mustState(t, l).Spent, "0.5")
	for i, day := range []string{"mon", "tue", "wed"} {
		wantReserve(t, l, confined(10+i, "0.1", day), true)
	}
	wantEpsilon(t, "the two dearest days", mustState(t, l).Spent, "0.7")
	week := confined(20, "0.2", "fri", "mon", "sat", "sun", "thu", "tue", "wed")
	wantReserve(t, l, week, true)
	wantEpsilon(t, "the week once, not twice", mustState(t, l).Spent, "1")

	terms.Parts = nil
	must(t, l.Adopt(terms, 1, l.Head()))
	wantEpsilon(t, "without parts", mustState(t, l).Spent, "1")
	if _, err := l.Reserve(confined(30, "0.1", "mon")); !errors.Is(err, ErrParts) {
		t.Error(err)
	}
}

// A change of relation counts what has been spent as everybody's, k times.
func TestPartsReadAgain(t *testing.T) {
	terms := dividedTerms("4", "1", 1)
	dir, l := beginWith(t, terms, clock)
	wantReserve(t, l, confined(1, "0.3", "D"), true)
	wantReserve(t, l, confined(2, "0.5", "R"), true)
	wantReserve(t, l, reservation(key(3), "0.1"), true)
	terms.Neighbours = privacy.ChangeOne
	must(t, l.Adopt(terms, 2, l.Head()))
	wantEpsilon(t, "×2", mustState(t, l).Spent, "1.2")
	wantReserve(t, l, confined(4, "0.5", "D"), true)
	wantEpsilon(t, "then D", mustState(t, l).Spent, "1.7")
	must(t, l.Close())
	wantEpsilon(t, "read again", mustState(t, mustOpen(t, dir)).Spent, "1.7")
}

// A fragment may have been about a part that had more left than others.
func TestFragmentOfParts(t *testing.T) {
	dir, l := beginWith(t, dividedTerms("1", "0.5", 1), clock)
	wantReserve(t, l, confined(1, "0.5", "D"), true)
	wantReserve(t, l, confined(2, "0.4", "D"), true)
	must(t, l.Close())
	textHead(t, dir)
	writeFile(t, dir, logName, append(readLog(t, dir), `{"v":2,"n"`...))
	l = mustOpen(t, dir)
	// It may have been 0.5 to R, of which nothing was left to D: everybody is charged that.
	wantEpsilon(t, "spent", mustState(t, l).Spent, "1.4")
	wantEpsilon(t, "remaining", mustState(t, l).Remaining, "0")
	wantReserve(t, l, confined(3, "0.1", "R"), false)
}

// What is left counts a fragment before it is recorded as it does after.
func TestRoomBesideAFragment(t *testing.T) {
	terms := dividedTerms("1", "0.1", 1)
	terms.Grant = &Grant{"year", pure("0.35")}
	dir, l := beginWith(t, terms, clock)
	for i, part := range []string{"D", "D", "R"} {
		wantReserve(t, l, confined(i, "0.1", part), true)
	}
	must(t, l.Close())
	textHead(t, dir)
	writeFile(t, dir, logName, append(readLog(t, dir), `{"v":2,"n"`...))
	l = mustOpen(t, dir)
	check := func(when string) {
		t.Helper()
		for want, r := range map[string]Reservation{
			"0.05": confined(5, "1", "D"), "0.15": confined(5, "1", "R"),
			"0.25": confined(5, "1", "I"),
		} {
			left, err := l.Room(r)
			must(t, err)
			wantEpsilon(t, when+" "+r.Confined.Parts[0], left, want)
		}
		left, err := l.Room(reservation(key(5), "1"))
		must(t, err)
		wantEpsilon(t, when, left, "0.05")
		wantEpsilon(t, when+" spent", mustState(t, l).Spent, "0.3")
	}
	check("before")
	must(t, l.Resume()) // writes, and so records the fragment
	check("after")
}

func TestBadParts(t *testing.T) {
	_, l := beginWith(t, dividedTerms("1", "1", 1), clock)
	for name, r := range map[string]Reservation{
		"unsorted": confined(1, "0.1", "R", "D"), "twice": confined(1, "0.1", "D", "D"), "none": confined(1, "0.1"),
		"empty": confined(1, "0.1", ""),
	} {
		if _, err := l.Reserve(r); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := confined(1, "0.1", "D")
	other.Confined.Table = "people"
	if _, err := l.Reserve(other); !errors.Is(err, ErrParts) {
		t.Error(err)
	}
	two := confined(1, "0.1", "D")
	two.Sources = append(two.Sources, Source{"visits", 1})
	if _, err := l.Reserve(two); !errors.Is(err, ErrParts) {
		t.Error(err)
	}
	for name, change := range map[string]func(*Terms){
		"no parts":       func(t *Terms) { t.Parts = map[string]Parting{"visits": {"x", 0}} },
		"no period":      func(t *Terms) { t.Grant = &Grant{"hour", pure("0.1")} },
		"a large grant":  func(t *Terms) { t.Grant = &Grant{"day", pure("2")} },
		"no grant":       func(t *Terms) { t.Grant = &Grant{"day", pure("0")} },
		"a grant in ρ":   func(t *Terms) { t.Grant = &Grant{"day", zcdp("0.1", "0")} },
		"no limit":       func(t *Terms) { t.Analysts = map[string]privacy.Loss{"a": pure("0")} },
		"no name":        func(t *Terms) { t.Analysts = map[string]privacy.Loss{"": pure("1")} },
		"a limit in ρ":   func(t *Terms) { t.Analysts = map[string]privacy.Loss{"a": zcdp("1", "0")} },
		"a nameless one": func(t *Terms) { t.Parts = map[string]Parting{"visits": {"", 1}} },
	} {
		bad := dividedTerms("1", "1", 1)
		change(&bad)
		if err := l.Adopt(bad, 1, l.Head()); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Grants: each period its own, none carried over, none by a clock that goes back, and the budget caps all.
func TestGrants(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	terms := terms("1", "1")
	terms.Grant = &Grant{"month", pure("0.4")}
	dir, l := beginWith(t, terms, func() time.Time { return now })
	n := 0
	ask := func(price string, admitted bool) {
		t.Helper()
		n++
		wantReserve(t, l, reservation(key(n), price), admitted)
	}
	ask("0.3", true)
	ask("0.2", false)
	ask("0.1", true)
	s := mustState(t, l)
	if p := s.Period; p == nil || !equal(p.Spent, pure("0.4")) || !p.Remaining.IsZero() ||
		p.Next != time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) {
		t.Errorf("%+v", p)
	}
	wantEpsilon(t, "remaining", s.Remaining, "0")
	now = time.Date(2027, 5, 3, 0, 0, 0, 0, time.UTC) // six months of grants passed unused
	wantEpsilon(t, "one month's grant, not six", mustState(t, l).Remaining, "0.4")
	ask("0.5", false)
	ask("0.3", true)
	now = time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC) // back
	wantEpsilon(t, "what May has left", mustState(t, l).Remaining, "0.1")
	ask("0.2", false)
	now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	ask("0.2", false)
	ask("0.1", true)
	now = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
	ask("0.3", false) // the lifetime has 0.2
	wantEpsilon(t, "the lifetime's", mustState(t, l).Remaining, "0.2")
	ask("0.2", true)
	now = time.Date(9001, 1, 1, 0, 0, 0, 0, time.UTC)
	ask("0.01", false)
	must(t, l.Close())
	r, err := Verify(dir, nil)
	must(t, err)
	wantEpsilon(t, "all", r.State.Spent, "1")
	if n := r.State.Period.Start; n != time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC) {
		t.Error(n)
	}
}

// A grant is divided as the budget is.
func TestGrantOfParts(t *testing.T) {
	terms := dividedTerms("2", "1", 1)
	terms.Grant = &Grant{"year", pure("0.5")}
	_, l := beginWith(t, terms, clock)
	wantReserve(t, l, confined(1, "0.5", "D"), true)
	wantReserve(t, l, confined(2, "0.5", "R"), true)
	wantReserve(t, l, confined(3, "0.1", "R"), false)
	left, err := l.Room(confined(4, "1", "I"))
	must(t, err)
	wantEpsilon(t, "room", left, "0.5")
}

func TestPeriods(t *testing.T) {
	at := func(text string) time.Time { d, err := time.Parse(time.DateOnly, text); must(t, err); return d }
	for _, c := range []struct{ per, in, start, next string }{
		{"day", "2024-02-28", "2024-02-28", "2024-02-29"},
		{"week", "2026-11-21", "2026-11-16", "2026-11-23"}, // a Saturday
		{"week", "2026-11-16", "2026-11-16", "2026-11-23"},
		{"week", "2027-01-03", "2026-12-28", "2027-01-04"},
		{"month", "2026-12-31", "2026-12-01", "2027-01-01"},
		{"quarter", "2026-12-31", "2026-10-01", "2027-01-01"},
		{"quarter", "2026-01-01", "2026-01-01", "2026-04-01"},
		{"quarter", "2026-06-30", "2026-04-01", "2026-07-01"},
		{"year", "2026-06-30", "2026-01-01", "2027-01-01"},
	} {
		g := &Grant{Per: c.per}
		late := at(c.in).Add(24*time.Hour - time.Nanosecond)
		if s := g.start(late); s != at(c.start) || g.next(s) != at(c.next) {
			t.Errorf("%s of %s: %v to %v", c.per, c.in, s, g.next(s))
		}
	}
}

// What was charged in a running period stays when the period changes; a first grant begins with the act.
func TestGrantsChange(t *testing.T) {
	now := testTime
	_, l := beginWith(t, terms("3", "1"), func() time.Time { return now })
	wantReserve(t, l, reservation(key(1), "0.7"), true)
	next := terms("3", "1")
	next.Grant = &Grant{"month", pure("1")}
	must(t, l.Adopt(next, 1, l.Head()))
	wantReserve(t, l, reservation(key(2), "0.8"), true)
	next.Grant = &Grant{"day", pure("1")}
	must(t, l.Adopt(next, 1, l.Head()))
	wantReserve(t, l, reservation(key(3), "0.3"), false)
	now = now.AddDate(0, 0, 1)
	wantReserve(t, l, reservation(key(3), "1"), true)
	next.Neighbours, next.Budget, next.Grant = privacy.ChangeOne, pure("9"), &Grant{"day", pure("4")}
	must(t, l.Adopt(next, 2, l.Head()))
	s := mustState(t, l)
	wantEpsilon(t, "all", s.Spent, "5")
	wantEpsilon(t, "today", s.Period.Spent, "2")
}

// Limits: of those who are listed, beside the budget, never in its place.
func TestAnalysts(t *testing.T) {
	terms := dividedTerms("1", "1", 1)
	terms.Analysts = map[string]privacy.Loss{"ann": pure("0.4"), "ben": pure("0.9")}
	_, l := beginWith(t, terms, clock)
	ask := func(name, price string, parts ...string) error {
		r := reservation(key(1), price)
		r.Analyst = name
		if parts != nil {
			r.Confined = &Confined{"visits", parts}
		}
		_, err := l.Reserve(r)
		return err
	}
	must(t, ask("ann", "0.2", "D"))
	must(t, ask("ann", "0.2", "R"))
	var limit *LimitError
	if err := ask("ann", "0.01", "I"); !errors.As(err, &limit) || limit.Of != "the limit of ann" {
		t.Error("prices count in full, whatever parts they are about:", err)
	}
	for _, name := range []string{"", "eve", "Ann"} {
		if err := ask(name, "0.01"); !errors.Is(err, ErrAnalyst) {
			t.Error(name, err)
		}
	}
	must(t, ask("ben", "0.8"))
	if err := ask("ben", "0.1", "I"); err != nil {
		t.Error(err)
	}
	s := mustState(t, l)
	wantEpsilon(t, "spent", s.Spent, "1")
	wantEpsilon(t, "ann", s.Analysts["ann"].Spent, "0.4")
	wantEpsilon(t, "ben", s.Analysts["ben"].Remaining, "0")
	terms.Analysts = nil
	must(t, l.Adopt(terms, 1, l.Head()))
	if err := ask("eve", "0.1", "I"); err != nil {
		t.Error("anybody may ask again:", err)
	}
	terms.Analysts = map[string]privacy.Loss{"ann": pure("0.5")}
	must(t, l.Adopt(terms, 1, l.Head()))
	wantEpsilon(t, "what ann spent stays", mustState(t, l).Analysts["ann"].Remaining, "0.1")
}

// A line has the least version that can say it, in writing and in reading.
func TestVersionsOfLines(t *testing.T) {
	terms := dividedTerms("1", "1", 1)
	_, l := beginWith(t, terms, clock)
	wantReserve(t, l, confined(1, "0.1", "D"), true)
	wantReserve(t, l, reservation(key(2), "0.1"), true)
	r := reservation(key(3), "0.1")
	r.Analyst = "ann"
	wantReserve(t, l, r, true)
	var versions []int
	must(t, l.Entries(func(e Entry) error { versions = append(versions, version(e.Body)); return nil }))
	if want := []int{1, 2, 1, 2, 1, 2}; !slices.Equal(versions, want) {
		t.Errorf("%v, want %v", versions, want)
	}
	lines := strings.Split(string(readLog(t, l.dir)), "\n")
	for _, damage := range []struct {
		line     int
		old, new string
	}{
		{3, `"v":2`, `"v":1`},
		{4, `"v":1`, `"v":2`},
		{3, `"parts":["D"]`, `"parts":[]`},
		{3, `"parts":["D"]`, `"parts":["D"],"parts":["R"]`},
		{3, `"parts":["D"]`, `"part":["D"]`},
		{3, `"parts":["D"]`, `"parts":null`},
		{3, `,"confined":{"table":"visits","parts":["D"]}`, ``},
		{3, `{"table":"visits","parts":["D"]}`, `null`},
		{5, `"analyst":"ann"`, `"analyst":null`},
		{5, `"analyst":"ann"`, `"Analyst":"ann"`},
		{1, `"most":1`, `"most":0`},
		{1, `"most":1`, `"most":"1"`},
	} {
		damaged := strings.Replace(lines[damage.line], damage.old, damage.new, 1)
		if damaged == lines[damage.line] {
			t.Fatal("nothing to replace: ", lines[damage.line])
		}
		if _, err := decodeLine([]byte(damaged)); err == nil {
			t.Errorf("%s is read", damaged)
		}
	}
}

// The filter under (ρ, δ), with pure losses among the others, over two divisions and everybody, against every choice
// of own parts: in each step neither part of what two neighbours lose is beyond the budget, what fits is what room
// leaves, and room leaves all that there is.
func TestAccountUnderRhoAgainstEveryUnit(t *testing.T) {
	names := []string{"a", "b", "c"}
	pick := func(mask int) (parts []string) {
		for i, name := range names {
			if mask>>i&1 == 1 {
				parts = append(parts, name)
			}
		}
		return parts
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne}).Draw(t, "neighbours")
		ds := []division{
			{Source{"t", 1}, Parting{"x", 1}},
			{Source{"t", 2}, Parting{"x", int64(rapid.IntRange(1, 2).Draw(t, "most"))}},
		}
		budget := zcdp("2", "1/100")
		a := newAccount()
		var lost [2][8][2]*big.Rat // of the unit in these parts of a division
		whole := amounts(zcdp("0", "0"))
		for i := range lost {
			for own := range lost[i] {
				lost[i][own] = [2]*big.Rat{new(big.Rat), new(big.Rat)}
			}
		}
		for range rapid.IntRange(1, 14).Draw(t, "charges") {
			d, mask := rapid.IntRange(0, 1).Draw(t, "division"), rapid.IntRange(0, 7).Draw(t, "parts")
			price := rapid.SampledFrom([]privacy.Loss{
				pure("1"), pure("0.5"), zcdp("0.5", "1/200"),
				zcdp("0.1", "1/100"), zcdp("0.3", "0"), zcdp("0.01", "3/1000"),
			}).Draw(t, "price")
			room := a.room(budget, n, ds[d], pick(mask))
			if a.fits(price, budget, n, ds[d], pick(mask)) && !price.Within(room) {
				t.Fatalf("%v fits, and %v is left", price, room)
			}
			next := func(l privacy.Loss) [2]*big.Rat {
				// what the worst two neighbours lose with a charge more, over all choices of own parts
				x := amounts(l)
				worst := [2]*big.Rat{}
				for axis := range worst {
					sum := new(big.Rat).Set(whole[axis])
					if mask == 0 {
						sum.Add(sum, x[axis])
					}
					for i := range ds {
						most := new(big.Rat)
						for own := range 8 {
							if int64(bits(own)) > ds[i].parting.most(n) {
								continue
							}
							v := new(big.Rat).Set(lost[i][own][axis])
							if i == d && own&mask != 0 {
								v.Add(v, x[axis])
							}
							if v.Cmp(most) > 0 {
								most = v
							}
						}
						sum.Add(sum, most)
					}
					worst[axis] = sum
				}
				return worst
			}
			x, err := price.In(privacy.ZCDP)
			if err != nil {
				t.Fatal(err)
			}
			admitted := price.Within(room)
			after := next(x)
			for axis, most := range amounts(budget) {
				if admitted && after[axis].Cmp(most) > 0 {
					t.Fatalf("%v of %v is lost, of %v", after, x, budget)
				}
			}
			if ds[1].parting.Most == 1 && n == privacy.AddRemove { // then the account is exact
				within := after[0].Cmp(amounts(budget)[0]) <= 0 && after[1].Cmp(amounts(budget)[1]) <= 0
				if within != admitted {
					t.Fatalf("%v loses %v, of %v: admitted %t, room %v", x, after, budget, admitted, room)
				}
			}
			if !admitted {
				continue
			}
			a.charge(price, ds[d], pick(mask))
			for axis, v := range amounts(x) {
				if mask == 0 {
					whole[axis].Add(whole[axis], v)
				}
				for own := range 8 {
					if own&mask != 0 {
						lost[d][own][axis].Add(lost[d][own][axis], v)
					}
				}
			}
		}
	})
}
