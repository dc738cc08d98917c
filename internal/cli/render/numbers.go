package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// Plural writes a number of things: 1 row, 2 rows.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Thousands writes an integer with commas between groups of three digits.
func Thousands(n int) string { return Grouped(strconv.Itoa(n)) }

// Grouped inserts commas between groups of three digits before the decimal point. It leaves a text with an exponent as it
// is.
func Grouped(number string) string {
	sign, digits := "", number
	if strings.HasPrefix(number, "-") {
		sign, digits = "-", number[1:]
	}
	digits, fraction, found := strings.Cut(digits, ".")
	if strings.Trim(digits+fraction, "0123456789") != "" {
		return number
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if found {
		fraction = "." + fraction
	}
	return sign + digits + fraction
}

// ShortInt writes an integer. Powers of ten from 1e9 on are written as such.
func ShortInt(n int64) string {
	text := strconv.FormatInt(n, 10)
	if len(text) > 9 && strings.TrimRight(text, "0") == "1" {
		return fmt.Sprintf("1e%d", len(text)-1)
	}
	return text
}

// Percent writes a confidence such as 0.95 in percent.
func Percent(confidence string) string {
	x, err := strconv.ParseFloat(confidence, 64)
	if err != nil {
		return confidence
	}
	return strconv.FormatFloat(100*x, 'g', 12, 64) + " %"
}

// Decimals returns the number of decimal places that show a half-width with two significant digits, at most 12.
func Decimals(half float64) int {
	return min(max(1-int(math.Floor(math.Log10(half))), 0), 12)
}

// Fixed writes a number with the given number of decimal places. A number that rounds to zero has no sign.
func Fixed(x float64, places int) string { return exact.FormatFloat(x, 'f', places) }

// Compact writes a number with four significant digits, or with all digits before the decimal point.
func Compact(x float64) string {
	if magnitude := math.Abs(x); magnitude >= 1000 && magnitude < 1e9 || x == math.Trunc(x) && magnitude < 1e9 {
		return Fixed(math.Round(x), -1)
	}
	return strconv.FormatFloat(x, 'g', 4, 64) // x is not 0 here
}

// CSVFloat writes a float for CSV, with all digits. An unknown number is the empty field.
func CSVFloat(x *float64) string {
	if x == nil {
		return ""
	}
	return exact.FormatFloat(*x, 'g', -1)
}

// TwoDigits writes a number with two significant digits, without an exponent unless it is very large or small.
func TwoDigits(x float64) string {
	text := strconv.FormatFloat(x, 'g', 2, 64)
	if y, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(y) >= 10 && math.Abs(y) < 1e9 {
		return strconv.FormatFloat(y, 'f', -1, 64)
	}
	return text
}

// TwoDigitsUp writes a bound above 0 as TwoDigits does, but never a smaller number.
func TwoDigitsUp(x float64) string {
	text := strconv.FormatFloat(x, 'e', 1, 64)
	y, err := strconv.ParseFloat(text, 64)
	if err != nil || y >= x {
		return TwoDigits(x)
	}
	digits, exponent, _ := strings.Cut(text, "e")
	tenths, err := strconv.Atoi(strings.Replace(digits, ".", "", 1))
	if err != nil {
		return TwoDigits(x)
	}
	if y, err = strconv.ParseFloat(fmt.Sprintf("%de%s", tenths+1, exponent), 64); err != nil {
		return TwoDigits(x)
	}
	return TwoDigits(y / 10)
}

// Number6 writes a number with six significant digits.
func Number6(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	}
	return ShortPower(exact.FormatFloat(x, 'g', 6))
}
