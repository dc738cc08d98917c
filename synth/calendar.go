package synth

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"dither/curator"
)

// layouts are how dates and times are written, as in CSV files.
var layouts = map[string]string{
	"date": time.DateOnly, "timestamp": "2006-01-02 15:04:05.999999", "time": "15:04:05.999999",
}

const (
	daySeconds = 24 * 60 * 60
	micros     = 1_000_000 // of a second
)

// calendarColumn returns a column of dates or times with bounds, or the reason why it cannot be synthesized. Dates have
// bins of whole days, and times have bins of whole seconds.
func calendarColumn(c *curator.TableColumn, bins int, name string) (*Column, string) {
	lower, err := time.Parse(layouts[c.Type], c.Lower)
	upper, err2 := time.Parse(layouts[c.Type], c.Upper)
	if err != nil || err2 != nil || upper.Before(lower) {
		return nil, "its bounds are not a " + c.Type
	}
	out := &Column{Name: c.Name, SQL: name, Type: c.Type, name: name, nullable: c.Nullable, whole: true}
	first, last := number(c.Type, lower), number(c.Type, upper)
	out.lower, out.upper, out.origin = integer(first), integer(last), integer(first)
	if c.Type == "date" {
		out.offset = fmt.Sprintf("%s - DATE '%s'", out.SQL, c.Lower)
		days := last - first + 1
		if days <= int64(bins) {
			return out, ""
		}
		width := (days + int64(bins) - 1) / int64(bins)
		out.Binned, out.width = true, integer(width)
		out.SQL = fmt.Sprintf("FLOOR((%s - DATE '%s') / %d)", out.SQL, c.Lower, width)
		return out, ""
	}
	seconds := (last-first)/micros + 1
	width := (seconds + int64(bins) - 1) / int64(bins)
	out.Binned, out.width = true, integer(width*micros)
	since := fmt.Sprintf("%s - TIMESTAMP '%s'", out.SQL, c.Lower)
	if c.Type == "time" { // bins begin at midnight: two times have no difference
		since, out.origin = out.SQL, new(big.Rat)
	}
	out.offset = fmt.Sprintf("EXTRACT(epoch FROM %s)", since)
	out.SQL = fmt.Sprintf("FLOOR(%s / %d)", out.offset, width)
	return out, ""
}

func integer(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// number returns the number of a day, or of a microsecond.
func number(kind string, t time.Time) int64 {
	switch kind {
	case "date":
		return t.Unix() / daySeconds // a midnight, so this is exact before 1970 too
	case "time":
		return int64(t.Hour()*3600+t.Minute()*60+t.Second())*micros + int64(t.Nanosecond())/1000
	}
	return t.UnixMicro()
}

// written returns a whole number of the column as its rows have it.
func (c *Column) written(n int64) string {
	layout, ok := layouts[c.Type]
	switch {
	case !ok:
		return strconv.FormatInt(n, 10)
	case c.Type == "date":
		return time.Unix(n*daySeconds, 0).UTC().Format(layout)
	}
	return time.UnixMicro(n).UTC().Format(layout)
}
