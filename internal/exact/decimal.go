// Package exact contains the arithmetic on which privacy rests: parsing numbers from text without floats, integer
// operations that return an error on overflow, and real functions with directed rounding.
package exact

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Limits on a decimal text. They bound the size of every rational, however hostile the text.
const (
	maxDecimalLength   = 64
	maxDecimalExponent = 64
)

// ErrSyntax reports a text that is not a decimal number.
var ErrSyntax = errors.New("not a decimal number")

// ErrRange reports a number text that is too long, or has too large an exponent.
var ErrRange = errors.New("number out of range")

// ParseDecimal parses a decimal number as an exact rational. The number has an optional sign, fraction and exponent
// ("-12.50", ".5", "1e-6"). NaN, infinities, hexadecimal, underscores, fractions such as 1/2, and surrounding
// spaces are ErrSyntax. A text of more than 64 bytes, or an exponent beyond ±64, is ErrRange. ParseDecimal checks
// both limits before it builds a number.
func ParseDecimal(text string) (*big.Rat, error) {
	if len(text) > maxDecimalLength {
		return nil, fmt.Errorf("%w: more than %d characters", ErrRange, maxDecimalLength)
	}
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
		if !isExponent(exponent) {
			return nil, ErrSyntax
		}
	}
	if !isMantissa(mantissa) {
		return nil, ErrSyntax
	}
	if exponent != "" && !smallExponent(exponent) {
		return nil, fmt.Errorf("%w: exponent beyond ±%d", ErrRange, maxDecimalExponent)
	}
	r, ok := new(big.Rat).SetString(strings.TrimPrefix(text, "+"))
	if !ok {
		return nil, ErrSyntax
	}
	return r, nil
}

// isMantissa reports whether s has the form [+-]digits[.digits], with at least one digit.
func isMantissa(s string) bool {
	s = trimSign(s)
	whole, fraction, _ := strings.Cut(s, ".")
	return whole+fraction != "" && allDigits(whole) && allDigits(fraction)
}

func isExponent(s string) bool {
	s = trimSign(s)
	return s != "" && allDigits(s)
}

// smallExponent reports whether the exponent s is within ±maxDecimalExponent. It reads at most two significant
// digits, so "1e999999999" costs nothing.
func smallExponent(s string) bool {
	s = strings.TrimLeft(trimSign(s), "0")
	if len(s) > 2 {
		return false
	}
	n := 0
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n <= maxDecimalExponent
}

func trimSign(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// FormatRat formats r as a decimal if it has a finite one, and otherwise as a fraction. ParseRat reads the result
// exactly.
func FormatRat(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	return r.RatString()
}

// maxRatLength is the greatest length of a rational's text. Sums of shares of decimals stay far below it.
const maxRatLength = 4096

// ParseRat parses the output of FormatRat exactly: a plain decimal, or a fraction of two decimal integers.
func ParseRat(text string) (*big.Rat, error) {
	if len(text) > maxRatLength {
		return nil, fmt.Errorf("%w: more than %d characters", ErrRange, maxRatLength)
	}
	numerator, denominator, fraction := strings.Cut(text, "/")
	ok := isMantissa(numerator)
	if fraction {
		ok = allDigits(trimSign(numerator)) && numerator != "" && allDigits(denominator) &&
			strings.Trim(denominator, "0") != ""
	}
	if !ok {
		return nil, ErrSyntax
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, ErrSyntax
	}
	return r, nil
}
