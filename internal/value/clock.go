package value

import (
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// DayMicros is the number of microseconds of a day. Days of a Timestamp have no leap seconds and no changes of clocks.
const DayMicros = 24 * 60 * 60 * 1_000_000

// The first and the last microsecond that a Timestamp may be: those of the years 1 to 9999.
const (
	MinMicro = MinDay * DayMicros
	MaxMicro = (MaxDay+1)*DayMicros - 1
)

// ClockUnits are the units shorter than a day to whose start TimeTrunc truncates, and which TimePart returns. In
// TimePart, "second" includes the fraction, in microseconds.
var ClockUnits = []string{"hour", "minute", "second"}

var clockMicros = map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}

// ClockMicros returns the length of one of ClockUnits in microseconds.
func ClockMicros(unit string) int64 { return clockMicros[unit] }

// DayOf returns the day that contains a Timestamp.
func DayOf(micro int64) int64 { return floorDiv(micro, DayMicros) }

// TimeOf returns the microseconds of a Timestamp since the start of its day.
func TimeOf(micro int64) int64 { return micro - DayOf(micro)*DayMicros }

// TimeTrunc returns the start of the hour, minute or second that contains a Timestamp or a Time, as PostgreSQL's
// date_trunc does. unit is one of ClockUnits.
func TimeTrunc(unit string, micro int64) int64 {
	length := clockMicros[unit]
	return floorDiv(micro, length) * length
}

// TimePart returns the hour or the minute of a Time, or the microseconds of its minute if field is "second".
func TimePart(field string, micro int64) int64 {
	switch field {
	case "hour":
		return micro / clockMicros["hour"]
	case "minute":
		return micro % clockMicros["hour"] / clockMicros["minute"]
	}
	return micro % clockMicros["minute"]
}

