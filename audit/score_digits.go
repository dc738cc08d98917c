package audit

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// lowBits is a score: 1 if a number's lowest bit and its size meet the two conditions in the fields, and 0 if not.
type lowBits struct {
	feature
	fine  bool // true: the lowest bit must be below 2^grid; false: it must be at 2^grid or above
	grid  int
	small bool // true: the absolute value must be below 2^size; false: it must be at least 2^size
	size  int
}

func (b lowBits) of(o *output) float64 {
	f := b.feature.of(o)
	if f.is != numeric {
		return math.NaN()
	}
	e, g := granule(f.number)
	return indicator(e <= b.size == b.small && g < b.grid == b.fine)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// granule returns the magnitude and the granularity of a number, limited to a range. For 0 it returns a size below
// that of every other number, and a grid above theirs.
func granule(x float64) (size, grid int) {
	if x == 0 {
		return leastSize, mostSize
	}
	return max(leastSize+1, min(magnitude(x), mostSize)), max(leastGrid, min(granularity(x), mostSize-1))
}

const (
	leastSize, mostSize = -100, 100
	leastGrid           = leastSize - 53
)

func (b lowBits) event(atLeast bool, t float64) (string, bool) {
	size := ""
	switch {
	case b.small && b.size >= mostSize: // every number meets the condition
	case !b.small && b.size <= leastSize && b.fine: // the clause ends in "no multiple of", which already excludes 0
	case !b.small && b.size <= leastSize:
		size = " other than 0"
	case b.small && b.size <= leastSize:
		size = " that is 0"
	case b.small:
		size = " below " + powerOf(2, b.size) + " in magnitude"
	default:
		size = " of magnitude " + powerOf(2, b.size) + " or more"
	}
	text := "a multiple of " + powerOf(2, b.grid) + size
	switch {
	case b.grid >= mostSize && b.fine:
		text = "a number" + size + " but not 0"
	case b.grid >= mostSize, b.small && b.size <= leastSize && !b.fine:
		text = "0"
	case b.fine:
		text = "a number" + size + " but no multiple of " + powerOf(2, b.grid)
	}
	return either(b.name, text, atLeast, t), true
}

// either describes an event of a score with two values: 1 for numbers that text describes, and 0 for all other
// numbers.
func either(name, text string, atLeast bool, t float64) string {
	switch {
	case atLeast && t > 1, !atLeast && t < 0:
		return name + " is nothing at all"
	case atLeast && t > 0:
		return name + " is " + text
	case !atLeast && t < 1:
		return name + " is a number, but not " + text
	}
	return name + " is a number"
}

// residue is a score: 1 if a number is a multiple of step plus rest, and 0 if not.
type residue struct {
	feature
	step, rest float64 // integers: the true values times 10^decimals
	decimals   int
}

func (r residue) of(o *output) float64 {
	f := r.feature.of(o)
	if f.is != numeric {
		return math.NaN()
	}
	if math.Abs(f.number)*math.Pow(10, float64(r.decimals)) >= 1<<53 {
		return indicator(r.large(f.number))
	}
	n, ok := scaled(f, r.decimals)
	return indicator(ok && modulo(n, r.step) == r.rest)
}

// large is the case of [residue.of] for numbers beyond 2^53, after scaling by 10^decimals. It computes with the
// digits, because floats lack the precision.
func (r residue) large(x float64) bool {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > r.decimals {
		return false
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", r.decimals-len(fraction)), 10)
	step := big.NewInt(int64(r.step))
	return ok && n.Mod(n, step).Cmp(big.NewInt(int64(r.rest))) == 0
}

func (r residue) event(atLeast bool, t float64) (string, bool) {
	unit := math.Pow(10, float64(-r.decimals))
	text := "a multiple of " + number(shorten(r.step*unit))
	if r.rest != 0 {
		text = fmt.Sprintf("%s more than a multiple of %s", number(shorten(r.rest*unit)), number(shorten(r.step*unit)))
	}
	return either(r.name, text, atLeast, t), true
}

// shorten rounds x to 12 significant digits, which removes rounding errors.
func shorten(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// scaled returns a number times 10^decimals, and reports whether that is an integer below 2^53.
func scaled(f field, decimals int) (float64, bool) {
	n := math.Round(f.number * math.Pow(10, float64(decimals)))
	y := n / math.Pow(10, float64(decimals))
	return n, math.Abs(n) < 1<<53 && y == f.number
}

func modulo(n, step float64) float64 {
	r := math.Mod(n, step)
	if r < 0 {
		r += step
	}
	return r
}
