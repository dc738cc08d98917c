package expsum

import (
	"errors"
	"fmt"
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
// whose number would be larger than is computed with, or take longer than about a second, is ErrSize, before it is built.
func Parse(text string) (*Number, error) { return new(Memory).Parse(text) }

// parser reads a text from its byte at on. depth counts what is open.
type parser struct {
	text      string
	at, depth int
	memory    *Memory
	work      *Work
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
	return fmt.Errorf(
		"%w: unexpected %s at character %d",
		ErrSyntax,
		strconv.QuoteRune(r),
		utf8.RuneCountInString(p.text[:p.at])+1,
	)
}

// opened counts one more level of nesting.
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
