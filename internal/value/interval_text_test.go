package value

import "testing"

// An interval is shown as PostgreSQL shows it: days, and a time of day.
func TestIntervalText(t *testing.T) {
	for micros, want := range map[int64]string{
		0: "0 days", DayMicros: "1 day", -DayMicros: "-1 days", 400 * DayMicros: "400 days", 3_600_000_000: "01:00:00",
		2*DayMicros + 61_500_000: "2 days 00:01:01.5", -2*DayMicros - 1_000_000: "-2 days -00:00:01",
	} {
		if got := IntervalText(micros); got != want {
			t.Errorf("%d microseconds: %q, want %q", micros, got, want)
		}
	}
}
