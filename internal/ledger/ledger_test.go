package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dither/privacy"
)

func TestAnswerIsFoundAgain(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	first := mustReserve(t, l, key(1), "0.1")
	if _, ok, err := l.Find(key(1)); ok || err != nil {
		t.Fatalf("a reservation without a release was found: %v %v", ok, err)
	}
	must(t, l.Release(first, values(1)))
	second := mustReserve(t, l, key(1), "1/30") // the analyst pays again
	must(t, l.Release(second, values(2)))
	other := mustOpen(t, dir)
	for _, h := range []*Ledger{l, other} {
		a, ok, err := h.Find(key(1))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		released, err := a.Values()
		if a.Reserved != second || string(released) != string(values(2)) || err != nil {
			t.Errorf("found %+v: %s, %v", a, released, err)
		}
		r, err := a.Reservation()
		if diff := cmp.Diff(reservation(key(1), "1/30"), r, cmp.Comparer(equal)); diff != "" || err != nil {
			t.Error(diff, err)
		}
		s := mustState(t, h)
		wantEpsilon(t, "spent", s.Spent, "2/15")
		wantEpsilon(t, "remaining", s.Remaining, "13/15")
		if s.Answers != 2 || s.Reservations != 2 || s.ID != testID || s.Sealed["visits"].Version != 1 {
			t.Errorf("%+v", s)
		}
	}
}

