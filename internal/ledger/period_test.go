package ledger

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/privacy"
)

// TestGrantModel: over clocks that jump anywhere, forwards and back, and ledgers that are opened again in between, a
// charge is admitted exactly where the period of the latest time so far, and the lifetime, have it left.
func TestGrantModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemFS(t)
		now := testTime
		read := func() time.Time { return now }
		must(t, create(m, faultDir, testID, now))
		reopen := func() *Ledger {
			l, err := open(m, faultDir, read)
			if err != nil {
				rt.Fatal(err)
			}
			return l
		}
		l := reopen()
		of := terms("3", "0.5")
		of.Grant = &Grant{rapid.SampledFrom(Periods()).Draw(rt, "per"), pure("1")}
		must(t, l.Adopt(of, 1, l.Head()))
		must(t, l.Sealed("visits", 1, digest))
		latest, period := now, of.Grant.start(now)
		total, within := new(big.Rat), new(big.Rat)
		for i := range rapid.IntRange(1, 25).Draw(rt, "calls") {
			days := rapid.SampledFrom([]int{0, 0, 0, 1, -1, 7, -40, 31, 100, 400, -3000}).Draw(rt, "days")
			now = now.AddDate(0, 0, days)
			if rapid.IntRange(0, 5).Draw(rt, "again") == 0 {
				l = reopen()
			}
			// The clock is that of the entries, and of the one that would be written.
			at, spent := latest, within
			if now.After(at) {
				at = now
			}
			if of.Grant.start(at).After(period) {
				spent = new(big.Rat)
			}
			price := big.NewRat(int64(rapid.IntRange(1, 5).Draw(rt, "price")), 10)
			r := reservation(key(i), "1")
			r.Loss = pureOf(price)
			_, err := l.Reserve(r)
			left := new(big.Rat).Sub(rat("1"), spent)
			if life := new(big.Rat).Sub(rat("3"), total); life.Cmp(left) < 0 {
				left = life
			}
			if fits := price.Cmp(left) <= 0; fits != (err == nil) || err != nil &&
				!errors.As(err, new(*privacy.OverdrawError)) {
				rt.Fatalf("%s at %v (latest %v): %v; %s is left", price, now, latest, err, left)
			}
			// A refusal tells of the next grant where that would pay.
			var limit *LimitError
			if granted := price.Cmp(new(big.Rat).Sub(rat("1"), spent)) <= 0; errors.As(err,
				&limit) == (err == nil || granted) {
				rt.Fatalf("%s, of which the grant is short: %t: %v", price, !granted, err)
			}
			if limit != nil {
				var want time.Time
				if price.Cmp(new(big.Rat).Sub(rat("3"), total)) <= 0 {
					want = of.Grant.next(of.Grant.start(at))
				}
				told := strings.HasSuffix(err.Error(), "; the next grant is on "+want.Format(time.DateOnly))
				if !limit.Next.Equal(want) || told == want.IsZero() || want.IsZero() &&
					strings.Contains(err.Error(), "next") {
					rt.Fatalf("%v at %v, whose next grant is %v", err, at, want)
				}
			}
			if err == nil {
				total.Add(total, price)
				within = new(big.Rat).Add(spent, price)
				left.Sub(left, price)
				latest, period = at, of.Grant.start(at)
			}
			if s := mustState(t, l); !s.Spent.Within(s.Budget) || !equal(s.Remaining, pureOf(left)) ||
				!s.Period.Spent.Within(of.Grant.Loss) {
				rt.Fatalf("%+v, and %s is left", s, left)
			}
			if now.Before(latest) && rapid.Bool().Draw(rt, "set right") {
				now = latest
			}
		}
	})
}

// A price above the whole grant is paid by no later one, and the refusal does not send anybody to wait for it.
func TestNoGrantPays(t *testing.T) {
	of := terms("3", "1.5")
	of.Grant = &Grant{"month", pure("1")}
	_, l := beginWith(t, of, clock)
	var limit *LimitError
	if _, err := l.Reserve(reservation(key(1), "1.2")); !errors.As(err, &limit) || !limit.Next.IsZero() ||
		strings.Contains(err.Error(), "next") {
		t.Error(err)
	}
	must(t, l.Release(mustReserve(t, l, key(1), "0.5"), values(1)))
	if _, err := l.Reserve(reservation(key(2), "0.6")); !errors.As(err, &limit) ||
		limit.Next.Format(time.DateOnly) != "2026-02-01" {
		t.Error(err)
	}
}
