package value

import "testing"

func TestSpansAreReadAsPostgreSQLReadsIntervals(t *testing.T) {
	const hour = 3_600_000_000
	for text, want := range map[string]Span{
		"1 day": {0, 1, 0}, "-1 month": {-1, 0, 0}, "30 days": {0, 30, 0}, "1 year 2 mons": {14, 0, 0},
		"01:30:00": {0, 0, hour + hour/2}, "-01:30": {0, 0, -hour - hour/2}, "1 day -02:00:00.5": {0, 1, -2*hour - 500_000},
		"24 hours": {0, 0, 24 * hour}, "15m": {0, 0, hour / 4}, "5 minutes": {0, 0, hour / 12}, "1.5 hours": {0, 0, hour + hour/2},
		"2 weeks ago": {0, -14, 0}, "1.5 days": {0, 1, 12 * hour}, "0.5 year": {6, 0, 0}, "1 quarter": {3, 0, 0}, "+7 DAYS": {0, 7, 0},
		"100:00:00": {0, 0, 100 * hour}, "1 decade": {120, 0, 0}, "250 milliseconds": {0, 0, 250_000}, "@ 1 day": {0, 1, 0}, "0 days": {},
	} {
		got, err := ParseSpan(text, "")
		if err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
		if again, err := ParseSpan(got.String(), ""); err != nil || again != got {
			t.Errorf("%q is printed as %q, which is %+v (%v)", text, got, again, err)
		}
	}
	if got, err := ParseSpan("90", "day"); err != nil || got != (Span{Days: 90}) {
		t.Errorf("90 with the unit day is %+v (%v)", got, err)
	}
}

func TestOtherTextsAreNoSpans(t *testing.T) {
	for _, text := range []string{
		"", " ", "ago", "1", "day", "1 day 2", "1 fortnight", "1:", "1:2:3:4", "--1 day", "1e9 days", "0.1 months", "1/2 day",
		"999999999999999999 years", "99999999:00", "1.2.3 days", "1 day ago ago", "P1D", "0.0000001 seconds", "\x00 1 day", "1 day ٣ hours",
	} {
		if got, err := ParseSpan(text, ""); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestSpansDoNotOverflow(t *testing.T) {
	long, err := ParseSpan("9999 years 3000000 days", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := long.Times(1 << 62); ok {
		t.Errorf("a long span times 2^62 is %+v", got)
	}
	if got, ok := long.Times(-1 << 63); ok {
		t.Errorf("a long span times -2^63 is %+v", got)
	}
	if got, ok := long.Plus(long); ok {
		t.Errorf("the double of a long span is %+v", got)
	}
}

// A span's text is PostgreSQL's, and is read as the same span.
func TestSpanTexts(t *testing.T) {
	for text, s := range map[string]Span{
		"1 year 2 mons -3 days +04:05:06.5": {14, -3, 4*3_600_000_000 + 5*60_000_000 + 6_500_000},
		"00:00:00":                          {},
		"-1 mons +1 day":                    {-1, 1, 0},
		"-100:00:00":                        {0, 0, -100 * 3_600_000_000},
		"1 day":                             {0, 1, 0},
		"-1 years -1 mons":                  {-13, 0, 0},
	} {
		if got := s.Text(); got != text {
			t.Errorf("%v is %q, and should be %q", s, got, text)
		}
		if read, err := ParseSpan(text, ""); err != nil || read != s {
			t.Errorf("%q is %v: %v", text, read, err)
		}
	}
}
