package xlsxtable

import (
	"math/big"
	"regexp"
	"strings"

	"dither/internal/value"
)

// format is what a cell's number format says about its value.
type format int

const (
	plain  format = iota // as the digits are, or as a text
	shaped               // with a fixed number of digits, a unit or the like
	dated                // a day or a time
)

// quoted matches the parts of a number format that are shown as they are, and colours and conditions in brackets.
// Elapsed times such as [h] stay.
var quoted = regexp.MustCompile(`"[^"]*"|\\.|_.|\*.|\[(?:[^\]hHmMsS][^\]]*|[hHmMsS][^\]]*[^\]hHmMsS][^\]]*)\]`)

// numeric matches the letters of a number format in lower case that stand for no part of a date: the format General,
// also as Chinese, Japanese and Korean versions of Excel name it, and an exponent.
var numeric = regexp.MustCompile(`general|g/(?:通用格式|標準|표준)|e[+-]`)

// parts matches the parts of dates and times: also the eras of Japan and Taiwan (g) with their years (e, rr), Buddhist
// years (b), and the days of the week in East Asia (aaa).
var parts = regexp.MustCompile(`[dmyhsgeb]|aaa|rr`)

// formatOf returns what a number format says: of one that the file defines by its code, and of the standard ones by
// their number (ECMA-376, part 1, 18.8.30).
func formatOf(id int, code string, custom bool) format {
	switch {
	case custom && (code == "0" || code == "@" || strings.EqualFold(code, "general")):
		return plain
	case custom:
		code = strings.ToLower(quoted.ReplaceAllString(code, ""))
		if parts.MatchString(numeric.ReplaceAllString(code, "")) {
			return dated
		}
		return shaped
	case id >= 14 && id <= 22, id >= 27 && id <= 36, id >= 45 && id <= 47, id >= 50 && id <= 58,
		id >= 71 && id <= 81: // the last ones are Thai
		return dated
	case id == 0 || id == 1 || id == 49:
		return plain
	}
	return shaped
}

// epoch is the day that a workbook counts from.
type epoch int

const (
	epoch1900 epoch = iota // day 1 is 1900-01-01, and day 60 the 29th of February that 1900 did not have
	epoch1904              // day 0 is 1904-01-01
)

// day returns the day number of a serial number's whole part, if it is a day up to the year 9999.
func (e epoch) day(serial int64) (day int64, ok bool) {
	const since1900, since1904 = -25569, -24107 // 1899-12-30 and 1904-01-01, in days since 1970-01-01
	switch {
	case e == epoch1904 && serial >= 0:
		day = serial + since1904
	case e == epoch1904 || serial < 1 || serial == 60:
		return 0, false
	case serial < 60:
		day = serial + since1900 + 1
	default:
		day = serial + since1900
	}
	return day, day <= value.MaxDay
}

var dayMillis = big.NewRat(86_400_000, 1)

// maxSerial is beyond the serial number of every day. It keeps the arithmetic in range.
const maxSerial = 10_000_000

// split splits a serial number into its day and its time, rounded to the millisecond: a serial number has 15 digits,
// of which a time near the present leaves ten.
func split(digits string) (days, micros int64, ok bool) {
	r, ok := decimal(digits)
	if !ok || r.Sign() < 0 || r.Cmp(big.NewRat(maxSerial, 1)) >= 0 {
		return 0, 0, false
	}
	r.Mul(r, dayMillis).Add(r, big.NewRat(1, 2))
	millis := new(big.Int).Quo(r.Num(), r.Denom()).Int64()
	return millis / 86_400_000, millis % 86_400_000 * 1000, true
}

var decimalForm = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?$`)

// decimal reads the digits of a number exactly.
func decimal(digits string) (*big.Rat, bool) {
	if !decimalForm.MatchString(digits) {
		return nil, false
	}
	return new(big.Rat).SetString(digits)
}

// whole returns the digits of a whole number that the file may have written with an exponent, such as 1E+3.
func whole(digits string) (string, bool) {
	r, ok := decimal(digits)
	if !ok || !r.IsInt() {
		return "", false
	}
	return r.Num().String(), true
}

// iso returns a text in ISO 8601 in the form that value.ParseIn reads.
func iso(text string) (value.Value, bool) {
	v, err := value.ParseIn(value.Timestamp, text, nil)
	return v, err == nil
}
