package ledger

import (
	"crypto/sha256"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/privacy"
)

// A correction sets the clock of one wrong date right: grants go on with the calendar, and neither the period that was
// running nor the one that the wrong date opened gives another. Nothing is corrected where no entry is dated ahead.
func TestCorrection(t *testing.T) {
	now := testTime // in January
	of := terms("10", "1")
	of.Grant = &Grant{"month", pure("1")}
	dir, l := beginWith(t, of, func() time.Time { return now })
	spend := func(i int, price string, admitted bool) {
		t.Helper()
		if _, err := l.Reserve(reservation(key(i), price)); (err == nil) != admitted || err != nil &&
			!errors.As(err, new(*LimitError)) {
			t.Fatalf("%s on %v: %v", price, now, err)
		}
	}
	if _, err := l.CorrectClock(); !errors.Is(err, ErrClockRight) {
		t.Error(err)
	}
	spend(0, "1", true)
	spend(1, "0.1", false)
	now = time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	spend(2, "0.4", true) // March's grant
	now = testTime.AddDate(0, 0, 5)
	ahead, err := l.CorrectClock()
	if err != nil || ahead.Month() != time.March {
		t.Fatal(ahead, err)
	}
	if s := mustState(t, l); !s.Clock.Equal(now) || s.Period.Next.Format(time.DateOnly) != "2026-02-01" ||
		!equal(s.Period.Remaining, pure("0.6")) {
		t.Errorf("%+v, %+v", s, s.Period)
	}
	spend(3, "0.7", false) // January's was spent, and of March's .6 is left
	spend(4, "0.6", true)
	now = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	spend(5, "0.9", true)
	if s := mustState(t, l); s.Period.Next.Format(time.DateOnly) != "2026-04-01" {
		t.Errorf("%+v", s.Period)
	}
	now = time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)
	spend(6, "0.2", false) // March gave its grant, when the date was wrong: February's goes on
	spend(7, "0.1", true)
	now = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	spend(8, "1", true)
	again := mustOpen(t, dir)
	if a, b := mustState(t, l), mustState(t, again); a.Spent != b.Spent && !equal(a.Spent, b.Spent) ||
		!a.Clock.Equal(b.Clock) {
		t.Errorf("%+v, and read again %+v", a, b)
	}
	if _, err := Verify(dir, nil); err != nil {
		t.Error(err)
	}
}

// TestCorrectionModel: over clocks that jump anywhere and are corrected at any time, all that is admitted is at most a
// grant for each period that some entry is dated in, no period has two, and the lifetime holds. A reader who reads the
// ledger again finds the same.
func TestCorrectionModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemFS(t)
		now := testTime
		must(t, create(m, faultDir, testID, now))
		reopen := func() *Ledger {
			l, err := open(m, faultDir, func() time.Time { return now })
			if err != nil {
				rt.Fatal(err)
			}
			return l
		}
		l := reopen()
		of := terms("6", "1")
		of.Grant = &Grant{rapid.SampledFrom(Periods()).Draw(rt, "per"), pure("1")}
		must(t, l.Adopt(of, 1, l.Head()))
		must(t, l.Sealed("visits", 1, digest))
		named := map[time.Time]bool{of.Grant.start(now): true} // the periods that entries are dated in
		total := new(big.Rat)
		for i := range rapid.IntRange(1, 30).Draw(rt, "calls") {
			now = now.AddDate(0, 0,
				rapid.SampledFrom([]int{0, 0, 1, -1, 7, -40, 31, 31, 100, -31, 400, -3000}).Draw(rt, "days"))
			if rapid.IntRange(0, 5).Draw(rt, "again") == 0 {
				l = reopen()
			}
			if rapid.IntRange(0, 3).Draw(rt, "correct") == 0 {
				before := mustState(t, l).Clock
				if _, err := l.CorrectClock(); errors.Is(err, ErrClockRight) != !now.Before(before) || err != nil &&
					!errors.Is(err, ErrClockRight) {
					rt.Fatalf("at %v, when the clock was %v: %v", now, before, err)
				} else if err == nil {
					named[of.Grant.start(now)] = true
				}
			}
			price := big.NewRat(int64(rapid.IntRange(1, 10).Draw(rt, "price")), 10)
			r := reservation(key(i), "1")
			r.Loss = pureOf(price)
			before := mustState(t, l)
			_, err := l.Reserve(r)
			if err != nil && !errors.As(err, new(*privacy.OverdrawError)) {
				rt.Fatal(err)
			}
			if fits := r.Loss.Within(before.Remaining); fits != (err == nil) {
				rt.Fatalf("%s at %v: %v; of %+v", price, now, err, before.Period)
			}
			if err == nil {
				total.Add(total, price)
				at := now
				if before.Clock.After(at) {
					at = before.Clock
				}
				named[of.Grant.start(at)] = true
			}
			if most := big.NewRat(int64(min(len(named), 6)), 1); total.Cmp(most) > 0 {
				rt.Fatalf("%s was admitted, in %d periods", total, len(named))
			}
			s := mustState(t, l)
			if !s.Period.Next.After(s.Period.Start) || l.log.closedTwice() {
				rt.Fatalf("%+v; %v, %v", s.Period, l.log.issued, l.log.closed)
			}
		}
		if a, b := mustState(t, l), mustState(t, reopen()); !equal(a.Spent, b.Spent) ||
			!equal(a.Remaining, b.Remaining) || !a.Clock.Equal(b.Clock) {
			rt.Fatalf("%+v, and read again %+v", a, b)
		}
	})
}

