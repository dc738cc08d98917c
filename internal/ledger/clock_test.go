package ledger

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// A clock at the ends of what a date can be, or before the first entry, breaks nothing: what has no date is refused and
// not written, the clock never goes back, and what is told can be told.
func TestClockAtItsEnds(t *testing.T) {
	for _, per := range Periods() {
		now := testTime
		of := terms("3", "0.5")
		of.Grant = &Grant{per, pure("1")}
		dir, l := beginWith(t, of, func() time.Time { return now })
		for i, at := range []struct {
			time     time.Time
			admitted bool
		}{
			{time.Time{}, true}, // a clock before the first entry stands still
			{time.Unix(-1<<55, 0), false},
			{testTime.AddDate(-1, 0, 0), true},
			{time.Date(9999, 12, 31, 23, 59, 59, 999, time.UTC), true},
			{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), false},
			{time.Date(292277026596, 12, 4, 0, 0, 0, 0, time.UTC), false},
			{testTime, true},
		} {
			now = at.time
			_, err := l.Reserve(reservation(key(i), "0.1"))
			if (err == nil) != at.admitted || err != nil && !errors.Is(err, ErrClock) {
				t.Errorf("%s, %v: %v", per, now, err)
			}
			s, err := l.State()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(s); err != nil {
				t.Errorf("%s, %v: %v", per, now, err)
			}
		}
		again, err := Open(dir, func() time.Time { return now })
		must(t, err)
		if s := mustState(t, again); s.Reservations != 4 || s.Period.Start.Year() != 9999 {
			t.Errorf("%s: %+v", per, s)
		}
		must(t, again.Close())
	}
}
