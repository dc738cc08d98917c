package post

import (
	"testing"

	"dither/internal/value"
)

// The texts are those of PostgreSQL 15's to_char. TestAgreesWithPostgres draws more formats.
func TestNumberFormats(t *testing.T) {
	for _, c := range []struct {
		format string
		v      value.Value
		want   string
	}{
		{"999,999.99", value.OfReal(1234.5), "   1,234.50"},
		{"FM999,999.00", value.OfReal(-1234.567), "-1,234.57"},
		{"000", value.OfInt(7), " 007"},
		{"9", value.OfInt(12), " #"},
		{"9.9", value.OfReal(0.25), "  .2"},
		{"FM9.9", value.OfInt(0), "0."},
		{"99.9%", value.OfReal(12.34), " 12.3%"},
		{"9999MI", value.OfInt(-12), "  12-"},
		{"$9,999", value.OfInt(12), "$    12"},
	} {
		f, ok := parseNumberFormat(c.format)
		if !ok {
			t.Errorf("%s is not supported", c.format)
		} else if got := f.char(c.v); got != c.want {
			t.Errorf("%v as %s is %q, and should be %q", c.v, c.format, got, c.want)
		}
	}
	for _, format := range []string{"", "9.", "RN", "9.9.9", "9EEEE", "S99", "99V9", "PL9", "MI9", "FM", "x"} {
		if _, ok := parseNumberFormat(format); ok {
			t.Errorf("%q is supported", format)
		}
	}
}
