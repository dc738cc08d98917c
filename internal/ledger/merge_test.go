package ledger

import (
	"errors"
	"testing"

	"dither/privacy"
)

// home begins a ledger of its own with one charge.
func home(tb testing.TB, id byte, t Terms, price privacy.Loss) string {
	tb.Helper()
	dir := tb.TempDir()
	name := []byte(testID)
	name[0] = id
	must(tb, Create(dir, string(name), testTime))
	l := mustOpen(tb, dir)
	must(tb, l.Adopt(t, 1, l.Head()))
	must(tb, l.Sealed("visits", 1, digest))
	r := reservation(key(1), "1")
	r.Loss = price
	_, err := l.Reserve(r)
	must(tb, err)
	must(tb, l.Close())
	return dir
}

// Two ledgers in one relation: by hand, as the theorems say.
func TestMerge(t *testing.T) {
	with := func(units map[string]string, n privacy.Neighbours, budget privacy.Loss) Terms {
		u := terms("1", "1")
		u.Budget, u.MaxPrice, u.Neighbours, u.Units = budget, budget, n, units
		return u
	}
	rows, persons := map[string]string{"visits": "row"}, map[string]string{"visits": "id integer≤4"}
	both := map[string]string{"visits": "id integer≤4", "bills": "row"}
	add, change := privacy.AddRemove, privacy.ChangeOne
	for _, c := range []struct {
		name           string
		a, b           Terms
		lossA, lossB   privacy.Loss
		rows           int64
		groupA, groupB int64
		spent          privacy.Loss
		overA, overB   bool
		err            error
	}{
		{"rows", with(rows, add, pure("1")), with(rows, add, pure("2")), pure("0.7"), pure("0.4"), 0, 1, 1, pure("1.1"), true, false, nil},
		{"persons", with(persons, add, pure("2")), with(persons, add, pure("2")), pure("0.7"), pure("0.4"), 0, 1, 1, pure("1.1"), false, false, nil},
		{"rows and persons", with(rows, add, pure("2")), with(persons, add, pure("2")), pure("0.1"), pure("0.4"), 3, 3, 1, pure("0.7"), false, false, nil},
		{"rows of persons", with(both, add, pure("2")), with(persons, add, pure("2")), pure("0.1"), pure("0.4"), 3, 4, 1, pure("0.8"), false, false, nil},
		{"unknown rows", with(rows, add, pure("2")), with(persons, add, pure("2")), pure("0.1"), pure("0.4"), 0, 0, 0, privacy.Loss{}, false, false, ErrUnits},
		{"a change", with(persons, add, pure("1")), with(persons, change, pure("1")), pure("0.5"), pure("0.1"), 0, 2, 1, pure("1.1"), false, true, nil},
		{"rows that change", with(rows, change, pure("1")), with(persons, add, pure("1")), pure("0.5"), pure("0.1"), 3, 0, 0, privacy.Loss{}, false, false, ErrUnits},
		{"rho", with(persons, add, zcdp("0.5", "0")), with(persons, add, zcdp("0.3", "0")), zcdp("0.1", "0"), zcdp("0.25", "0"), 0, 1, 1, zcdp("0.35", "0"), false, true, nil},
		{"rho of a change", with(persons, add, zcdp("0.5", "0")), with(persons, change, zcdp("1", "0")), zcdp("0.1", "0"), zcdp("0.25", "0"), 0, 2, 1, zcdp("0.65", "0"), false, false, nil},
		{"a δ for a change", with(persons, add, zcdp("0.5", "1/1000")), with(persons, change, zcdp("1", "0")), zcdp("0.1", "1/1000"), zcdp("0.25", "0"), 0, 0, 0, privacy.Loss{}, false, false, ErrIncompatible},
		{"a δ that is not spent", with(persons, add, zcdp("0.5", "1/1000")), with(persons, change, zcdp("1", "0")), zcdp("0.1", "0"), zcdp("0.25", "0"), 0, 2, 1, zcdp("0.65", "0"), false, false, nil},
		{"pure and rho", with(persons, add, pure("1")), with(persons, add, zcdp("0.3", "0")), pure("0.2"), zcdp("0.25", "0"), 0, 1, 1, zcdp("0.27", "0"), false, false, nil},
	} {
		dirs := []string{home(t, 'a', c.a, c.lossA), home(t, 'b', c.b, c.lossB)}
		m, err := Merge(dirs, c.rows)
		if c.err != nil || err != nil {
			if !errors.Is(err, c.err) || c.err == nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		a, b := m.Homes[0], m.Homes[1]
		if m.Twice != nil {
			t.Errorf("%s: %v", c.name, m.Twice)
		}
		if !equal(m.Spent, c.spent) || a.Group != c.groupA || b.Group != c.groupB || a.Over != c.overA ||
			b.Over != c.overB {
			t.Errorf("%s: %+v", c.name, m)
		}
		if a.Unknown != (c.name == "pure and rho") || b.Unknown {
			t.Errorf("%s: %v %v", c.name, a.Unknown, b.Unknown)
		}
	}
}

func TestBadMerges(t *testing.T) {
	a, b := home(t, 'a', terms("1", "1"), pure("0.7")), home(t, 'b', terms("1", "1"), pure("0.7"))
	for name, c := range map[string]struct {
		dirs []string
		rows int64
	}{
		"one": {[]string{a}, 0}, "itself": {[]string{a, a}, 0}, "no rows": {[]string{a, b}, -1},
		"too many": {[]string{a, b}, 1 << 62},
	} {
		if _, err := Merge(c.dirs, c.rows); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Merge([]string{a, t.TempDir()}, 0); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	empty := t.TempDir()
	must(t, Create(empty, testID, testTime))
	if _, err := Merge([]string{a, empty}, 0); !errors.Is(err, ErrNoPolicy) {
		t.Error(err)
	}
}

// What others have spent is charged once, to everybody, to no period, be it beyond the budget.
func TestOpening(t *testing.T) {
	a := home(t, 'a', terms("1", "1"), pure("0.7"))
	next := terms("1", "1")
	next.Grant = &Grant{"year", pure("1")}
	b := home(t, 'b', next, pure("0.2"))
	m, err := Merge([]string{a, b}, 0)
	must(t, err)
	l := mustOpen(t, b)
	o := Opening{m.Homes[0].Spent, []Origin{m.Homes[0].Origin}}
	must(t, l.Opened(o, l.Head()))
	s := mustState(t, l)
	wantEpsilon(t, "spent", s.Spent, "0.9")
	wantEpsilon(t, "this year", s.Period.Spent, "0.2")
	for name, bad := range map[string]Opening{
		"twice": o, "itself": {pure("0.1"), []Origin{m.Homes[1].Origin}}, "nothing": {privacy.Loss{}, o.From},
		"nobody":  {o.Loss, nil},
		"no head": {o.Loss, []Origin{{testID, "x"}}}, "no id": {o.Loss, []Origin{{"x", o.From[0].Head}}},
	} {
		if err := l.Opened(bad, l.Head()); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := l.Opened(o, l.Head()); !errors.Is(err, ErrCharged) {
		t.Error(err)
	}
	other := []byte(testID)
	other[0] = 'c'
	third := Origin{string(other), o.From[0].Head}
	if err := l.Opened(Opening{zcdp("1", "0"), []Origin{third}}, l.Head()); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
	must(t, l.Opened(Opening{pure("0.4"), []Origin{third}}, l.Head()))
	wantEpsilon(t, "beyond", mustState(t, l).Spent, "1.3")
	wantReserve(t, l, reservation(key(9), "0.01"), false)
	must(t, l.Close())
	m, err = Merge([]string{a, b}, 0)
	must(t, err)
	if id := m.Homes[0].ID; len(m.Twice) != 1 || m.Twice[0] != id {
		t.Errorf("counted twice: %v, want %v", m.Twice, id)
	}
	r, err := Verify(b, nil)
	must(t, err)
	wantEpsilon(t, "read again", r.State.Spent, "1.3")
}

// What was charged as of rows is nobody's as of persons; and what was read before the terms changed is read again.
func TestOpeningAndTerms(t *testing.T) {
	rows := terms("1", "1")
	rows.Units = map[string]string{"visits": "row"}
	persons := rows
	persons.Units = map[string]string{"visits": "id integer≤4"}
	other := []byte(testID)
	other[0] = 'f'
	_, l := begin(t, "1", "1")
	before := l.Head()
	o := Opening{pure("0.15"), []Origin{{string(other), before.String()}}}
	must(t, l.Adopt(rows, 1, before))
	if err := l.Opened(o, before); !errors.Is(err, ErrStale) {
		t.Error(err)
	}
	must(t, l.Opened(o, l.Head()))
	for group := range int64(9) {
		if err := l.Adopt(persons, group+1, l.Head()); !errors.Is(err, ErrIncompatible) {
			t.Errorf("×%d: %v", group+1, err)
		}
		if err := l.MayAdopt(persons, group+1); !errors.Is(err, ErrIncompatible) {
			t.Errorf("×%d, foretold: %v", group+1, err)
		}
	}
	change := rows
	change.Neighbours = privacy.ChangeOne
	must(t, l.MayAdopt(change, 2))
	must(t, l.Adopt(change, 2, l.Head()))
	wantEpsilon(t, "for a change", mustState(t, l).Spent, "0.3")

	_, l = begin(t, "1", "1") // as of persons it is of rows too
	must(t, l.Adopt(persons, 1, l.Head()))
	must(t, l.Opened(o, l.Head()))
	must(t, l.Adopt(rows, 2, l.Head()))
	must(t, l.Adopt(rows, 1, l.Head()))
}

// What was never acknowledged costs nothing in a merge either; what may have been is charged.
func TestMergeOfAFragment(t *testing.T) {
	a, b := home(t, 'a', terms("1", "1"), pure("0.2")), home(t, 'b', terms("1", "1"), pure("0.1"))
	writeFile(t, b, logName, append(readLog(t, b), `{"v":1,"n":4`...))
	for _, c := range []struct{ alone, both string }{{"0.1", "0.3"}, {"1", "1.2"}} {
		r, err := Verify(b, nil)
		must(t, err)
		wantEpsilon(t, "alone", r.State.Spent, c.alone)
		m, err := Merge([]string{a, b}, 0)
		must(t, err)
		wantEpsilon(t, "together", m.Spent, c.both)
		oneSlot(t, b)
	}
}
