package attack

import (
	"math/big"
	"regexp"
	"strings"
)

// form is a possible meaning of a published value. The notations are
//
//	28              the value itself; numbers are compared as numbers
//	*, ?, NA, –     any value; an empty text also means any value
//	130**           any text that begins with 130, and has one more character for each star
//	20-29           a number from 20 to 29, both included; also 20–29, 20..29, 20 to 29
//	[20,30), [90,)  a number in an interval, with or without its ends; an end may be missing
//	<30, >=40, 90+  a number below or above a limit
//	{flu,cold}      one of several values; also flu|cold
//
// Any other text stands for itself. A text that resembles a notation, but is none, is unread.
type form struct {
	kind              formKind
	text              string   // as published
	low, high         *big.Rat // the ends of a span; nil for an end that is missing; equal for a number
	openLow, openHigh bool     // whether the span excludes the end
	prefix            string   // of a pattern: the characters before its stars
}

type formKind int

const (
	word formKind = iota
	span
	pattern
	anything
	unread // an unknown notation
)

// Patterns for the notations of spans, which are intervals of numbers, if they are short. (Limits in the expressions
// themselves would take a millisecond to compile, in every process.)
var (
	decimal   = `([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))`
	plain     = regexp.MustCompile(`^` + decimal + `$`)
	closedEnd = regexp.MustCompile(`^` + decimal + `\s*(?:-|–|\.\.|to)\s*` + decimal + `$`)
	interval  = regexp.MustCompile(`^([\[(])\s*(?:` + decimal + `|[-−]?(?:inf|∞))?\s*[,;]\s*(?:` + decimal +
		`|\+?(?:inf|∞))?\s*([\])])$`)
	oneSided = regexp.MustCompile(`^(<=|>=|<|>|≤|≥)\s*` + decimal + `$`)
	upward   = regexp.MustCompile(`^` + decimal + `\s*\+$`)
)

// longestSpan is the largest number of bytes of a span.
const longestSpan = 150

// suppressed lists the texts, in capitals, that stand for a suppressed value.
var suppressed = map[string]bool{
	"": true, "*": true, "?": true, "NA": true, "N/A": true, "NULL": true, "-": true,
	"–": true, "—": true, "…": true,
}

// mostNested is the largest depth of sets within sets.
const mostNested = 4

// parse returns the possible forms of a published value. There is at least one.
func parse(text string) []form { return nested(text, mostNested) }

func nested(text string, depth int) []form {
	if suppressed[strings.ToUpper(text)] {
		return []form{{kind: anything, text: "*"}}
	}
	members := split(text, '|')
	if inner, ok := strings.CutPrefix(text, "{"); ok && strings.HasSuffix(inner, "}") {
		members = split(strings.TrimSuffix(inner, "}"), ',')
	} else if len(members) == 1 {
		return []form{single(text)}
	}
	if depth == 0 {
		return []form{{kind: unread, text: text}}
	}
	var out []form
	for _, m := range members {
		if m = strings.TrimSpace(m); m != "" {
			out = append(out, nested(m, depth-1)...)
		}
	}
	if len(out) == 0 {
		return []form{{kind: unread, text: text}}
	}
	return out
}

// split divides a text at each separator that is not inside brackets.
func split(text string, separator rune) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth = max(0, depth-1)
		case r == separator && depth == 0:
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}

// single returns the form of a value that is not a set.
func single(text string) form {
	f, short := form{kind: span, text: text}, text
	if len(text) > longestSpan {
		short = "" // which none of the patterns matches
	}
	if plain.MatchString(short) {
		return exactly(text)
	} else if m := closedEnd.FindStringSubmatch(short); m != nil {
		if f.low, f.high = number(m[1]), number(m[2]); f.low.Cmp(f.high) > 0 {
			return form{text: text} // a code, such as the month 2020-05
		}
		return f
	} else if m := interval.FindStringSubmatch(short); m != nil {
		f.low, f.high, f.openLow, f.openHigh = number(m[2]), number(m[3]), m[1] == "(", m[4] == ")"
	} else if m := oneSided.FindStringSubmatch(short); m != nil {
		if strings.ContainsAny(m[1], "<≤") {
			f.high, f.openHigh = number(m[2]), m[1] == "<"
		} else {
			f.low, f.openLow = number(m[2]), m[1] == ">"
		}
	} else if m := upward.FindStringSubmatch(short); m != nil {
		f.low = number(m[1])
	} else if prefix := strings.TrimRight(text, "*"); prefix != text && !strings.Contains(prefix, "*") {
		return form{kind: pattern, text: text, prefix: prefix}
	} else if strings.IndexAny(text, "[({<>≤≥~") == 0 || strings.ContainsAny(text, "*…") ||
		strings.Contains(text, "..") {
		return form{kind: unread, text: text}
	} else {
		return form{text: text}
	}
	if f.empty() {
		f.kind = unread
	}
	return f
}

// exactly returns the form of a value that the attacker knows exactly: an interval with equal ends if the text is a
// number, and otherwise the word itself. It interprets no notation for sets of values, so "*" is the word *.
func exactly(text string) form {
	if len(text) > longestSpan || !plain.MatchString(text) {
		return form{text: text}
	}
	x := number(text)
	return form{kind: span, text: text, low: x, high: x}
}

// exact reports whether a form is a single value.
func (f form) exact() bool {
	return f.kind == word || f.kind == span && f.low != nil && f.high != nil && f.low.Cmp(f.high) == 0
}

// empty reports whether a span contains no number.
func (f form) empty() bool {
	if f.low == nil || f.high == nil {
		return false
	}
	c := f.low.Cmp(f.high)
	return c > 0 || c == 0 && (f.openLow || f.openHigh)
}

// number returns the number that a text denotes, or nil for an empty text. The text must match the pattern decimal.
func number(text string) *big.Rat {
	if text == "" {
		return nil
	}
	r, _ := new(big.Rat).SetString(text)
	return r
}