// AddMonths returns the day of the same number in the month that is `months` later, as PostgreSQL adds an interval.
// If that month is shorter, it returns its last day.
func AddMonths(day, months int64) int64 {
	t := dateOf(day)
	total := int64(t.Year())*12 + int64(t.Month()) - 1 + months
	year, month := floorDiv(total, 12), total-floorDiv(total, 12)*12+1
	first := time.Date(int(year), time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return floorDiv(first.Unix(), dayLength) + int64(min(t.Day(), last)) - 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ParseTimestamp parses the text of a Timestamp: a date, and optionally a blank or T with the time of day, HH:MM, with
// seconds and a fraction of at most nine digits. Digits after the sixth are dropped. A text that ends in an offset from
// UTC (Z, +02, +0200 or +02:00) is a moment, and becomes the time that clocks in the zone show at that moment. Without
// an offset, the text is the time that clocks show, and the zone does not matter. If zone is nil, it is UTC. In any
// other zone, a moment must lie between FirstShift and LastShift.
func ParseTimestamp(text string, zone *time.Location) (Value, error) {
	if len(text) < len("2006-01-02") {
		return Value{}, ErrSyntax
	}
	day, err := Parse(Date, text[:10])
	if err != nil {
		return Value{}, ErrSyntax
	}
	micro, rest := day.Int*DayMicros, text[10:]
	if rest == "" {
		return OfMicro(micro), nil
	}
	if rest[0] != ' ' && rest[0] != 'T' {
		return Value{}, ErrSyntax
	}
	clock, offset, zoned := cutOffset(rest[1:])
	of, err := parseTime(clock)
	if err != nil {
		return Value{}, err
	}
	micro += of
	if zoned {
		seconds, ok := parseOffset(offset)
		if !ok {
			return Value{}, ErrSyntax
		}
		moment := micro - seconds*1_000_000
		if zone != nil && (moment < FirstShift || moment >= LastShift) {
			return Value{}, ErrSyntax
		}
		micro = Local(moment, zone)
	}
	if micro < MinMicro || micro > MaxMicro {
		return Value{}, ErrSyntax
	}
	return OfMicro(micro), nil
}

// Local returns the time that clocks in a zone show at a moment. Both are in microseconds since 1970-01-01 00:00:00,
// the moment in UTC. If zone is nil, it is UTC.
func Local(moment int64, zone *time.Location) int64 {
	if zone == nil {
		return moment
	}
	_, offset := time.Unix(floorDiv(moment, 1_000_000), 0).In(zone).Zone()
	return moment + int64(offset)*1_000_000
}

// cutOffset cuts a time of day before its offset from UTC. zoned reports whether it has one.
func cutOffset(text string) (clock, offset string, zoned bool) {
	at := strings.IndexAny(text, "Zz+-")
	if at < 0 {
		return text, "", false
	}
	return strings.TrimSuffix(text[:at], " "), text[at:], true
}

// parseOffset parses Z, or a sign with HH, HHMM or HH:MM, as seconds east of UTC.
func parseOffset(text string) (seconds int64, ok bool) {
	if text == "Z" || text == "z" {
		return 0, true
	}
	if text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	digits := text[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) == 2 {
		digits += "00"
	}
	h, ok1 := twoDigits(digits, 4, 0, 15)
	m, ok2 := twoDigits(digits, 4, 2, 59)
	seconds = h*3600 + m*60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok1 && ok2
}

// twoDigits parses the two digits at an index of a text of the given length, as a number up to most.
func twoDigits(text string, length, at int, most int64) (int64, bool) {
	if len(text) != length || text[at] < '0' || text[at] > '9' || text[at+1] < '0' || text[at+1] > '9' {
		return 0, false
	}
	n := int64(text[at]-'0')*10 + int64(text[at+1]-'0')
	return n, n <= most
}

// parseTime parses HH:MM, HH:MM:SS, or HH:MM:SS with a point and one to nine digits, as microseconds of the day.
func parseTime(text string) (int64, error) {
	clock, fraction, pointed := strings.Cut(text, ".")
	if len(clock) == len("15:04") && !pointed {
		clock += ":00"
	}
	if len(clock) != len("15:04:05") || clock[2] != ':' || clock[5] != ':' {
		return 0, ErrSyntax
	}
	h, ok1 := twoDigits(clock, 8, 0, 23)
	m, ok2 := twoDigits(clock, 8, 3, 59)
	s, ok3 := twoDigits(clock, 8, 6, 59)
	if !ok1 || !ok2 || !ok3 || pointed && (fraction == "" || len(fraction) > 9) {
		return 0, ErrSyntax
	}
	micros := ((h*60+m)*60 + s) * 1_000_000
	unit := int64(100_000)
	for _, c := range []byte(fraction) {
		if c < '0' || c > '9' {
			return 0, ErrSyntax
		}
		micros += int64(c-'0') * unit
		unit /= 10
	}
	return micros, nil
}

// timeText returns a Time as HH:MM:SS, with a fraction if there is one.
func timeText(micro int64) string {
	out := make([]byte, 0, len("15:04:05.000000"))
	for i, n := range []int64{TimePart("hour", micro), TimePart("minute", micro), TimePart("second", micro) / 1_000_000} {
		if i > 0 {
			out = append(out, ':')
		}
		out = append(out, byte('0'+n/10), byte('0'+n%10))
	}
	if f := micro % 1_000_000; f != 0 {
		digits := strconv.FormatInt(1_000_000+f, 10)[1:]
		out = append(append(out, '.'), strings.TrimRight(digits, "0")...)
	}
	return string(out)
}

// A source with a moment in a column whose zone is not UTC must lie between these years, for which statements have a
// table of the zone's offsets: from 1 January 1800 up to 1 January 2200, in UTC.
var (
	FirstShift = time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	LastShift  = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
)

// Shift is a span of time in which a zone has one offset from UTC, up to the next Shift. Both fields are in
// microseconds, and From is a moment.
type Shift struct{ From, Offset int64 }

// shifts caches the results of Shifts by zone.
var shifts sync.Map

// Shifts returns the offsets of a zone from FirstShift up to LastShift, in order. The first begins at FirstShift. No zone
// has two changes of clocks within twelve hours, so it looks for changes at every half day.
func Shifts(zone *time.Location) []Shift {
	if known, ok := shifts.Load(zone); ok {
		return known.([]Shift)
	}
	const step = DayMicros / 2
	out := []Shift{{FirstShift, Local(FirstShift, zone) - FirstShift}}
	for at := FirstShift; at < LastShift; at += step {
		offset := Local(at+step, zone) - (at + step)
		if last := out[len(out)-1].Offset; offset != last {
			after := sort.Search(step/1_000_000, func(i int) bool {
				second := at + int64(i)*1_000_000
				return Local(second, zone)-second != last
			})
			out = append(out, Shift{at + int64(after)*1_000_000, offset})
		}
	}
	shifts.Store(zone, out)
	return out
}
