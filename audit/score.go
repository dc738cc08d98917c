package audit

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// score orders outputs. An event is that a score is at least, or at most, something.
type score interface {
	// of is an output's score; NaN where it has none, so that no event of this score is it.
	of(o *output) float64
	// event is what the outputs have in common whose score is at least t, or at most t, as a clause; and whether that is the whole of
	// it. If so, the clause holds of exactly those outputs.
	event(atLeast bool, t float64) (clause string, whole bool)
	// terms are the weights that an output's score is the sum of; none where the clause says all.
	terms() []Term
}

// height is a number itself: its events are half-lines.
type height struct{ feature }

func (h height) of(o *output) float64 {
	if f := h.feature.of(o); f.is == numeric {
		return f.number
	}
	return math.NaN()
}

func (h height) event(atLeast bool, t float64) (string, bool) {
	return h.name + relation(atLeast) + number(t), true
}

func relation(atLeast bool) string {
	if atLeast {
		return " is ≥ "
	}
	return " is ≤ "
}

func number(x float64) string {
	return strings.ReplaceAll(strconv.FormatFloat(x, 'g', -1, 64), "-", "−")
}

func (height) terms() []Term  { return nil }
func (places) terms() []Term  { return nil }
func (lowBits) terms() []Term { return nil }
func (residue) terms() []Term { return nil }

// places is the number of decimals that a number needs: its events are multiples of powers of ten.
type places struct{ feature }

func (p places) of(o *output) float64 {
	if n, ok := decimals(p.feature.of(o)); ok {
		return float64(n)
	}
	return math.NaN()
}

func (p places) event(atLeast bool, t float64) (string, bool) {
	n := int(math.Floor(t)) // numbers of decimals are integers
	if atLeast {
		n = int(math.Ceil(t)) - 1
	}
	zero := n < leastDecimals
	switch {
	case atLeast && zero:
		return p.name + " is a number other than 0", true
	case atLeast:
		return p.name + " is a number but no multiple of " + powerOf(10, -n), true
	case zero:
		return p.name + " is 0", true
	}
	return p.name + " is a multiple of " + powerOf(10, -n), true
}

// leastDecimals is what no number other than 0 is below.
const leastDecimals = -400

// powerOf writes base^k, in full where that is short.
func powerOf(base, k int) string {
	switch x := math.Pow(float64(base), float64(k)); {
	case k >= 0 && x <= 1e6 || base == 10 && k >= -6 && k < 0:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case base == 2 && k < 0 && k >= -6:
		return "1/" + strconv.Itoa(1<<-k)
	}
	return fmt.Sprintf("%d^%s", base, strings.Replace(strconv.Itoa(k), "-", "−", 1))
}

// lowBits is 1 where a number's lowest bit and its size are as they say, else 0.
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

// residue is 1 where a number is so much more than a multiple of step, else 0.
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

// total is the sum of the scores of parts, each a coordinate's: a naive Bayes score.
type total struct {
	parts []*parts
}

func (s total) of(o *output) float64 {
	sum := 0.0
	for _, p := range s.parts {
		sum += p.of(o)
	}
	return sum
}

func (s total) event(atLeast bool, t float64) (string, bool) {
	return s.name() + "," + relation(atLeast) + number(t), false
}

func (s total) name() string {
	return fmt.Sprintf("the sum of all %d coordinates' log-likelihood ratios, as learned", len(s.parts))
}

func (s total) terms() (out []Term) {
	for _, p := range s.parts {
		out = append(out, p.terms()...)
	}
	return out
}
