package formula

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dither/curator"
)

// Limits on the size of a formula.
const (
	maxFormula = 4096 // in bytes
	maxTerms   = 100
	maxFactors = 4 // in one term
)

// Parse parses a formula:
//
//	formula = name "~" ["-"] operand {("+" | "-") operand}
//	operand = "0" | "1" | product
//	product = factor {(":" | "*") factor}
//	factor  = name | "factor" "(" name ")"
//
// "a:b" is the interaction of a and b, and "a*b" means a + b + a:b. "- 1" and "+ 0" remove the intercept, and "-
// term" removes a term. A name with characters other than letters, digits, _ and . needs quotes: "education-num" or
// `education-num`.
func Parse(text string) (Formula, error) {
	p := &reader{text: text}
	if len(text) > maxFormula {
		return Formula{}, p.wrong("it is longer than %d bytes", maxFormula)
	}
	if err := p.read(); err != nil {
		return Formula{}, err
	}
	return p.formula()
}

// lexeme is one token of a formula: a name or a sign.
type lexeme struct {
	name string
	sign rune // 0 for a name
	at   int  // offset in bytes
}

type reader struct {
	text   string
	tokens []lexeme
}

func (p *reader) wrong(format string, args ...any) error {
	return &curator.Error{
		Code:    curator.CodeUsage,
		Message: "the formula cannot be read: " + fmt.Sprintf(format, args...),
		Hint: `write it like y ~ x1 + x2 + x1:x2; quote a name with characters other than letters, digits, _ and ., ` +
			`such as "education-num"`,
	}
}

// read splits the text into tokens.
func (p *reader) read() error {
	if !utf8.ValidString(p.text) {
		return p.wrong("it is not UTF-8")
	}
	for i := 0; i < len(p.text); {
		r, n := utf8.DecodeRuneInString(p.text[i:])
		switch {
		case unicode.IsSpace(r):
			i += n
		case r == '"' || r == '`':
			name, end := quotedName(p.text[i+1:], r)
			if end < 0 || name == "" {
				return p.wrong("the quotes at %d contain no name", i+1)
			}
			p.tokens, i = append(p.tokens, lexeme{name, 0, i}), i+1+end
		case nameRune(r):
			end := i
			for end < len(p.text) {
				r, n := utf8.DecodeRuneInString(p.text[end:])
				if !nameRune(r) {
					break
				}
				end += n
			}
			word := p.text[i:end]
			if unicode.IsDigit(r) && word != "0" && word != "1" {
				return p.wrong("%q at %d is not a name", word, i+1)
			}
			sign := rune(0)
			if unicode.IsDigit(r) {
				sign, word = r, ""
			}
			p.tokens, i = append(p.tokens, lexeme{word, sign, i}), end
		case strings.ContainsRune("~+-:*()", r):
			p.tokens, i = append(p.tokens, lexeme{"", r, i}), i+n
		default:
			return p.wrong("%q at %d has no meaning here", r, i+1)
		}
	}
	return nil
}

// quotedName reads a name up to its closing quote. Inside a name, the quote character is written twice. end is the
// offset after the closing quote, or −1 if there is no closing quote.
func quotedName(text string, quote rune) (name string, end int) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != byte(quote) {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == byte(quote) {
			i++
			b.WriteByte(byte(quote))
			continue
		}
		return b.String(), i + 1
	}
	return "", -1
}

// sign consumes the next token if it is the sign r, and reports whether it did.
func (p *reader) sign(r rune) bool {
	if len(p.tokens) == 0 || p.tokens[0].sign != r {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

// name consumes the next token, which must be a name.
func (p *reader) name() (string, error) {
	if len(p.tokens) == 0 {
		return "", p.wrong("it ends, but a name must follow")
	}
	t := p.tokens[0]
	if t.sign != 0 {
		return "", p.wrong("a name is missing at %d", t.at+1)
	}
	p.tokens = p.tokens[1:]
	return t.name, nil
}

func (p *reader) formula() (f Formula, err error) {
	f.Intercept = true
	if f.Response, err = p.name(); err != nil {
		return f, err
	}
	if !p.sign('~') {
		return f, p.wrong("it must begin with a response and ~")
	}
	minus := p.sign('-')
	for {
		if err := p.operand(&f, minus); err != nil {
			return f, err
		}
		if len(p.tokens) == 0 {
			break
		}
		minus = p.sign('-')
		if !minus && !p.sign('+') {
			return f, p.wrong("+ or - is missing at %d", p.tokens[0].at+1)
		}
	}
	// Put interactions after the main effects that they contain, as in a table of results.
	slices.SortStableFunc(f.Terms, func(a, b Term) int { return len(a) - len(b) })
	for _, t := range f.Terms {
		for _, x := range t {
			if strings.EqualFold(x.Column, f.Response) {
				return f, p.wrong("the response is on the right-hand side too")
			}
		}
	}
	return f, nil
}

// operand parses an operand and adds its terms or the intercept to f, or removes them if minus is true.
func (p *reader) operand(f *Formula, minus bool) error {
	switch {
	case p.sign('1'):
		f.Intercept = !minus
		return nil
	case p.sign('0'):
		f.Intercept = minus
		return nil
	}
	terms, err := p.product()
	if err != nil {
		return err
	}
	for _, t := range terms {
		at := slices.IndexFunc(f.Terms, t.same)
		switch {
		case minus && at >= 0:
			f.Terms = slices.Delete(f.Terms, at, at+1)
		case !minus && at < 0:
			f.Terms = append(f.Terms, t)
		}
	}
	if len(f.Terms) > maxTerms {
		return p.wrong("it has more than %d terms", maxTerms)
	}
	return nil
}

// product parses a product and returns the terms that it stands for.
func (p *reader) product() ([]Term, error) {
	first, err := p.factor()
	if err != nil {
		return nil, err
	}
	// A colon binds more tightly than an asterisk: a*b:c means a + b:c + a:b:c.
	terms, group := []Term{}, Term{first}
	for {
		colon := p.sign(':')
		if !colon && !p.sign('*') {
			return p.crossed(terms, group)
		}
		next, err := p.factor()
		if err != nil {
			return nil, err
		}
		if colon {
			group = group.times(Term{next})
			continue
		}
		if terms, err = p.crossed(terms, group); err != nil {
			return nil, err
		}
		group = Term{next}
	}
}

// crossed returns the terms of terms * t: the terms, t, and the product of each of them with t.
func (p *reader) crossed(terms []Term, t Term) ([]Term, error) {
	out := slices.Clone(terms)
	// skips duplicates: a*a means a, and without this check each further *a would double the terms
	add := func(t Term) {
		if !slices.ContainsFunc(out, t.same) {
			out = append(out, t)
		}
	}
	add(t)
	for _, before := range terms {
		add(before.times(t))
	}
	for _, t := range out {
		if len(t) > maxFactors {
			return nil, p.wrong("a term has more than %d factors", maxFactors)
		}
	}
	return out, nil
}

// factor parses a column name or factor(name).
func (p *reader) factor() (f Factor, err error) {
	if f.Column, err = p.name(); err != nil || len(p.tokens) == 0 || p.tokens[0].sign != '(' {
		return f, err
	}
	if f.Column != "factor" {
		return f, p.wrong("there is no function %q: factor(x) takes a column's declared values as categories", f.Column)
	}
	p.sign('(')
	f.Categorical = true
	if f.Column, err = p.name(); err != nil {
		return f, err
	}
	if !p.sign(')') {
		return f, p.wrong("factor( has no closing bracket")
	}
	return f, nil
}
