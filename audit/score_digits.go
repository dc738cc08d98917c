package audit

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// lowBits is 1 if a number's lowest bit and its size are as they say, else 0.
type lowBits struct {
	feature
	fine  bool // the lowest bit is below 2^grid; else it is not
	grid  int
	small bool // the number is below 2^size in magnitude; else it is not
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

// granule is a number's size, and the place of its lowest bit, within bounds. That of 0 is beyond them all.
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
	case b.small && b.size >= mostSize: // any
	case !b.small && b.size <= leastSize && b.fine: // 0 is a multiple of everything
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

// either is the event of a score that is 1 of numbers of which a text holds, 0 of others, and of nothing else.
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

// residue is 1 if a number is so much more than a multiple of step, else 0.
type residue struct {
	feature
	step, rest float64 // integers, after scaling by 10^decimals
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

// large is the same of numbers whose integers floats cannot count, by their digits.
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

// shorten takes the last digits away, which arithmetic made.
func shorten(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// scaled is a number times 10^decimals, if that is an integer below 2^53.
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
