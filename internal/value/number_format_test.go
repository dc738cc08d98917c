package value

import "testing"

// The texts are those of PostgreSQL 15's to_char, whose agreement package post tests on many more formats.
func TestNumberFormats(t *testing.T) {
	for _, c := range []struct {
		format string
		v      Value
		want   string
	}{
		{"999,999.99", OfReal(1234.5), "   1,234.50"},
		{"FM999,999.00", OfReal(-1234.567), "-1,234.57"},
		{"000", OfInt(7), " 007"},
		{"9", OfInt(12), " #"},
		{"9.9", OfReal(0.25), "  .2"},
		{"FM9.9", OfInt(0), "0."},
		{"99.9%", OfReal(12.34), " 12.3%"},
		{"9999MI", OfInt(-12), "  12-"},
		{"$9,999", OfInt(12), "$    12"},
	} {
		f, ok := ParseNumberFormat(c.format)
		if !ok {
			t.Errorf("%s is not supported", c.format)
		} else if got := f.Char(c.v); got != c.want {
			t.Errorf("%v as %s is %q, and should be %q", c.v, c.format, got, c.want)
		}
	}
	for _, format := range []string{"", "9.", "RN", "9.9.9", "9EEEE", "S99", "99V9", "PL9", "MI9", "FM", "x"} {
		if _, ok := ParseNumberFormat(format); ok {
			t.Errorf("%q is supported", format)
		}
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
