package expsum

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrSyntax reports a text that is not a number.
var ErrSyntax = errors.New("not a number")

// Limits on a text.
const (
	maxText    = 1 << 16
	maxDepth   = 64
	maxDigits  = 1100 // the most digits of a decimal, enough for every float64
	maxDecimal = 1100 // the largest magnitude of a decimal's exponent
	maxRaised  = 64   // the largest magnitude of the integer after ^
)

// Parse parses a number. The syntax has decimals ("0.25", "1e-3"), + - * /, parentheses, exp(r) with a rational r,
// and ^ with an integer of up to ±64:
//
//	1/3   exp(1)/(200 + exp(1))   (1 - exp(-0.5))^2/2
//
// Spaces may separate the parts. ^ binds more strongly than a sign, and a sign more strongly than * and /. Any
// other text is ErrSyntax, including NaN and infinities. A division by zero is ErrZero. ErrSize reports a text of
// more than 65,536 bytes, a number that is too large, and a computation that would take longer than about a second.
// Parse returns ErrSize before it builds the number.
func Parse(text string) (*Number, error) { return new(Memory).Parse(text) }

// parser parses text. The field at is the current byte position, and depth is the number of open parentheses and
// signs.
type parser struct {
	text      string
	at, depth int
	memory    *Memory
	work      *Work
}

// next skips spaces and returns the next byte, or 0 at the end.
func (p *parser) next() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// take consumes and returns the next byte if it is among the given ones. Otherwise it returns 0.
func (p *parser) take(among string) byte {
	c := p.next()
	if c == 0 || strings.IndexByte(among, c) < 0 {
		return 0
	}
	p.at++
	return c
}

// unexpected returns the error for the text at the current position.
func (p *parser) unexpected() error {
	if p.next() == 0 && p.at == len(p.text) {
		return fmt.Errorf("%w: it ends too early", ErrSyntax)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return fmt.Errorf(
		"%w: unexpected %s at character %d",
		ErrSyntax,
		strconv.QuoteRune(r),
		utf8.RuneCountInString(p.text[:p.at])+1,
	)
}

// opened adds a level of nesting. It returns ErrSize if the nesting is too deep.
func (p *parser) opened() error {
	if p.depth++; p.depth > maxDepth {
		return fmt.Errorf("%w: nested more than %d deep", ErrSize, maxDepth)
	}
	return nil
}

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
	return p.work.Sum(all)
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
				x, err = p.work.Mul(x, y)
			} else {
				x, err = p.work.Quo(x, y)
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
