package expsum

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *parser) power() (*Number, error) {
	x, err := p.atom()
	if err != nil || p.take("^") == 0 {
		return x, err
	}
	negative := p.take("+-") == '-'
	p.next()
	start := p.at
	p.digits()
	n, err := strconv.Atoi(p.text[start:p.at])
	if start == p.at {
		return nil, fmt.Errorf("%w: ^ needs an integer after it", ErrSyntax)
	}
	if err != nil || n > maxRaised {
		return nil, fmt.Errorf("%w: the power is beyond ±%d", ErrSize, maxRaised)
	}
	y := Rat(big.NewRat(1, 1))
	for range n {
		if y, err = p.work.Mul(y, x); err != nil {
			return nil, err
		}
	}
	if negative {
		return p.work.Quo(Rat(big.NewRat(1, 1)), y)
	}
	return y, nil
}

// digits moves past the decimal digits at the current position, and returns their number.
func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

func (p *parser) atom() (*Number, error) {
	switch c := p.next(); {
	case c == '(':
		return p.enclosed()
	case c == '.' || '0' <= c && c <= '9':
		return p.decimal()
	case strings.HasPrefix(p.text[p.at:], "exp"):
		start := p.at
		p.at += len("exp")
		if p.next() != '(' {
			return nil, p.unexpected()
		}
		x, err := p.enclosed()
		if err != nil {
			return nil, err
		}
		r, ok := x.Rat()
		if !ok {
			return nil, fmt.Errorf(
				"%w: the argument of exp at character %d is %s, which is not rational",
				ErrSyntax,
				utf8.RuneCountInString(p.text[:start])+1,
				x.short(),
			)
		}
		return Exp(r)
	}
	return nil, p.unexpected()
}

// enclosed parses an expression in parentheses.
func (p *parser) enclosed() (*Number, error) {
	inside := p.inside()
	if x, ok := p.memory.known[inside]; ok {
		p.at += len(inside)
		return x, nil
	}
	if err := p.opened(); err != nil {
		return nil, err
	}
	p.take("(")
	x, err := p.sum()
	if err == nil && p.take(")") == 0 {
		err = p.unexpected()
	}
	p.depth--
	if err == nil && len(inside) >= leastKnown && len(p.memory.known) < mostKnown {
		if p.memory.known == nil {
			p.memory.known = map[string]*Number{}
		}
		p.memory.known[strings.Clone(inside)] = x
	}
	return x, err
}

// inside returns the text from the opening parenthesis at the current position to its closing one. It returns "" if
// there is no closing one, or if nesting is so deep that scanning would be slow.
func (p *parser) inside() string {
	open := 0
	for i := p.at; i < len(p.text) && p.depth < remembered; i++ {
		switch p.text[i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return p.text[p.at : i+1]
			}
		}
	}
	return ""
}

// decimal parses digits, with an optional fraction and exponent.
func (p *parser) decimal() (*Number, error) {
	start := p.at
	n := p.digits()
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		n += p.digits()
	}
	switch {
	case n == 0:
		p.at = start
		return nil, p.unexpected()
	case n > maxDigits:
		return nil, fmt.Errorf("%w: more than %d digits", ErrSize, maxDigits)
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		from := p.at
		if p.digits() == 0 {
			return nil, p.unexpected()
		}
		power, err := strconv.Atoi(p.text[from:p.at])
		if err != nil || power > maxDecimal {
			return nil, fmt.Errorf("%w: ten to a power beyond ±%d", ErrSize, maxDecimal)
		}
		n += power
	}
	if err := p.work.spend(int64(n) / 4); err != nil {
		return nil, err
	}
	r, ok := new(big.Rat).SetString(p.text[start:p.at])
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrSyntax, p.text[start:p.at])
	}
	return Rat(r), nil
}

// short returns x as text for a message, or a description if the text is long.
func (x *Number) short() string {
	if text := x.String(); len(text) <= 40 {
		return text
	}
	return "a sum of powers of e"
}
