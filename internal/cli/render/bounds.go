package render

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// JSONRat writes a rational as JSON: the nearest float.
func JSONRat(r *big.Rat) string {
	f, _ := r.Float64()
	return JSONFloat(f)
}

// JSONFloat writes a float as JSON: the shortest number that parses to it.
func JSONFloat(f float64) string {
	text, err := json.Marshal(f)
	if err != nil {
		return "null"
	}
	return string(text)
}

// Above writes a non-negative number with six significant digits, rounded up.
func Above(x float64) string { return DigitsAbove(x, 6) }

// DigitsAbove writes a non-negative number with the given number of significant digits, rounded up.
func DigitsAbove(x float64, digits int) string {
	return RoundedTo(digits, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y < x }, 1)
}

// Below writes a non-negative number with six significant digits, rounded down.
func Below(x float64) string {
	return RoundedTo(6, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y > x }, -1)
}

// Given writes an ε or a δ from the user with six significant digits, rounded up. A privacy guarantee at the exact
// number then also holds at the printed one.
func Given(r *big.Rat) string {
	x, _ := r.Float64()
	return RoundedTo(6, x, func(written *big.Rat) bool { return written.Cmp(r) < 0 }, 1)
}

// RoundedTo writes a number with the given number of significant digits. If the written number is wrong, it moves
// the last digit by direction, which is 1 or −1.
func RoundedTo(places int, x float64, wrong func(*big.Rat) bool, direction int) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strings.Replace(strconv.FormatFloat(x, 'g', places, 64), "+Inf", "∞", 1)
	}
	text := strconv.FormatFloat(x, 'e', places-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits, _ := strconv.Atoi(strings.Replace(mantissa, ".", "", 1)) // cannot fail: FormatFloat wrote the digits
	power, _ := strconv.Atoi(exponent)
	if y, ok := new(big.Rat).SetString(text); ok && wrong(y) {
		digits += direction
		// moving down from a power of ten leaves room for one more digit
		if fewer := fmt.Sprint(digits); len(fewer) < places {
			digits, power = 10*(digits-direction)+direction, power-1
		}
	}
	// Parse the moved digits and format them again: with six digits, 1000000e−5 becomes 10, and 99999e−5 stays
	// 0.99999.
	y, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", digits, power-places+1), 64)
	return ShortPower(strconv.FormatFloat(y, 'g', places, 64))
}

// ShortPower writes an exponent without Go's padding: 1e-06 becomes 1e-6, and 1e+06 becomes 1e6.
func ShortPower(text string) string {
	mantissa, exponent, ok := strings.Cut(text, "e")
	power, err := strconv.Atoi(exponent)
	if !ok || err != nil {
		return text
	}
	return fmt.Sprintf("%se%d", mantissa, power)
}
