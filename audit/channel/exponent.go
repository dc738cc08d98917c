package channel

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/expsum"
)

// ErrExponent reports a text or a number that is not an ε of at least 0.
var ErrExponent = errors.New("no ε of at least 0")

// Exponent is an exact ε ≥ 0: a rational, or the logarithm of a number in this package's arithmetic. The zero value
// is 0.
type Exponent struct {
	ratio *expsum.Number // e^ε; nil is 1
}

func one() *expsum.Number { return expsum.Rat(big.NewRat(1, 1)) }

// power is e^ε.
func (e Exponent) power() *expsum.Number {
	if e.ratio == nil {
		return one()
	}
	return e.ratio
}

// exponentOf is ln ratio; ErrExponent where it is below 0.
func exponentOf(ratio *expsum.Number) (Exponent, error) {
	if order, err := question().Cmp(ratio, one()); err != nil || order < 0 {
		return Exponent{}, errors.Join(ErrExponent, err)
	}
	return Exponent{ratio}, nil
}

// ExponentOf is a rational ε. A negative one, nil, and one beyond 10,000 are ErrExponent.
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

// ParseExponent reads a rational ("0.5", "1/3"), a logarithm ("ln 3", "ln(3/2)"), or both ("1/2 + ln 3"), exactly. What
// a logarithm is of stands in parentheses, or is a plain number. Else ErrExponent.
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
		return fail(errors.New("it is no rational"))
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
	if _, _, err := work.Log(c); err != nil { // its digits cancel too far
		return fail(err)
	}
	return Exponent{c}, nil
}

// single reports a text without operators outside of parentheses, so that nobody can read it in two ways.
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

// Floats are a float not above ε and one not below it.
func (e Exponent) Floats() (lower, upper float64, err error) { return question().Log(e.power()) }

// String is ε in words of algebra, if they are short, else about what it is.
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