// closedTwice reports a grant given since the newest correction for a time that had one before.
func (h *history) closedTwice() bool {
	for _, s := range h.issued {
		for _, o := range h.closed {
			if s.From.Before(o.To) && o.From.Before(s.To) {
				return true
			}
		}
	}
	return false
}

// ownersLines are ledgers with the entries of an owner who sets the clock right, and who recovers.
func ownersLines() (logs []string) {
	of, loss := terms("3", "0.5"), pure("1.5")
	of.Grant = &Grant{"month", pure("1")}
	bodies := []struct {
		at   time.Time
		body Body
	}{
		{testTime, Genesis{ID: testID}},
		{testTime, adoption(of, 1)},
		{testTime.AddDate(0, 2, 0), Resume{}},
		{testTime, Correction{Ahead: testTime.AddDate(0, 2, 0)}},
		{testTime, Recovery{Lost: LostHead, Kept: "0:" + digest, Sum: &loss, Loss: &loss}},
	}
	var text strings.Builder
	var prev Hash
	for i, b := range bodies {
		line, err := encodeLine(uint64(i), prev, b.at, b.body)
		if err != nil {
			panic(err)
		}
		prev = sha256.Sum256(line)
		text.Write(line)
		text.WriteString("\n")
		logs = append(logs, text.String())
	}
	return logs
}

// The lines are pinned: they are read for ever.
func TestOwnersLines(t *testing.T) {
	logs := ownersLines()
	lines := strings.Split(logs[len(logs)-1], "\n")
	for i, want := range map[int]string{
		3: `"at":"2026-01-02T03:04:05.000000006Z","kind":"clock","body":{"ahead":"2026-03-02T03:04:05.000000006Z"}}`,
		4: `"kind":"recovery","body":{"lost":"head","kept":"0:` + digest +
			`","sum":{"epsilon":"1.5"},"loss":{"epsilon":"1.5"}}}`,
	} {
		if !strings.HasPrefix(lines[i], `{"v":4,`) || !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d is %s", i, lines[i])
		}
	}
	l := &log{history: newHistory(usual)}
	if err := l.extend(strings.NewReader(logs[len(logs)-1]), int64(len(logs[len(logs)-1]))); err != nil ||
		!equal(l.spent(), pure("1.5")) || !l.clock.Equal(testTime) {
		t.Errorf("%+v, %v", l.history, err)
	}
}
