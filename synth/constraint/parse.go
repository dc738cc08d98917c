package constraint

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a constraint.
const (
	MaxLength = 10_000 // bytes
	maxDepth  = 100
)

// Parse reads a constraint: a condition, or two with => between them. A condition is made of AND, OR, NOT, parentheses,
// boolean columns, comparisons of columns with constants and other columns, BETWEEN, IN, and IS NULL. Dates, times and
// texts are in single quotes. A name in double quotes may have any characters.
func Parse(text string) (*Rule, error) {
	if len(text) > MaxLength || !utf8.ValidString(text) {
		return nil, fmt.Errorf("a constraint has at most %d bytes of UTF-8", MaxLength)
	}
	p := &parser{rule: &Rule{text: strings.TrimSpace(text)}}
	var err error
	if p.words, err = split(text); err != nil {
		return nil, fmt.Errorf("%s: %w", p.rule.text, err)
	}
	if p.rule.root, err = p.implication(); err == nil && len(p.words) > 0 {
		err = fmt.Errorf("%q is unexpected", p.words[0].text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.rule.text, err)
	}
	return p.rule, nil
}

type sort int

const (
	name    sort = iota // or a keyword
	quoted              // a name in double quotes
	literal             // in single quotes
	number
	symbol
)

type word struct {
	text string
	sort sort
}

// split divides a text into words.
func split(text string) (out []word, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeftFunc(text, unicode.IsSpace) {
		first, size := utf8.DecodeRuneInString(text)
		var w word
		n := size
		switch {
		case first == '\'' || first == '"':
			w.sort = literal
			if first == '"' {
				w.sort = quoted
			}
			if w.text, n = unquoted(text); n == 0 {
				return nil, errors.New("a quotation mark is not closed")
			}
		case first == '⇒' || first == '≤' || first == '≥' || first == '≠' || first == '¬' || first == '−':
			w = word{map[rune]string{'⇒': "=>", '≤': "<=", '≥': ">=", '≠': "<>", '¬': "not", '−': "-"}[first], symbol}
			if first == '¬' {
				w.sort = name
			}
		case first >= '0' && first <= '9' || first == '.':
			n = prefix(text, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' || r == 'e' || r == 'E' })
			if end := text[n-1]; (end == 'e' || end == 'E') && n < len(text) && (text[n] == '-' || text[n] == '+') {
				n += 1 + prefix(text[n+1:], func(r rune) bool { return r >= '0' && r <= '9' })
			}
			w = word{text[:n], number}
		case first == '_' || unicode.IsLetter(first):
			n = prefix(text, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
			w = word{text[:n], name}
		default:
			w = word{text[:size], symbol}
			for _, two := range []string{"=>", "<=", ">=", "<>", "!=", "=="} {
				if strings.HasPrefix(text, two) {
					w.text, n = two, 2
				}
			}
		}
		out, text = append(out, w), text[n:]
	}
	return out, nil
}

// prefix returns the length of the longest prefix of such characters.
func prefix(text string, of func(rune) bool) int {
	for i, r := range text {
		if !of(r) {
			return i
		}
	}
	return len(text)
}

// unquoted returns the text in quotation marks, of which a doubled one means itself, and the length with the marks.
func unquoted(text string) (string, int) {
	mark := text[0]
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] == mark {
			if i+1 == len(text) || text[i+1] != mark {
				return out.String(), i + 1
			}
			i++
		}
		out.WriteByte(text[i])
	}
	return "", 0
}

type parser struct {
	rule  *Rule
	words []word
	depth int
}

// is reports whether the next word is a keyword or a symbol.
func (p *parser) is(text string) bool {
	return len(p.words) > 0 && (p.words[0].sort == name && strings.EqualFold(p.words[0].text, text) ||
		p.words[0].sort == symbol && p.words[0].text == text)
}

// take skips the next word if it is a keyword or a symbol.
func (p *parser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.words = p.words[1:]
	return true
}

// implication parses a condition, or two with => between them.
func (p *parser) implication() (node, error) {
	a, err := p.disjunction()
	if err != nil || !p.take("=>") {
		return a, err
	}
	b, err := p.disjunction()
	return &either{[]node{&negated{a}, b}}, err
}

func (p *parser) disjunction() (node, error) {
	a, err := p.conjunction()
	out := &either{[]node{a}}
	for err == nil && p.take("or") {
		a, err = p.conjunction()
		out.parts = append(out.parts, a)
	}
	return out, err
}

func (p *parser) conjunction() (node, error) {
	a, err := p.negation()
	out := &either{[]node{&negated{a}}}
	for err == nil && p.take("and") {
		a, err = p.negation()
		out.parts = append(out.parts, &negated{a})
	}
	return &negated{out}, err
}

func (p *parser) negation() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errors.New("too many levels of NOT and parentheses")
	}
	defer func() { p.depth-- }()
	switch {
	case p.take("not"):
		a, err := p.negation()
		return &negated{a}, err
	case p.take("("):
		a, err := p.implication()
		if err == nil && !p.take(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return a, err
	}
	return p.atom()
}

