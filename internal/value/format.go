package value

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Format is a format of PostgreSQL's to_char, in parts.
type Format []FormatPart

// FormatPart is a field of a time, or a text that stands for itself.
type FormatPart struct {
	Field string // a key of formatFields; "" for a text
	Text  string
	Bare  bool // FM: without zeros and blanks that fill the field up
}

// formatField describes a pattern of to_char. A number has a width, up to which zeros are written before it. A name is one
// of Names, for the numbers from First on.
type formatField struct {
	Width int
	First int64
	Names []string
	Clock bool // whether it reads the time of day, and not the day
}

var (
	months   = strings.Fields("January February March April May June July August September October November December")
	weekdays = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
)

// formatFields has all patterns that dither supports, with their exact case.
var formatFields = map[string]formatField{
	"YYYY": {Width: 4}, "YY": {Width: 2}, "Q": {Width: 1}, "MM": {Width: 2}, "DD": {Width: 2}, "DDD": {Width: 3},
	"D": {Width: 1}, "ID": {Width: 1}, "IW": {Width: 2}, "IYYY": {Width: 4}, "WW": {Width: 2}, "W": {Width: 1},
	"CC":   {Width: 2},
	"HH24": {Width: 2, Clock: true}, "HH12": {Width: 2, Clock: true}, "HH": {Width: 2, Clock: true},
	"MI": {Width: 2, Clock: true}, "SS": {Width: 2, Clock: true}, "MS": {Width: 3, Clock: true}, "US": {Width: 6, Clock: true},
	"AM": {Names: []string{"AM", "PM"}, Clock: true}, "PM": {Names: []string{"AM", "PM"}, Clock: true},
	"am": {Names: []string{"am", "pm"}, Clock: true}, "pm": {Names: []string{"am", "pm"}, Clock: true},
	"Month": {First: 1, Names: padded(months, same)}, "MONTH": {First: 1, Names: padded(months, strings.ToUpper)},
	"month": {First: 1, Names: padded(months, strings.ToLower)},
	"Mon":   {First: 1, Names: short(months, same)}, "MON": {First: 1, Names: short(months, strings.ToUpper)},
	"mon": {First: 1, Names: short(months, strings.ToLower)},
	"Day": {Names: padded(weekdays, same)}, "DAY": {Names: padded(weekdays, strings.ToUpper)},
	"day": {Names: padded(weekdays, strings.ToLower)},
	"Dy":  {Names: short(weekdays, same)}, "DY": {Names: short(weekdays, strings.ToUpper)},
	"dy": {Names: short(weekdays, strings.ToLower)},
}

func same(s string) string { return s }

func short(names []string, f func(string) string) (out []string) {
	for _, n := range names {
		out = append(out, f(n[:3]))
	}
	return out
}

// padded fills names up with blanks to nine characters, as PostgreSQL does.
func padded(names []string, f func(string) string) (out []string) {
	for _, n := range names {
		out = append(out, f(n)+strings.Repeat(" ", 9-len(n)))
	}
	return out
}

// maxFormat bounds the length of a format, in bytes, and with it the cost of a text that is made by it.
const maxFormat = 64

// ParseFormat parses a format. The boolean is false if it has a pattern that dither does not support. Letters outside
// double quotes are patterns; other characters stand for themselves. Callers apply one format to many values in a row,
// so ParseFormat keeps the format that it parsed last. The caller must not change the result.
func ParseFormat(text string) (Format, bool) {
	if p := lastFormat.Load(); p != nil && p.text == text {
		return p.format, true
	}
	out, ok := parseFormat(text)
	if ok {
		lastFormat.Store(&parsedFormat{text, out})
	}
	return out, ok
}

type parsedFormat struct {
	text   string
	format Format
}

var lastFormat atomic.Pointer[parsedFormat]

