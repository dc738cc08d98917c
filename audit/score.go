package audit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// score gives each output a number. An event is the set of outputs with a score of at least, or at most, a
// threshold.
type score interface {
	// of returns an output's score. It returns NaN for an output without a score, which is then in no event of this
	// score.
	of(o *output) float64
	// event describes, as a clause, the outputs with a score of at least t, or at most t. whole reports whether the
	// clause holds for exactly those outputs.
	event(atLeast bool, t float64) (clause string, whole bool)
	// terms returns the weights whose sum is the score. It returns nil if the clause needs no weights.
	terms() []Term
}

// height is a score: the value of a numeric feature. Its events are half-lines.
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

// places is a score: the number of decimal places of a numeric feature. Its events are the multiples of a power of
// ten, or their complements.
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

// leastDecimals is below the number of decimals of every number other than 0.
const leastDecimals = -400

// powerOf writes base^k, as a decimal or a fraction if that is short.
func powerOf(base, k int) string {
	switch x := math.Pow(float64(base), float64(k)); {
	case k >= 0 && x <= 1e6 || base == 10 && k >= -6 && k < 0:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case base == 2 && k < 0 && k >= -6:
		return "1/" + strconv.Itoa(1<<-k)
	}
	return fmt.Sprintf("%d^%s", base, strings.Replace(strconv.Itoa(k), "-", "−", 1))
}

// total is a score: the sum of the scores of all coordinates, as in a naive Bayes classifier.
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
