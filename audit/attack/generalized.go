package attack

import (
	"math/big"
	"regexp"
	"strings"
)

// A published value may be
//
//	28              itself; numbers are equal as numbers
//	*, ?, NA, –     anything, as nothing at all is
//	130**           whatever has the characters before the stars, and one for each star
//	20-29           a number from 20 to 29, both included; also 20–29, 20..29, 20 to 29
//	[20,30), [90,)  a number of an interval, with or without its ends, or with one of them
//	<30, >=40, 90+  a number on one side
//	{flu,cold}      any of several such values; also flu|cold
//
// and any other text is that text, unless it looks as if it said something else (unread).
type form struct {
	kind              formKind
	text              string   // as it was published
	low, high         *big.Rat // of a span, nil if it has no such end; a number is both
	openLow, openHigh bool     // whether the end is not of it
	prefix            string   // of a pattern, before its stars
}

type formKind int

const (
	word formKind = iota
	span
	pattern
	anything
	unread // a notation that is none of these
)

// How spans are written.
var (
	decimal   = `([-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30}))`
	plain     = regexp.MustCompile(`^` + decimal + `$`)
	closedEnd = regexp.MustCompile(`^` + decimal + `\s*(?:-|–|\.\.|to)\s*` + decimal + `$`)
	interval  = regexp.MustCompile(`^([\[(])\s*(?:` + decimal + `|[-−]?(?:inf|∞))?\s*[,;]\s*(?:` + decimal +
		`|\+?(?:inf|∞))?\s*([\])])$`)
	oneSided = regexp.MustCompile(`^(<=|>=|<|>|≤|≥)\s*` + decimal + `$`)
	upward   = regexp.MustCompile(`^` + decimal + `\s*\+$`)
)

// suppressed are texts that stand for a value that was left out.
var suppressed = map[string]bool{
	"": true, "*": true, "?": true, "NA": true, "N/A": true, "NULL": true, "-": true,
	"–": true, "—": true, "…": true,
}

// mostNested is how deep sets may lie in sets.
const mostNested = 4

// parse reads a published value: what it may be, at least one form.
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

// split cuts a text at a separator that is in no brackets.
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

// single reads a value that is no set.
func single(text string) form {
	f := form{kind: span, text: text}
	if plain.MatchString(text) {
		return exactly(text)
	} else if m := closedEnd.FindStringSubmatch(text); m != nil {
		if f.low, f.high = number(m[1]), number(m[2]); f.low.Cmp(f.high) > 0 {
			return form{text: text} // a code, as the month 2020-05
		}
		return f
	} else if m := interval.FindStringSubmatch(text); m != nil {
		f.low, f.high, f.openLow, f.openHigh = number(m[2]), number(m[3]), m[1] == "(", m[4] == ")"
	} else if m := oneSided.FindStringSubmatch(text); m != nil {
		if strings.ContainsAny(m[1], "<≤") {
			f.high, f.openHigh = number(m[2]), m[1] == "<"
		} else {
			f.low, f.openLow = number(m[2]), m[1] == ">"
		}
	} else if m := upward.FindStringSubmatch(text); m != nil {
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

// exactly is a value that is known: a number, or a word.
func exactly(text string) form {
	if !plain.MatchString(text) {
		return form{text: text}
	}
	x := number(text)
	return form{kind: span, text: text, low: x, high: x}
}

// exact reports a form that is one value.
func (f form) exact() bool {
	return f.kind == word || f.kind == span && f.low != nil && f.high != nil && f.low.Cmp(f.high) == 0
}

// empty reports a span with nothing in it.
func (f form) empty() bool {
	if f.low == nil || f.high == nil {
		return false
	}
	c := f.low.Cmp(f.high)
	return c > 0 || c == 0 && (f.openLow || f.openHigh)
}

// number is a text that plain matches, and nil for none.
func number(text string) *big.Rat {
	if text == "" {
		return nil
	}
	r, _ := new(big.Rat).SetString(text)
	return r
}
