package enginetest

import (
	"fmt"
	"strings"
	"time"

	"dither/internal/bounded"
	"dither/internal/value"
)

// char returns to_char of a date, a timestamp or a time. It uses package time, and not the formats of package value, so
// that it checks them. It supports the patterns that generated questions have.
func char(e *bounded.Expr, v value.Value) string {
	at := time.UnixMicro(v.Int).UTC()
	if v.Type == value.Date {
		at = time.Unix(v.Int*86400, 0).UTC()
	}
	isoYear, isoWeek := at.ISOWeek()
	first, last := at.Format("Monday"), at.Format("January")
	// longer patterns come first
	patterns := []struct{ pattern, text string }{
		{"FMMonth", last},
		{"FMDay", first},
		{"FMDD", fmt.Sprint(at.Day())},
		{"Month", fmt.Sprintf("%-9s", last)},
		{"MONTH", strings.ToUpper(fmt.Sprintf("%-9s", last))},
		{"Day", fmt.Sprintf("%-9s", first)},
		{"IYYY", fmt.Sprintf("%04d", isoYear)},
		{"YYYY", at.Format("2006")},
		{"HH24", at.Format("15")},
		{"HH12", at.Format("03")},
		{"Mon", at.Format("Jan")},
		{"MON", strings.ToUpper(at.Format("Jan"))},
		{`""`, ""},
		{"DDD", fmt.Sprintf("%03d", at.YearDay())},
		{"Dy", at.Format("Mon")},
		{"IW", fmt.Sprintf("%02d", isoWeek)},
		{"ID", fmt.Sprint((int(at.Weekday())+6)%7 + 1)},
		{"MM", at.Format("01")},
		{"DD", at.Format("02")},
		{"YY", at.Format("06")},
		{"MI", at.Format("04")},
		{"SS", at.Format("05")},
		{"US", fmt.Sprintf("%06d", at.Nanosecond()/1000)},
		{"AM", at.Format("PM")},
		{"Q", fmt.Sprint((int(at.Month())-1)/3 + 1)},
		{"D", fmt.Sprint(int(at.Weekday()) + 1)},
	}
	var out strings.Builder
	for rest := e.Text; rest != ""; {
		found := false
		for _, p := range patterns {
			if strings.HasPrefix(rest, p.pattern) {
				out.WriteString(p.text)
				rest, found = rest[len(p.pattern):], true
				break
			}
		}
		if !found {
			out.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	return out.String()
}
