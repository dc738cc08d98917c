package value_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/internal/value"
)

func TestParseTimestamp(t *testing.T) {
	london, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, want string
		zone       *time.Location
	}{
		{"2025-01-31", "2025-01-31 00:00:00", nil},
		{"2025-01-31 18:30", "2025-01-31 18:30:00", london},
		{"2025-01-31T18:30:05.5", "2025-01-31 18:30:05.5", nil},
		{"2025-01-31 18:30:05.123456789", "2025-01-31 18:30:05.123456", nil},
		{"2025-01-31T18:30:05Z", "2025-01-31 18:30:05", nil},
		{"2025-01-31 18:30:05+02", "2025-01-31 16:30:05", nil},
		{"2025-01-31 18:30:05 -0530", "2025-02-01 00:00:05", nil},
		{"2025-07-31T23:30:00Z", "2025-08-01 00:30:00", london},
		{"2025-01-31T23:30:00+00:00", "2025-01-31 23:30:00", london},
		{"2025-10-26T00:59:59Z", "2025-10-26 01:59:59", london},
		{"2025-10-26T01:00:00Z", "2025-10-26 01:00:00", london}, // the clocks went back
		{"0001-01-01 00:00:00", "0001-01-01 00:00:00", london},
		{"9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999", nil},
		{"1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999", nil},
	} {
		v, err := value.ParseTimestamp(c.text, c.zone)
		if err != nil || v.String() != c.want || v.Type != value.Timestamp {
			t.Errorf("%q in %v: %v, %v, want %s", c.text, c.zone, v, err, c.want)
		}
	}
	for _, text := range []string{
		"", "2025-01-31 ", "2025-01-31T", "2025-02-30 00:00", "2025-01-31 24:00:00", "2025-01-31 23:60", "2025-01-31 1:00",
		"2025-01-31 23:59:60", "2025-01-31 12:00:00.", "2025-01-31 12:00:00.1234567890", "2025-01-31 12.5", "2025-01-31_12:00",
		"2025-01-31 12:00+", "2025-01-31 12:00+2", "2025-01-31 12:00+16", "2025-01-31 12:00+02:60", "2025-01-31 12:00 PM",
		"0001-01-01 00:00:00+01", "9999-12-31 23:59:59-01", "2025-01-31Z", "2025-01-31 12:00ZZ", "31.01.2025 12:00", "infinity",
	} {
		if v, err := value.ParseTimestamp(text, nil); !errors.Is(err, value.ErrSyntax) {
			t.Errorf("%q was read as %v, %v", text, v, err)
		}
	}
	// In a zone with rules, a moment needs a row in the table of offsets.
	if _, err := value.ParseTimestamp("1700-01-01 00:00Z", london); err == nil {
		t.Error("a moment before the table of offsets was read")
	}
	if v, err := value.Parse(value.Timestamp, "2025-01-31 12:00Z"); err == nil {
		t.Errorf("Parse read an offset without a zone: %v", v)
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"18:30": "18:30:00", "00:00:00": "00:00:00", "23:59:59.999999": "23:59:59.999999", "01:02:03.040": "01:02:03.04",
	} {
		if v, err := value.Parse(value.Time, text); err != nil || v.String() != want {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"", "24:00:00", "1:30", "12:30:", "12:30Z", "12", "12:30:00+02", "-1:30", "12:30.5"} {
		if v, err := value.Parse(value.Time, text); !errors.Is(err, value.ErrSyntax) {
			t.Errorf("%q was read as %v, %v", text, v, err)
		}
	}
}

// Package time splits a timestamp alike.
func TestClockAgreesWithPackageTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(value.MinMicro, value.MaxMicro).Draw(t, "micro")
		at := time.UnixMicro(n).UTC()
		if day := value.OfDay(value.DayOf(n)).String(); day != at.Format(time.DateOnly) {
			t.Fatalf("the day of %v is %s", at, day)
		}
		of := value.TimeOf(n)
		midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		if of != at.Sub(midnight).Microseconds() {
			t.Fatalf("the time of %v is %d", at, of)
		}
		for unit, want := range map[string]time.Duration{"hour": time.Hour, "minute": time.Minute, "second": time.Second} {
			if got := value.TimeTrunc(unit, n); got != midnight.Add(at.Sub(midnight)/want*want).UnixMicro() {
				t.Fatalf("the %s of %v begins at %v", unit, at, time.UnixMicro(got).UTC())
			}
		}
		if value.TimePart("hour", of) != int64(at.Hour()) || value.TimePart("minute", of) != int64(at.Minute()) ||
			value.TimePart("second", of) != int64(at.Second())*1_000_000+int64(at.Nanosecond()/1000) {
			t.Fatalf("the parts of %v", at)
		}
	})
}

func TestAddMonths(t *testing.T) {
	for _, c := range []struct {
		day, want string
		months    int64
	}{
		{"2024-01-31", "2024-02-29", 1},
		{"2025-01-31", "2025-02-28", 1},
		{"2024-02-29", "2025-02-28", 12},
		{"2025-03-31", "2025-02-28", -1},
		{"2025-01-15", "2024-12-15", -1},
		{"2025-01-15", "2023-12-15", -13},
		{"1970-01-01", "1969-12-01", -1},
		{"0001-02-28", "0001-01-28", -1},
	} {
		v, err := value.Parse(value.Date, c.day)
		if err != nil {
			t.Fatal(err)
		}
		if got := value.OfDay(value.AddMonths(v.Int, c.months)).String(); got != c.want {
			t.Errorf("%s + %d months = %s, want %s", c.day, c.months, got, c.want)
		}
	}
}

// The table of a zone's offsets gives the time that package time gives, at each change of clocks and next to it.
func TestShifts(t *testing.T) {
	for _, name := range []string{"Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Etc/GMT+5"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		shifts := value.Shifts(zone)
		if shifts[0].From != value.FirstShift {
			t.Errorf("%s: the table begins at %d", name, shifts[0].From)
		}
		for i, s := range shifts {
			for _, at := range []int64{s.From, s.From + 1, s.From + 86_400_000_000} {
				if i+1 < len(shifts) && at >= shifts[i+1].From {
					continue
				}
				if got := value.Local(at, zone); got != at+s.Offset {
					t.Fatalf("%s: %v", name, time.UnixMicro(at).UTC())
				}
			}
			if i > 0 && value.Local(s.From-1, zone) != s.From-1+shifts[i-1].Offset {
				t.Fatalf("%s: before %v", name, time.UnixMicro(s.From).UTC())
			}
		}
	}
}
