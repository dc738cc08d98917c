package expsum

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrSyntax reports a text that is no number.
var ErrSyntax = errors.New("not a number")

// Limits of a text.
const (
	maxText    = 1 << 16
	maxDepth   = 64
	maxDigits  = 1100 // of a decimal: as many as a float's has
	maxDecimal = 1100 // the power of ten of a decimal
	maxRaised  = 64   // the power after ^
)

// Parse reads a number: decimals ("0.25", "1e-3"), + - * /, parentheses, exp(r) of a rational r, and ^ with an integer of up to ±64:
//
//	1/3   exp(1)/(200 + exp(1))   (1 - exp(-0.5))^2/2
//
// Spaces may stand between the parts. As elsewhere ^ binds more strongly than a sign, and a sign than * and /.
// What is no such text, NaN and infinities among them, is ErrSyntax; a division by zero is ErrZero; a text of more than 65,536 bytes, or one
// whose number would be larger than is computed with, is ErrSize, before it is built.
func Parse(text string) (*Number, error) { return new(Memory).Parse(text) }

// Memory parses texts as Parse does, and remembers what stands in parentheses: in a matrix most denominators are met again and again. The zero
// value remembers nothing yet.
type Memory struct{ known map[string]*Number }

// Limits of what is remembered: texts that take a while to read, and so many of them.
const (
	leastKnown = 16
	mostKnown  = 1 << 12
	remembered = 3 // levels of nesting: deeper ones are within what is remembered
)

// Parse reads a number.
func (m *Memory) Parse(text string) (*Number, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: a text of more than %d bytes", ErrSize, maxText)
	}
	p := parser{text: text, memory: m}
	x, err := p.sum()
	if err == nil && p.next() != 0 {
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// parser reads a text from its byte at on. depth counts what is open.
type parser struct {
	text      string
	at, depth int
	memory    *Memory
}

// next is the byte that follows, beyond spaces; 0 at the end.
func (p *parser) next() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// takes one of some bytes, if it follows; 0 if none does.
func (p *parser) take(among string) byte {
	c := p.next()
	if c == 0 || strings.IndexByte(among, c) < 0 {
		return 0
	}
	p.at++
	return c
}

// unexpected is the error at what follows.
func (p *parser) unexpected() error {
	if p.next() == 0 && p.at == len(p.text) {
		return fmt.Errorf("%w: it ends too early", ErrSyntax)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return fmt.Errorf("%w: unexpected %s at character %d", ErrSyntax, strconv.QuoteRune(r), utf8.RuneCountInString(p.text[:p.at])+1)
}

// opened counts one more level of nesting.
func (p *parser) opened() error {
	if p.depth++; p.depth > maxDepth {
		return fmt.Errorf("%w: nested more than %d deep", ErrSize, maxDepth)
	}
	return nil
}

// sum adds up in pairs, and pairs of pairs, so that many powers of e are not merged one by one.
func (p *parser) sum() (*Number, error) {
	var all []*Number
	for sign := byte('+'); ; {
		x, err := p.product()
		if err != nil {
			return nil, err
		}
		if sign == '-' {
			x = x.Neg()
		}
		all = append(all, x)
		if sign = p.take("+-"); sign == 0 {
			break
		}
	}
	for len(all) > 1 {
		for i := 0; i < len(all); i += 2 {
			x := all[i]
			if i+1 < len(all) {
				var err error
				if x, err = x.Add(all[i+1]); err != nil {
					return nil, err
				}
			}
			all[i/2] = x
		}
		all = all[:(len(all)+1)/2]
	}
	return all[0], nil
}

func (p *parser) product() (*Number, error) {
	x, err := p.signed()
	for err == nil {
		var y *Number
		switch op := p.take("*/"); op {
		case 0:
			return x, nil
		default:
			if y, err = p.signed(); err != nil {
				break
			}
			if op == '*' {
				x, err = x.Mul(y)
			} else {
				x, err = x.Quo(y)
			}
		}
	}
	return nil, err
}

func (p *parser) signed() (*Number, error) {
	switch p.take("+-") {
	case 0:
		return p.power()
	case '+':
		if err := p.opened(); err != nil {
			return nil, err
		}
		defer func() { p.depth-- }()
		return p.signed()
	}
	if err := p.opened(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	x, err := p.signed()
	if err != nil {
		return nil, err
	}
	return x.Neg(), nil
}

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
		return nil, fmt.Errorf("%w: a power of more than ±%d", ErrSize, maxRaised)
	}
	y := Rat(big.NewRat(1, 1))
	for range n {
		if y, err = y.Mul(x); err != nil {
			return nil, err
		}
	}
	if negative {
		return Rat(big.NewRat(1, 1)).Quo(y)
	}
	return y, nil
}

// digits goes past the decimal digits that follow, and counts them.
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
			return nil, fmt.Errorf("%w: exp at character %d is of %s, which is no rational", ErrSyntax, utf8.RuneCountInString(p.text[:start])+1, x.short())
		}
		return Exp(r)
	}
	return nil, p.unexpected()
}

// enclosed reads what parentheses hold.
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

// inside is the text from the parenthesis that opens here to the one that closes it; "" where none does, or where nesting makes it costly to look.
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

// decimal reads digits, a fraction, an exponent.
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
		if power, err := strconv.Atoi(p.text[from:p.at]); err != nil || power > maxDecimal {
			return nil, fmt.Errorf("%w: ten to a power beyond ±%d", ErrSize, maxDecimal)
		}
	}
	r, ok := new(big.Rat).SetString(p.text[start:p.at])
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrSyntax, p.text[start:p.at])
	}
	return Rat(r), nil
}

// short is x for a message.
func (x *Number) short() string {
	if text := x.String(); len(text) <= 40 {
		return text
	}
	return "a sum of powers of e"
}