func TestRefusalsWriteNothing(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	open := mustReserve(t, l, key(0), "0.5")
	done := mustReserve(t, l, key(1), "0.4")
	must(t, l.Release(done, values(1)))
	change := func(f func(*Reservation)) func() error {
		return func() error {
			r := reservation(key(2), "0.1")
			f(&r)
			_, err := l.Reserve(r)
			return err
		}
	}
	adopt := func(group int64, f func(*Terms)) func() error {
		return func() error {
			terms := terms("1", "0.5")
			f(&terms)
			return l.Adopt(terms, group, l.Head())
		}
	}
	for _, c := range []struct {
		name string
		do   func() error
		want error
	}{
		{"zero price", change(func(r *Reservation) { r.Loss = privacy.Loss{} }), ErrPrice},
		{"price above the maximum", change(func(r *Reservation) { r.Loss = pure("0.51") }), ErrPrice},
		{"other policy", change(func(r *Reservation) { r.Policy = strings.Repeat("b", 64) }), ErrPolicyChanged},
		{"unsealed version", change(func(r *Reservation) { r.Sources[0].Version = 2 }), ErrNotSealed},
		{"unsealed table", change(func(r *Reservation) { r.Sources = append(r.Sources, Source{"people", 1}) }), ErrNotSealed},
		{"no source", change(func(r *Reservation) { r.Sources = nil }), ErrInvalid},
		{"no mechanism", change(func(r *Reservation) { r.Mechanisms = nil }), ErrInvalid},
		{"scale", change(func(r *Reservation) { r.Mechanisms[0].Scale = "NaN" }), ErrInvalid},
		{"sensitivity", change(func(r *Reservation) { r.Mechanisms[0].Sensitivity = "-1" }), ErrInvalid},
		{"key", change(func(r *Reservation) { r.Key = "no hexadecimal" }), ErrInvalid},
		{"question", change(func(r *Reservation) { r.Question = "\xff" }), ErrInvalid},
		{"no reservation", func() error { return l.Release(99, values(1)) }, ErrNotReserved},
		{"release of a policy", func() error { return l.Release(1, values(1)) }, ErrNotReserved},
		{"second release", func() error { return l.Release(done, values(1)) }, ErrNotReserved},
		{"step of no reservation", func() error { return l.Step(Step{99, "", values(1)}) }, ErrNotReserved},
		{"step of an answered reservation", func() error { return l.Step(Step{done, "", values(1)}) }, ErrNotReserved},
		{"values of a step", func() error { return l.Step(Step{open, "", nil}) }, ErrInvalid},
		{"question of a step", func() error { return l.Step(Step{open, "\xff", values(1)}) }, ErrInvalid},
		{"values", func() error { return l.Release(open, json.RawMessage(`{"n":`)) }, ErrInvalid},
		{"no values", func() error { return l.Release(open, nil) }, ErrInvalid},
		{"sealed twice", func() error { return l.Sealed("visits", 1, digest) }, ErrInvalid},
		{"seal digest", func() error { return l.Sealed("visits", 2, "abc") }, ErrInvalid},
		{"group of none", adopt(0, func(*Terms) {}), ErrInvalid},
		{"two accountants", adopt(1, func(t *Terms) { t.Budget = zcdp("1", "0") }), ErrInvalid},
		{"zero budget", adopt(1, func(t *Terms) { t.Budget = privacy.Loss{} }), ErrInvalid},
		{"neighbours", adopt(1, func(t *Terms) { t.Neighbours = privacy.ChangeOne }), ErrIncompatible},
		{"no neighbours", adopt(1, func(t *Terms) { t.Neighbours = 0 }), ErrInvalid},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	var exhausted *privacy.OverdrawError
	if _, err := l.Reserve(reservation(key(2), "0.11")); !errors.As(err, &exhausted) {
		t.Errorf("exhausted: %v", err)
	} else {
		wantEpsilon(t, "remaining", exhausted.Remaining, "0.1")
	}
	if lines := strings.Count(string(readLog(t, dir)), "\n"); lines != 6 {
		t.Errorf("the log has %d lines", lines)
	}
	mustReserve(t, l, key(2), "0.1") // exactly what remains
	if s := mustState(t, l); !s.Remaining.IsZero() {
		t.Errorf("%s remains", s.Remaining)
	}
}

func TestReserveBeforeAdoption(t *testing.T) {
	dir := t.TempDir()
	must(t, Create(dir, testID, testTime))
	l := mustOpen(t, dir)
	if _, err := l.Reserve(reservation(key(1), "0.1")); !errors.Is(err, ErrNoPolicy) {
		t.Error(err)
	}
	if s := mustState(t, l); s.Adopted || !s.Remaining.IsZero() {
		t.Errorf("%+v", s)
	}
}

// TestZCDP: a budget of zCDP charges a pure loss by its ε²/2 and adds up ρ and δ; pure losses that were charged
// before are read again one by one, and what was charged in ρ never becomes pure.
func TestZCDP(t *testing.T) {
	dir, l := begin(t, "4", "2")
	mustReserve(t, l, key(1), "1")
	mustReserve(t, l, key(2), "2")
	change := terms("4", "2")
	change.Budget, change.MaxPrice = zcdp("3", "0.001"), zcdp("1", "0.001")
	must(t, l.Adopt(change, 1, l.Head()))
	if s := mustState(t, l); !equal(s.Spent, zcdp("2.5", "0")) || !equal(s.Remaining, zcdp("0.5", "0.001")) {
		t.Errorf("spent %s, remaining %s", s.Spent, s.Remaining)
	}
	pay := func(loss privacy.Loss) error {
		r := reservation(key(3), "1")
		r.Loss = loss
		_, err := l.Reserve(r)
		return err
	}
	var over *privacy.OverdrawError
	if err := pay(zcdp("0.500000000000001", "0")); !errors.As(err, &over) {
		t.Errorf("beyond the budget by one part in 10¹⁵: %v", err)
	}
	if err := pay(zcdp("0.1", "0.0010001")); !errors.Is(err, ErrPrice) {
		t.Errorf("a δ above the maximum: %v", err)
	}
	must(t, pay(zcdp("0.25", "0.0005")))
	must(t, pay(pure("0.5"))) // ρ = 0.125
	if err := pay(zcdp("0.001", "0.0006")); !errors.As(err, &over) {
		t.Errorf("δ beyond the budget: %v", err)
	}
	for _, h := range []*Ledger{l, mustOpen(t, dir)} {
		if s := mustState(t, h); !equal(s.Spent, zcdp("2.875", "0.0005")) ||
			!equal(s.Remaining, zcdp("0.125", "0.0005")) {
			t.Errorf("spent %s, remaining %s", s.Spent, s.Remaining)
		}
	}
	if err := l.Adopt(terms("100", "2"), 1, l.Head()); !errors.Is(err, ErrIncompatible) {
		t.Errorf("from zCDP to pure: %v", err)
	}
	change.Neighbours = privacy.ChangeOne
	if err := l.Adopt(change, 2, l.Head()); !errors.Is(err, ErrIncompatible) {
		t.Errorf("a group of two with a δ spent: %v", err)
	}
}

// TestZCDPGroups: to two people together a loss of ρ counts as 4ρ.
func TestZCDPGroups(t *testing.T) {
	_, l := begin(t, "4", "2")
	change := terms("4", "2")
	change.Budget, change.MaxPrice = zcdp("3", "0"), zcdp("1", "0")
	must(t, l.Adopt(change, 1, l.Head()))
	r := reservation(key(3), "1")
	r.Loss = zcdp("0.5", "0")
	_, err := l.Reserve(r)
	must(t, err)
	change.Neighbours = privacy.ChangeOne
	must(t, l.Adopt(change, 2, l.Head()))
	if s := mustState(t, l); !equal(s.Spent, zcdp("2", "0")) {
		t.Errorf("spent %s", s.Spent)
	}
}

// TestChangeOfTerms: past charges are read again under the new relation.
func TestChangeOfTerms(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	paid := mustReserve(t, l, key(1), "0.3")
	change := terms("1", "0.5")
	change.Neighbours = privacy.ChangeOne
	change.Digest = strings.Repeat("b", 64)
	must(t, l.Adopt(change, 2, l.Head()))
	wantEpsilon(t, "spent", mustState(t, l).Spent, "0.6")
	must(t, l.Release(paid, values(1))) // a reservation outlives the terms that it was made under
	back := terms("1", "0.5")
	if err := l.Adopt(back, 100, l.Head()); !errors.Is(err, ErrIncompatible) {
		t.Errorf("from change-one to add-remove: %v", err)
	}
	change.Units = map[string]string{"visits": "person"}
	if err := l.Adopt(change, 1, Head{}); !errors.Is(err, ErrStale) {
		t.Errorf("adopted from an old head: %v", err)
	}
	must(t, l.Adopt(change, 3, l.Head()))
	for _, h := range []*Ledger{l, mustOpen(t, dir)} {
		s := mustState(t, h)
		wantEpsilon(t, "spent", s.Spent, "1.8") // history is not refused
		wantEpsilon(t, "remaining", s.Remaining, "0")
	}
	change.Budget = pure("2")
	must(t, l.Adopt(change, 1, l.Head()))
	r := reservation(key(2), "0.2")
	r.Policy = change.Digest
	if _, err := l.Reserve(r); err != nil {
		t.Error(err)
	}
}

func TestCreateOverwritesNothing(t *testing.T) {
	for _, name := range []string{logName, headName} {
		dir := t.TempDir()
		writeFile(t, dir, name, nil)
		if err := Create(dir, testID, testTime); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	must(t, Create(dir, testID, testTime))
	before := readLog(t, dir)
	if err := Create(dir, testID, testTime); !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	if string(before) != string(readLog(t, dir)) {
		t.Error("the log changed")
	}
	for _, name := range []string{logName, headName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if err := Create(filepath.Join(dir, "none"), testID, testTime); err == nil {
		t.Error("a ledger in no directory")
	}
	if err := Create(t.TempDir(), "short", testTime); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	_, l := begin(t, "1", "1")
	must(t, l.Close())
	must(t, l.Close())
	if _, err := l.State(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := l.Reserve(reservation(key(1), "0.1")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestFormat pins the bytes of version 1. A change here is a new version, with its migration.
func TestFormat(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	must(t, l.Release(mustReserve(t, l, key(1), "1/30"), values(7)))
	want, err := os.ReadFile(filepath.Join("testdata", "v1.log"))
	must(t, err)
	if diff := cmp.Diff(string(want), string(readLog(t, dir))); diff != "" {
		t.Error(diff)
	}
	head, err := os.ReadFile(filepath.Join(dir, headName))
	must(t, err)
	if h, err := parseHeads(head); err != nil || !h.sure() || h.head() != l.Head() ||
		h.slots[h.newest].end != int64(len(want))-1 {
		t.Errorf("the head file is %q, the head %s", head, l.Head())
	}
	slots, err := os.ReadFile(filepath.Join("testdata", "v4.head"))
	must(t, err)
	if diff := cmp.Diff(string(slots), string(head)); diff != "" {
		t.Error(diff)
	}
}

// TestFormat2 pins the bytes of what version 2 adds.
func TestFormat2(t *testing.T) {
	terms := dividedTerms("2", "0.5", 1)
	terms.Grant = &Grant{"month", pure("1")}
	terms.Analysts = map[string]privacy.Loss{"ann": pure("1/2"), "ben": pure("1")}
	dir, l := beginWith(t, terms, clock)
	r := confined(1, "1/30", "D", "R")
	r.Analyst = "ann"
	index, err := l.Reserve(r)
	must(t, err)
	must(t, l.Release(index, values(7)))
	other := []byte(testID)
	other[0] = 'f'
	must(t, l.Opened(Opening{pure("0.25"), []Origin{{string(other), l.Head().String()}}}, l.Head()))
	want, err := os.ReadFile(filepath.Join("testdata", "v2.log"))
	must(t, err)
	if diff := cmp.Diff(string(want), string(readLog(t, dir))); diff != "" {
		t.Error(diff)
	}
}

// TestFormat3 pins the bytes of what version 3 adds. Of a log that uses nothing of it they are those of the versions
// before.
func TestFormat3(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	must(t, l.Fail(mustReserve(t, l, key(1), "1/30")))
	_, err := l.append(&member{body: Failure{Reservation: mustReserve(t, l, key(1), "1/30"), GivenUp: true}})
	must(t, err)
	r := reservation(key(2), "1/30")
	r.Caps, r.Subject = &Caps{Rows: 2}, &Subject{mark(1), []string{mark(2), mark(3)}, []string{mark(4)}}
	index, err := l.Reserve(r)
	must(t, err)
	must(t, l.Release(index, values(8)))
	want, err := os.ReadFile(filepath.Join("testdata", "v3.log"))
	must(t, err)
	if diff := cmp.Diff(string(want), string(readLog(t, dir))); diff != "" {
		t.Error(diff)
	}
}

// TestFormat4 pins the bytes of what version 4 adds. The heads are those of TestFormat.
func TestFormat4(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	writeFile(t, dir, logName, append(readLog(t, dir), `{"v":4,"n`...))
	mustReserve(t, l, key(1), "1/30")
	want, err := os.ReadFile(filepath.Join("testdata", "v4.log"))
	must(t, err)
	if diff := cmp.Diff(string(want), string(readLog(t, dir))); diff != "" {
		t.Error(diff)
	}
}

// TestFormat4GivenUp pins the bytes of a question and of a step that were given up and count.
func TestFormat4GivenUp(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	must(t, l.GiveUp(mustReserve(t, l, key(1), "1/30")))
	want, err := os.ReadFile(filepath.Join("testdata", "v4_given_up.log"))
	must(t, err)
	if diff := cmp.Diff(string(want), string(readLog(t, dir))); diff != "" {
		t.Error(diff)
	}
	dir, l = begin(t, "1", "0.5")
	index := mustReserve(t, l, key(1), "1/30")
	must(t, l.GiveUpStep(index, ""))
	must(t, l.GiveUpStep(index, "bob"))
	lines := strings.Split(string(readLog(t, dir)), "\n")
	for i, body := range []string{`{"reservation":3}`, `{"reservation":3,"analyst":"bob"}`} {
		begins := fmt.Sprintf(`{"v":4,"n":%d,`, 4+i)
		if l := lines[4+i]; !strings.HasPrefix(l, begins) ||
			!strings.HasSuffix(l, `"kind":"step_given_up","body":`+body+"}") {
			t.Error(l)
		}
	}
	if err := l.GiveUpStep(index, "a name \xff"); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	line := lines[4]
	of := `{"reservation":3}`
	for _, change := range [][2]string{{`{"v":4,`, `{"v":3,`}, {of, `{"reservation":3,"counted":true}`}, {of, `{}`}} {
		other := strings.Replace(line, change[0], change[1], 1)
		if _, err := decodeLine([]byte(other)); err == nil || other == line {
			t.Errorf("%s is read", other)
		}
	}
	if _, err := l.append(&member{body: Failure{
		Reservation: mustReserve(t, l, key(1), "1/30"),
		Counted:     true,
	}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a failure that counts as given up: %v", err)
	}
}

// What was given up stays spent, and does not stop the others: MaxFailures counts failures alone, before and after the
// ledger is read again. Those that an older program recorded, of which there may be any number, stop nobody.
func TestGivenUp(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	for range MaxFailures - 1 {
		must(t, l.Fail(mustReserve(t, l, key(1), "0.01")))
	}
	for range 2 * MaxFailures {
		index := mustReserve(t, l, key(1), "0.01")
		_, err := l.append(&member{body: Failure{Reservation: index, GivenUp: true}})
		must(t, err)
		if err := l.Release(index, values(1)); !errors.Is(err, ErrNotReserved) {
			t.Fatalf("released after it was given up: %v", err)
		}
		if err := l.Fail(index); !errors.Is(err, ErrNotReserved) {
			t.Fatalf("failed after it was given up: %v", err)
		}
	}
	for _, l := range []*Ledger{l, mustOpen(t, dir)} {
		if s := mustState(t, l); s.Failures != MaxFailures-1 || s.Lost == nil || s.Lost.Failed != MaxFailures-1 ||
			s.Lost.GivenUp != 2*MaxFailures || s.Lost.Open != 0 || !equal(s.Lost.Loss, pure("0.29")) ||
			!equal(s.Spent, pure("0.29")) {
			t.Errorf("%d failures, lost %+v, spent %s", s.Failures, s.Lost, s.Spent)
		}
	}
	must(t, l.Fail(mustReserve(t, l, key(1), "0.01")))
	if _, err := l.Reserve(reservation(key(1), "0.01")); !errors.Is(err, ErrSuspended) {
		t.Errorf("after %d failures: %v", MaxFailures, err)
	}
}