func parseFormat(text string) (Format, bool) {
	if text == "" || len(text) > maxFormat {
		return nil, false
	}
	var out Format
	literal := func(s string) {
		if n := len(out); n > 0 && out[n-1].Field == "" {
			out[n-1].Text += s
			return
		}
		out = append(out, FormatPart{Text: s})
	}
	bare := false
	for text != "" {
		c := text[0]
		switch {
		case c == '"':
			inside, rest, closed := strings.Cut(text[1:], `"`)
			if !closed || strings.Contains(inside, `\`) {
				return nil, false
			}
			literal(inside)
			text = rest
		case strings.HasPrefix(text, "FM"):
			bare, text = true, text[2:]
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			field := longestField(text)
			if field.field == "" {
				return nil, false
			}
			out, text, bare = append(out, FormatPart{Field: field.field, Bare: bare}), text[len(field.written):], false
			if strings.HasPrefix(text, "TH") || strings.HasPrefix(text, "th") {
				return nil, false
			}
		case c >= ' ' && c < 0x7f && c != '\\':
			literal(text[:1])
			text = text[1:]
		default:
			return nil, false
		}
	}
	return out, !bare
}

// otherFields are patterns of PostgreSQL that dither does not support and that begin like one that it does.
var otherFields = []string{"IDDD", "SSSS", "iddd", "ssss"}

// spelling is a way to write a pattern.
type spelling struct{ written, field string }

// spellings has all ways to write patterns by their first letter, the longest first: a format is read anew for each value that it is applied to.
// The case of patterns of numbers does not matter.
var spellings = func() (out [1 << 7][]spelling) {
	add := func(written, field string) {
		out[written[0]] = append(out[written[0]], spelling{written, field})
	}
	for name, f := range formatFields {
		add(name, name)
		if lower := strings.ToLower(name); f.Names == nil && lower != name {
			add(lower, name)
		}
	}
	for _, name := range otherFields {
		add(name, "")
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b spelling) int { return len(b.written) - len(a.written) })
	}
	return out
}()

// longestField returns the longest pattern with which a text begins, and how it is written there.
func longestField(text string) spelling {
	for _, s := range spellings[text[0]] {
		if strings.HasPrefix(text, s.written) {
			return s
		}
	}
	return spelling{}
}

// Clock reports whether the part reads the time of day.
func (p FormatPart) Clock() bool { return formatFields[p.Field].Clock }

// Names returns the texts that the part shows in place of the numbers from first on, or nil for a number.
func (p FormatPart) Names() (names []string, first int64) {
	f := formatFields[p.Field]
	if f.Names == nil || !p.Bare {
		return f.Names, f.First
	}
	for _, n := range f.Names {
		names = append(names, strings.TrimRight(n, " "))
	}
	return names, f.First
}

// Width returns the number of digits up to which a number is filled up with zeros.
func (p FormatPart) Width() int {
	if p.Bare {
		return 1
	}
	return formatFields[p.Field].Width
}

// Finest returns the longest unit, one of DateUnits or ClockUnits, such that the format's text is the same for all
// times within it. It returns "" if there is none, because of a fraction of a second.
func (f Format) Finest() string {
	order := []string{"year", "quarter", "month", "day", "hour", "minute", "second", ""}
	units := map[string]string{
		"YYYY": "year", "YY": "year", "CC": "year", "Q": "quarter", "MM": "month", "Month": "month", "MONTH": "month",
		"month": "month", "Mon": "month", "MON": "month", "mon": "month",
		"HH24": "hour", "HH12": "hour", "HH": "hour", "AM": "hour", "PM": "hour", "am": "hour", "pm": "hour",
		"MI": "minute", "SS": "second", "MS": "", "US": "",
	}
	at := 0
	for _, p := range f {
		if p.Field == "" {
			continue
		}
		unit, ok := units[p.Field]
		if !ok {
			unit = "day"
		}
		for i, u := range order {
			if u == unit {
				at = max(at, i)
			}
		}
	}
	return order[at]
}

// Char returns the text of a time in a format, as PostgreSQL's to_char does. micro is a Timestamp.
func (f Format) Char(micro int64) string {
	var out strings.Builder
	for _, p := range f {
		if p.Field == "" {
			out.WriteString(p.Text)
			continue
		}
		n := FormatNumber(p.Field, micro)
		if names, first := p.Names(); names != nil {
			out.WriteString(names[n-first])
			continue
		}
		digits := strconv.FormatInt(n, 10)
		out.WriteString(strings.Repeat("0", max(p.Width()-len(digits), 0)) + digits)
	}
	return out.String()
}

// FormatNumber returns the number of a time that a pattern shows, or whose name it shows.
func FormatNumber(field string, micro int64) int64 {
	day, clock := DayOf(micro), TimeOf(micro)
	year := DatePart("year", day)
	switch field {
	case "YYYY":
		return year
	case "YY":
		return year % 100
	case "CC":
		return (year + 99) / 100
	case "Q":
		return DatePart("quarter", day)
	case "MM", "Month", "MONTH", "month", "Mon", "MON", "mon":
		return DatePart("month", day)
	case "DD":
		return DatePart("day", day)
	case "DDD":
		return DatePart("doy", day)
	case "D":
		return DatePart("dow", day) + 1
	case "ID":
		return DatePart("isodow", day)
	case "Day", "DAY", "day", "Dy", "DY", "dy":
		return DatePart("dow", day)
	case "WW":
		return (DatePart("doy", day)-1)/7 + 1
	case "W":
		return (DatePart("day", day)-1)/7 + 1
	case "IW":
		return (DatePart("doy", DateTrunc("week", day)+3)-1)/7 + 1
	case "IYYY":
		return DatePart("year", DateTrunc("week", day)+3)
	case "HH24":
		return TimePart("hour", clock)
	case "HH12", "HH":
		return (TimePart("hour", clock)+11)%12 + 1
	case "AM", "PM", "am", "pm":
		return TimePart("hour", clock) / 12
	case "MI":
		return TimePart("minute", clock)
	case "SS":
		return TimePart("second", clock) / 1_000_000
	case "MS":
		return clock % 1_000_000 / 1000
	}
	return clock % 1_000_000 // US
}

// Read parses a text in a format as a Timestamp, as to_timestamp does. The format has the year, and any of the month, the
// day, the hours, the minutes, the seconds and their fraction. The boolean is false if the text does not have exactly
// this format.
func (f Format) Read(text string) (Value, bool) {
	parts := map[string]int64{"YYYY": 0, "MM": 1, "DD": 1}
	for i, p := range f {
		if p.Field == "" {
			if !strings.HasPrefix(text, p.Text) {
				return Value{}, false
			}
			text = text[len(p.Text):]
			continue
		}
		length := map[string]int{"YYYY": 4, "MM": 2, "DD": 2, "HH24": 2, "MI": 2, "SS": 2, "MS": 3, "US": 6}[p.Field]
		if length == 0 {
			return Value{}, false
		}
		if p.Field == "MS" || p.Field == "US" { // digits of a fraction, of which the last may be left out at the end
			if i == len(f)-1 && len(text) < length && text != "" {
				text += strings.Repeat("0", length-len(text))
			}
		}
		if len(text) < length {
			return Value{}, false
		}
		n, err := strconv.ParseUint(text[:length], 10, 32)
		if err != nil {
			return Value{}, false
		}
		parts[p.Field], text = int64(n), text[length:]
	}
	year, month, day := int(parts["YYYY"]), time.Month(parts["MM"]), int(parts["DD"])
	at := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if text != "" || year < 1 || at.Month() != month || at.Day() != day ||
		parts["HH24"] > 23 || parts["MI"] > 59 || parts["SS"] > 59 {
		return Value{}, false
	}
	clock := parts["HH24"]*clockMicros["hour"] + parts["MI"]*clockMicros["minute"] + parts["SS"]*clockMicros["second"]
	return OfMicro(at.UnixMicro() + clock + parts["MS"]*1000 + parts["US"]), true
}
