package attack

import (
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"
)

// How generalised values are written.
var (
	decimal   = `(-?[0-9]{1,30}(?:\.[0-9]{1,30})?)`
	plain     = regexp.MustCompile(`^` + decimal + `$`)
	closedEnd = regexp.MustCompile(`^` + decimal + `\s*(?:-|–|\.\.|to)\s*` + decimal + `$`)
	halfOpen  = regexp.MustCompile(`^([\[(])\s*` + decimal + `\s*[,;]\s*` + decimal + `\s*([\])])$`)
	oneSided  = regexp.MustCompile(`^(<=|>=|<|>|≤|≥)\s*` + decimal + `$`)
)

// covers reports whether a published value may be a known one, which is exact. A published value is
//
//	28            itself; numbers are equal as numbers
//	*             anything
//	130**         whatever has the characters before the stars, and one for each star
//	20-29         a number from 20 to 29, both included; also 20–29, 20..29, 20 to 29
//	[20,30)       a number of an interval, with or without its ends
//	<30, >=40     a number on one side
//	{flu,cold}    any of several such values; also flu|cold
func covers(published, known string) bool {
	if published == known || published == "*" {
		return true
	}
	if inner, ok := strings.CutPrefix(published, "{"); ok && strings.HasSuffix(inner, "}") {
		return anyCovers(strings.Split(strings.TrimSuffix(inner, "}"), ","), known)
	}
	if strings.Contains(published, "|") {
		return anyCovers(strings.Split(published, "|"), known)
	}
	if prefix := strings.TrimRight(published, "*"); prefix != published {
		return strings.HasPrefix(known, prefix) && utf8.RuneCountInString(known) == utf8.RuneCountInString(published)
	}
	if !plain.MatchString(known) {
		return false
	}
	x := number(known)
	if plain.MatchString(published) {
		return x.Cmp(number(published)) == 0
	}
	if m := closedEnd.FindStringSubmatch(published); m != nil {
		return number(m[1]).Cmp(x) <= 0 && x.Cmp(number(m[2])) <= 0
	}
	if m := halfOpen.FindStringSubmatch(published); m != nil {
		low, high := x.Cmp(number(m[2])), number(m[3]).Cmp(x)
		return (low > 0 || low == 0 && m[1] == "[") && (high > 0 || high == 0 && m[4] == "]")
	}
	if m := oneSided.FindStringSubmatch(published); m != nil {
		side := x.Cmp(number(m[2]))
		switch m[1] {
		case "<":
			return side < 0
		case ">":
			return side > 0
		case "<=", "≤":
			return side <= 0
		default:
			return side >= 0
		}
	}
	return false
}

func anyCovers(published []string, known string) bool {
	for _, p := range published {
		if p = strings.TrimSpace(p); !strings.ContainsAny(p, "{}|") && covers(p, known) {
			return true
		}
	}
	return false
}

// number is a text that plain matches.
func number(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}