// operators have the comparison of each sign, whether its sides are exchanged, and whether it is negated.
var operators = map[string]struct {
	how               string
	exchange, negated bool
}{
	"<": {how: "<"}, "<=": {how: "<="}, "=": {how: "="}, "==": {how: "="},
	">": {how: "<", exchange: true}, ">=": {how: "<=", exchange: true},
	"<>": {how: "=", negated: true}, "!=": {how: "=", negated: true},
}

// atom parses a comparison, or a boolean column.
func (p *parser) atom() (node, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	if len(p.words) > 0 && p.words[0].sort == symbol {
		if o, ok := operators[p.words[0].text]; ok {
			p.words = p.words[1:]
			right, err := p.operand()
			if err != nil {
				return nil, err
			}
			if o.exchange {
				left, right = right, left
			}
			var out node = &compare{left: left, right: right, how: o.how}
			if o.negated {
				out = &negated{out}
			}
			return out, nil
		}
	}
	if left.column < 0 {
		return nil, fmt.Errorf("the constant %q is compared with nothing", left.text)
	}
	if p.take("is") {
		no := p.take("not")
		if !p.take("null") || left.shift != 0 {
			return nil, errors.New("IS is followed by NULL or NOT NULL")
		}
		if no {
			return &negated{&missing{left.column}}, nil
		}
		return &missing{left.column}, nil
	}
	no := p.take("not")
	var out node
	switch {
	case p.take("between"):
		out, err = p.between(left)
	case p.take("in"):
		out, err = p.list(left)
	case no:
		err = errors.New("NOT is followed by BETWEEN or IN here")
	case left.shift != 0:
		err = fmt.Errorf("%s is compared with nothing", p.rule.columns[left.column])
	default:
		out = &flag{left.column}
	}
	if no && err == nil {
		out = &negated{out}
	}
	return out, err
}

// between parses the rest of x BETWEEN a AND b.
func (p *parser) between(x *operand) (node, error) {
	a, err := p.operand()
	if err != nil {
		return nil, err
	}
	if !p.take("and") {
		return nil, errors.New("BETWEEN needs two ends, with AND between them")
	}
	b, err := p.operand()
	again := *x
	return &negated{&either{[]node{
		&negated{&compare{left: a, right: x, how: "<="}}, &negated{&compare{left: &again, right: b, how: "<="}},
	}}}, err
}

// list parses the rest of x IN (a, b).
func (p *parser) list(x *operand) (node, error) {
	out := &either{}
	if !p.take("(") {
		return nil, errors.New("IN needs values in parentheses")
	}
	for {
		a, err := p.operand()
		if err != nil {
			return nil, err
		}
		again := *x
		out.parts = append(out.parts, &compare{left: &again, right: a, how: "="})
		if p.take(")") {
			return out, nil
		}
		if !p.take(",") {
			return nil, errors.New("the values of IN have commas between them")
		}
	}
}

// operand parses a constant, or a column with a number added.
func (p *parser) operand() (*operand, error) {
	sign := ""
	if p.take("-") {
		sign = "-"
	}
	if len(p.words) == 0 {
		return nil, errors.New("it ends too early")
	}
	w := p.words[0]
	p.words = p.words[1:]
	if w.sort == name && len(p.words) > 0 && p.words[0].sort == literal { // DATE '2025-01-01'
		switch strings.ToLower(w.text) {
		case "date", "timestamp", "time":
			w, p.words = p.words[0], p.words[1:]
		}
	}
	switch {
	case w.sort == number:
		return &operand{column: -1, text: sign + w.text}, nil
	case sign != "":
		return nil, errors.New("− is followed by a number")
	case w.sort == literal:
		return &operand{column: -1, text: w.text, quoted: true}, nil
	case w.sort == name && (strings.EqualFold(w.text, "true") || strings.EqualFold(w.text, "false")):
		return &operand{column: -1, text: w.text}, nil
	case w.sort == symbol, w.sort == name && reserved[strings.ToLower(w.text)]:
		return nil, fmt.Errorf("%q is unexpected", w.text)
	}
	out := &operand{column: p.column(w.text)}
	for p.is("+") || p.is("-") {
		minus := p.words[0].text == "-"
		if len(p.words) < 2 || p.words[1].sort != number {
			return nil, errors.New("+ and − are followed by a number")
		}
		x, err := strconv.ParseFloat(p.words[1].text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", p.words[1].text)
		}
		if minus {
			x = -x
		}
		out.shift += x
		p.words = p.words[2:]
	}
	return out, nil
}

var reserved = map[string]bool{"and": true, "or": true, "not": true, "in": true, "is": true, "null": true, "between": true}

// column returns the place of a column.
func (p *parser) column(name string) int {
	for i, known := range p.rule.columns {
		if known == name {
			return i
		}
	}
	p.rule.columns = append(p.rule.columns, name)
	return len(p.rule.columns) - 1
}
