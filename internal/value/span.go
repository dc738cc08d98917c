package value

import (
	"math/big"
	"strconv"
	"strings"
)

// Span is a constant interval, as PostgreSQL has it: months, days and microseconds are separate, because months have
// different lengths. Days of a Timestamp have 24 hours.
type Span struct{ Months, Days, Micros int64 }

// The largest parts of a Span, about 10,000 years.
const (
	maxSpanMonths = 120_000
	maxSpanDays   = 3_700_000
	maxSpanMicros = maxSpanDays * DayMicros
)

// OfSpan returns the Interval of a Span, in which a month has 30 days, as it has where PostgreSQL compares intervals.
func OfSpan(s Span) Value {
	return Value{Type: Interval, Int: (s.Months*30+s.Days)*DayMicros + s.Micros}
}

// Plus returns s + t. The boolean is false if the sum is too long.
func (s Span) Plus(t Span) (Span, bool) {
	out := Span{s.Months + t.Months, s.Days + t.Days, s.Micros + t.Micros}
	return out, out.fits()
}

// Times returns n times s. The boolean is false if the product is too long.
func (s Span) Times(n int64) (Span, bool) {
	const most = maxSpanMicros
	for _, part := range []int64{s.Months, s.Days, s.Micros} {
		if part != 0 && (n > most/abs(part) || n < -most/abs(part)) {
			return Span{}, false
		}
	}
	out := Span{s.Months * n, s.Days * n, s.Micros * n}
	return out, out.fits()
}

func (s Span) fits() bool {
	return abs(s.Months) <= maxSpanMonths && abs(s.Days) <= maxSpanDays && abs(s.Micros) <= maxSpanMicros
}

func abs(n int64) int64 { return max(n, -n) }

// String returns the span in a form that ParseSpan and PostgreSQL read.
func (s Span) String() string {
	var out []string
	for _, part := range []struct {
		n    int64
		unit string
	}{{s.Months, "months"}, {s.Days, "days"}, {s.Micros, "microseconds"}} {
		if part.n != 0 {
			out = append(out, strconv.FormatInt(part.n, 10)+" "+part.unit)
		}
	}
	if out == nil {
		return "0 days"
	}
	return strings.Join(out, " ")
}

// IntervalText returns the text of an interval of microseconds as PostgreSQL shows it: days, and a time of day.
func IntervalText(micros int64) string {
	if micros == 0 {
		return "0 days"
	}
	return Span{Days: micros / DayMicros, Micros: micros % DayMicros}.Text()
}

// Text returns the span as PostgreSQL writes it, for example "1 year 2 mons -3 days +04:05:06.5". ParseSpan reads it.
func (s Span) Text() string {
	var out strings.Builder
	negative := false
	for _, part := range []struct {
		n    int64
		unit string
	}{{s.Months / 12, "year"}, {s.Months % 12, "mon"}, {s.Days, "day"}} {
		if part.n == 0 {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		if negative && part.n > 0 {
			out.WriteByte('+')
		}
		out.WriteString(strconv.FormatInt(part.n, 10) + " " + part.unit)
		if part.n != 1 {
			out.WriteByte('s')
		}
		negative = part.n < 0
	}
	if out.Len() > 0 && s.Micros == 0 {
		return out.String()
	}
	if out.Len() > 0 {
		out.WriteByte(' ')
	}
	if s.Micros < 0 {
		out.WriteByte('-')
	} else if negative {
		out.WriteByte('+')
	}
	clock := abs(s.Micros)
	hours := strconv.FormatInt(clock/clockMicros["hour"], 10)
	out.WriteString(strings.Repeat("0", max(2-len(hours), 0)) + hours + timeText(clock % clockMicros["hour"])[2:])
	return out.String()
}

// spanUnits has the length of each unit of an interval. Units of months have no microseconds.
var spanUnits = map[string]struct{ months, days, micros int64 }{
	"microsecond": {0, 0, 1}, "millisecond": {0, 0, 1000}, "second": {0, 0, 1_000_000}, "minute": {0, 0, 60_000_000},
	"hour": {0, 0, 3_600_000_000}, "day": {0, 1, 0}, "week": {0, 7, 0}, "month": {1, 0, 0}, "quarter": {3, 0, 0},
	"year": {12, 0, 0}, "decade": {120, 0, 0}, "century": {1200, 0, 0},
}

// unitNames maps the spellings of units that PostgreSQL and tools use to the names in this package.
var unitNames = map[string]string{
	"us": "microsecond", "usec": "microsecond", "ms": "millisecond", "msec": "millisecond", "s": "second", "sec": "second",
	"m": "minute", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "w": "week", "mon": "month", "y": "year",
	"yr": "year", "c": "century", "centurie": "century", "qtr": "quarter",
}

// Unit returns the name of a unit or a field of time in this package: in lower case and in the singular, as in "day" for
// "Days".
func Unit(name string) string {
	name = strings.ToLower(name)
	if len(name) > 2 {
		name = strings.TrimSuffix(name, "s")
	}
	if full, ok := unitNames[name]; ok {
		return full
	}
	return name
}

// ParseSpan parses an interval: numbers with units, such as "1 year 2 mons", "-30 days" or "1.5 hours", and a time of
// day such as "01:30:00". "ago" at the end negates it. A number without a unit has the parameter unit; "" allows none. A
// fraction of a unit of a day or longer must be a whole number of its smaller units.
func ParseSpan(text, unit string) (Span, error) {
	words := strings.Fields(spaced(text))
	out, seen := Span{}, false
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "ago" && i == len(words)-1 && seen {
			out, _ = out.Times(-1)
			return out, nil
		}
		if word == "@" && i == 0 {
			continue
		}
		part, err := Span{}, error(nil)
		switch {
		case strings.Contains(word, ":"):
			part, err = clockSpan(word)
		case i+1 < len(words) && spanUnits[Unit(words[i+1])] != struct{ months, days, micros int64 }{}:
			part, err = unitSpan(word, Unit(words[i+1]))
			i++
		case unit != "" && len(words) == 1:
			part, err = unitSpan(word, unit)
		default:
			err = ErrSyntax
		}
		if err != nil {
			return Span{}, err
		}
		var ok bool
		if out, ok = out.Plus(part); !ok {
			return Span{}, ErrSyntax
		}
		seen = true
	}
	if !seen {
		return Span{}, ErrSyntax
	}
	return out, nil
}

