package render

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// JSONRat is the float next to a number as JSON.
func JSONRat(r *big.Rat) string {
	f, _ := r.Float64()
	return JSONFloat(f)
}

// JSONFloat is a float as JSON: the shortest that reads back as it.
func JSONFloat(f float64) string {
	text, err := json.Marshal(f)
	if err != nil {
		return "null"
	}
	return string(text)
}

// Above writes a number of at least 0 with six digits, rounded up.
func Above(x float64) string { return DigitsAbove(x, 6) }

// DigitsAbove is Above with so many digits.
func DigitsAbove(x float64, digits int) string {
	return RoundedTo(digits, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y < x }, 1)
}

// Below writes a number of at least 0 with six digits, rounded down.
func Below(x float64) string {
	return RoundedTo(6, x, func(written *big.Rat) bool { y, _ := written.Float64(); return y > x }, -1)
}

// Given writes an ε or a δ that was asked about with six digits, rounded up: what holds at it holds at what is written.
func Given(r *big.Rat) string {
	x, _ := r.Float64()
	return RoundedTo(6, x, func(written *big.Rat) bool { return written.Cmp(r) < 0 }, 1)
}

// RoundedTo writes a number with so many digits, the last moved in a direction if what is written is wrong without.
func RoundedTo(places int, x float64, wrong func(*big.Rat) bool, direction int) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strings.Replace(strconv.FormatFloat(x, 'g', places, 64), "+Inf", "∞", 1)
	}
	text := strconv.FormatFloat(x, 'e', places-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits, _ := strconv.Atoi(strings.Replace(mantissa, ".", "", 1)) // of FormatFloat's own making
	power, _ := strconv.Atoi(exponent)
	if y, ok := new(big.Rat).SetString(text); ok && wrong(y) {
		digits += direction
		if fewer := fmt.Sprint(digits); len(fewer) < places { // below a power of ten there is room for one digit more
			digits, power = 10*(digits-direction)+direction, power-1
		}
	}
	// With six digits of which the last was moved, 1000000e−5 is 1e1, and 99999e−5 is itself.
	y, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", digits, power-places+1), 64)
	return ShortPower(strconv.FormatFloat(y, 'g', places, 64))
}

// ShortPower writes a power of ten without the padding that Go gives it: 1e-06 is 1e-6, and 1e+06 is 1e6.
func ShortPower(text string) string {
	mantissa, exponent, ok := strings.Cut(text, "e")
	power, err := strconv.Atoi(exponent)
	if !ok || err != nil {
		return text
	}
	return fmt.Sprintf("%se%d", mantissa, power)
}
