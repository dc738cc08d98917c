package channel

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/expsum"
)

// ErrExponent reports a text or a number that is not a valid ε: it must be at least 0.
var ErrExponent = errors.New("not an ε of at least 0")

// Exponent is an exact ε ≥ 0: a rational, the logarithm of a number that package expsum can represent, or the sum
// of both. The zero value is 0.
type Exponent struct {
	ratio *expsum.Number // e^ε; nil stands for 1
}

func one() *expsum.Number { return expsum.Rat(big.NewRat(1, 1)) }

// power returns e^ε.
func (e Exponent) power() *expsum.Number {
	if e.ratio == nil {
		return one()
	}
	return e.ratio
}

// exponentOf returns ln ratio, or ErrExponent if ratio is below 1.
func exponentOf(ratio *expsum.Number) (Exponent, error) {
	if order, err := question().Cmp(ratio, one()); err != nil || order < 0 {
		return Exponent{}, errors.Join(ErrExponent, err)
	}
	return Exponent{ratio}, nil
}

// ExponentOf returns a rational ε. It returns ErrExponent for nil, for a negative number, and for a number above
// 10,000.
func ExponentOf(r *big.Rat) (Exponent, error) {
	if r == nil {
		return Exponent{}, ErrExponent
	}
	c, err := expsum.Exp(r)
	if err != nil {
		return Exponent{}, fmt.Errorf("%w: %w", ErrExponent, err)
	}
	return exponentOf(c)
}

// ParseExponent reads a rational ("0.5", "1/3"), a logarithm ("ln 3", "ln(3/2)"), or a rational plus or minus a
// logarithm ("1/2 + ln 3"), exactly. The argument of a logarithm must be in parentheses, unless it is a plain
// number. Any other text is ErrExponent.
func ParseExponent(text string) (Exponent, error) {
	fail := func(err error) (Exponent, error) {
		return Exponent{}, fmt.Errorf("%w: %q: %w", ErrExponent, cut(text), err)
	}
	work := question()
	head, tail, logarithm := strings.Cut(text, "ln")
	head, sign := strings.TrimSpace(head), byte('+')
	if logarithm && head != "" {
		sign = head[len(head)-1]
		head = strings.TrimSpace(head[:len(head)-1])
	}
	if logarithm && head == "" {
		head = "0"
	}
	memory := expsum.NewMemory(work)
	x, err := memory.Parse(head)
	if err != nil {
		return fail(err)
	}
	r, ok := x.Rat()
	if !ok {
		return fail(errors.New("it is not a rational number"))
	}
	c, err := expsum.Exp(r)
	if err != nil {
		return fail(err)
	}
	if logarithm {
		tail = strings.TrimSpace(tail)
		if !single(tail) || sign != '+' && sign != '-' {
			return fail(errors.New("write it as ln 3, ln(3/2) or 1/2 + ln 3"))
		}
		of, err := memory.Parse(tail)
		if err != nil {
			return fail(err)
		}
		if order, err := work.Sign(of); err != nil || order <= 0 {
			return fail(cmp.Or(err, expsum.ErrLog))
		}
		if sign == '-' {
			c, err = work.Quo(c, of)
		} else {
			c, err = work.Mul(c, of)
		}
		if err != nil {
			return fail(err)
		}
	}
	switch order, err := work.Cmp(c, one()); {
	case err != nil:
		return fail(err)
	case order < 0:
		return fail(errors.New("it is below 0"))
	}
	if _, _, err := work.Log(c); err != nil { // too many digits cancel to compute ε
		return fail(err)
	}
	return Exponent{c}, nil
}

// single reports whether a text is one plain number or one expression in parentheses. Without this rule, "ln 3 + 1"
// would be ambiguous.
func single(text string) bool {
	open := 0
	for i, c := range text {
		switch {
		case c == '(':
			open++
		case c == ')':
			if open--; open == 0 && i < len(text)-1 {
				return false
			}
		case open == 0 && c != '.' && (c < '0' || '9' < c):
			return false
		}
	}
	return text != ""
}

// Floats returns a float that is at most ε, and one that is at least ε.
func (e Exponent) Floats() (lower, upper float64, err error) { return question().Log(e.power()) }

// String returns ε as a formula, or an approximation if the formula would be long.
func (e Exponent) String() string {
	if text := logText(e.power()); text != "" {
		return text
	}
	_, upper, err := e.Floats()
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("about %.6g", upper)
}