// spaced puts a blank between a number and a unit that follows it, as in "15m", and writes letters in lower case.
func spaced(text string) string {
	var out strings.Builder
	last := byte(' ')
	for _, c := range []byte(strings.ToLower(text)) {
		if c >= 'a' && c <= 'z' && last >= '0' && last <= '9' {
			out.WriteByte(' ')
		}
		out.WriteByte(c)
		last = c
	}
	return out.String()
}

// clockSpan parses a time of day with an optional sign as a Span. The hours may have more than two digits.
func clockSpan(word string) (Span, error) {
	digits := strings.TrimLeft(word, "+-")
	if len(word)-len(digits) > 1 {
		return Span{}, ErrSyntax
	}
	hours, rest, _ := strings.Cut(digits, ":")
	n, err := strconv.ParseUint(hours, 10, 24)
	if err != nil {
		return Span{}, ErrSyntax
	}
	micros, err := parseTime("00:" + rest)
	if err != nil {
		return Span{}, err
	}
	out := Span{Micros: int64(n)*clockMicros["hour"] + micros}
	if word[0] == '-' {
		out.Micros = -out.Micros
	}
	if !out.fits() {
		return Span{}, ErrSyntax
	}
	return out, nil
}

// unitSpan returns a number of units as a Span.
func unitSpan(number, unit string) (Span, error) {
	if len(number) > 20 || strings.Trim(number, "+-.0123456789") != "" {
		return Span{}, ErrSyntax
	}
	n, ok := new(big.Rat).SetString(number)
	if !ok {
		return Span{}, ErrSyntax
	}
	of := spanUnits[unit]
	times := func(length int64) (int64, *big.Rat) { // whole units, and the rest
		x := new(big.Rat).Mul(n, new(big.Rat).SetInt64(length))
		whole := new(big.Int).Quo(x.Num(), x.Denom())
		if !whole.IsInt64() {
			return 1 << 62, x
		}
		return whole.Int64(), x.Sub(x, new(big.Rat).SetInt(whole))
	}
	var out Span
	rest := new(big.Rat)
	switch {
	case of.months != 0:
		out.Months, rest = times(of.months)
	case of.days != 0:
		if out.Days, rest = times(of.days); rest.Sign() != 0 { // a day has 24 hours
			n = rest
			out.Micros, rest = times(DayMicros)
		}
	default:
		out.Micros, rest = times(of.micros)
	}
	if rest.Sign() != 0 || !out.fits() {
		return Span{}, ErrSyntax
	}
	return out, nil
}
