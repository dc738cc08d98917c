package text

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync/atomic"

	"dither/internal/value"
)

// Regular expressions are a part of PostgreSQL's advanced ones on which Go's linear matcher agrees: literal characters,
// ".", "|", "(…)", "(?:…)", "^", "$", "[…]", the quantifiers "*", "+", "?" and "{m,n}", and the escapes \d, \w, \s,
// \D, \W and \S, and a backslash before a character that is neither a letter nor a digit. Both take the leftmost match,
// and the longest one of these.

// maxPattern bounds the length of a pattern.
const maxPattern = 256

// maxSteps bounds the product of the sizes of a pattern and of a text, since matching takes time in proportion to it.
const maxSteps = 100_000

// size returns about the number of instructions of a pattern, at most maxSteps + 1. A repetition has its operand as
// often as its bound says.
func size(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+size(sub), maxSteps+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxSteps+1)
}

// compiled is a pattern that Go's matcher has compiled.
type compiled struct {
	pattern string
	anyCase bool
	re      *regexp.Regexp
	size    int  // about the number of instructions
	ascii   bool // whether the texts must be printable ASCII
}

// lastCompiled is the pattern that was compiled last. A function applies one pattern to many texts in a row.
var lastCompiled atomic.Pointer[compiled]

// compile translates a pattern. The boolean is false if the pattern has any other form, if a match would take too many
// steps, or if Go and PostgreSQL may disagree on the texts. They agree on all characters if the pattern has no classes
// and its case counts. Otherwise both the pattern and the texts must be printable ASCII.
func compile(pattern string, anyCase bool, texts ...string) (*regexp.Regexp, bool) {
	p, ok := compiledOf(pattern, anyCase)
	if !ok {
		return nil, false
	}
	for _, s := range texts {
		if p.ascii && !printable(s) || p.size > maxSteps/max(len(s), 1) {
			return nil, false
		}
	}
	return p.re, true
}

func compiledOf(pattern string, anyCase bool) (*compiled, bool) {
	if p := lastCompiled.Load(); p != nil && p.pattern == pattern && p.anyCase == anyCase {
		return p, true
	}
	classes, ok := supported(pattern)
	ascii := classes || anyCase
	if !ok || len(pattern) > maxPattern || ascii && !printable(pattern) {
		return nil, false
	}
	flags := "(?s)"
	if anyCase {
		flags = "(?si)"
	}
	parsed, err := syntax.Parse(flags+pattern, syntax.Perl)
	if err != nil || size(parsed) > maxSteps {
		return nil, false
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, false
	}
	re.Longest()
	out := &compiled{pattern, anyCase, re, size(parsed), ascii}
	lastCompiled.Store(out)
	return out, true
}

// printable reports whether a text is printable ASCII.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// supported reports whether a pattern has only the listed forms, and whether it has classes of characters.
func supported(pattern string) (classes, ok bool) {
	after := byte('(') // what precedes: '(' if there is nothing to repeat, 'a' for an atom, '*' for a quantifier
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i+1:]
		switch c := pattern[i]; c {
		case '\\':
			if rest == "" {
				return classes, false
			}
			i++
			switch e := rest[0]; {
			case strings.IndexByte("dwsDWS", e) >= 0:
				classes = true
			case e >= '0' && e <= '9' || e >= 'a' && e <= 'z' || e >= 'A' && e <= 'Z' || e >= 0x80:
				return classes, false
			}
			after = 'a'
		case '[':
			size, named, ok := bracket(pattern[i:])
			if !ok {
				return classes, false
			}
			classes = classes || named
			i += size - 1
			after = 'a'
		case '(':
			if strings.HasPrefix(rest, "?:") {
				i += 2
			} else if strings.HasPrefix(rest, "?") {
				return classes, false
			}
			after = '('
		case '|', '^':
			after = '('
		case '*', '+', '?':
			if after != 'a' {
				return classes, false
			}
			after = '*'
		case '{':
			end := strings.IndexByte(rest, '}')
			if after != 'a' || end < 0 || !repeats(rest[:end]) {
				return classes, false
			}
			i += end + 1
			after = '*'
		case '$':
			after = '('
		case ']', '}':
			return classes, false
		default:
			after = 'a'
		}
	}
	return classes, true
}

// bracket returns the length of a bracket expression, and whether it has a class of characters. The expression must
// not have an equivalence class, a collating element, or an escape of a letter or digit that is no class.
func bracket(s string) (size int, named, ok bool) {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		i++
	}
	for i < len(s) {
		switch {
		case s[i] == ']':
			return i + 1, named, true
		case strings.HasPrefix(s[i:], "[:"):
			end := strings.Index(s[i:], ":]")
			if end < 0 || !classNames[s[i+2:i+end]] {
				return 0, false, false
			}
			named = true
			i += end + 2
		case s[i] == '[', s[i] == '&' && strings.HasPrefix(s[i:], "&&"):
			return 0, false, false
		case s[i] == '\\':
			if i+1 == len(s) {
				return 0, false, false
			}
			switch e := s[i+1]; {
			case strings.IndexByte("dws", e) >= 0:
				named = true
			case e >= '0' && e <= '9' || e >= 'a' && e <= 'z' || e >= 'A' && e <= 'Z' || e >= 0x80:
				return 0, false, false
			}
			i += 2
		default:
			i++
		}
	}
	return 0, false, false
}

var classNames = map[string]bool{
	"alnum": true, "alpha": true, "blank": true, "cntrl": true, "digit": true, "graph": true, "lower": true,
	"print": true, "punct": true, "space": true, "upper": true, "xdigit": true,
}

// repeats reports whether a bound is m, m, or m,n with numbers of at most 100.
func repeats(bound string) bool {
	low, high, _ := strings.Cut(bound, ",")
	number := func(s string) bool {
		return s != "" && len(s) <= 2 && strings.Trim(s, "0123456789") == "" || s == "100"
	}
	return number(low) && (high == "" || number(high))
}

func matches(anyCase bool) func([]value.Value) (value.Value, bool) {
	return func(args []value.Value) (value.Value, bool) {
		re, ok := compile(args[1].Text, anyCase, args[0].Text)
		return value.OfBool(ok && re.MatchString(args[0].Text)), ok
	}
}

// regexpLike matches a pattern, with the flag i or c, or none.
func regexpLike(args []value.Value) (value.Value, bool) {
	anyCase := false
	if len(args) == 3 {
		if anyCase = args[2].Text == "i"; !anyCase && args[2].Text != "c" && args[2].Text != "" {
			return value.Value{}, false
		}
	}
	return matches(anyCase)(args[:2])
}

// similar is SIMILAR TO.
func similar(args []value.Value) (value.Value, bool) {
	pattern, ok := similarPattern(args[1].Text)
	if !ok {
		return value.Value{}, false
	}
	return matches(false)([]value.Value{args[0], value.OfText(pattern)})
}

// similarPattern returns the regular expression that means what a pattern of SIMILAR TO means: it matches the whole
// text, % stands for any text, _ for any character, and the characters . ^ and $ for themselves. The boolean is false if
// the pattern ends in a backslash.
func similarPattern(pattern string) (string, bool) {
	var re strings.Builder
	re.WriteString("^(?:")
	inside := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			if i++; i == len(pattern) {
				return "", false
			}
			re.WriteByte('\\')
			re.WriteByte(pattern[i])
		case inside:
			inside = c != ']'
			re.WriteByte(c)
		case c == '[':
			inside = true
			re.WriteByte(c)
		case c == '%':
			re.WriteString(".*")
		case c == '_':
			re.WriteByte('.')
		case c == '.' || c == '^' || c == '$':
			re.WriteByte('\\')
			re.WriteByte(c)
		default:
			re.WriteByte(c)
		}
	}
	re.WriteString(")$")
	return re.String(), true
}

// regexpReplace replaces the first match, or with the flag g every match. In the replacement, \& stands for the match.
// Other references to a match are not supported.
func regexpReplace(args []value.Value) (value.Value, bool) {
	flags := ""
	if len(args) == 4 {
		flags = args[3].Text
	}
	if strings.Trim(flags, "gi") != "" {
		return value.Value{}, false
	}
	s, with := args[0].Text, args[2].Text
	re, ok := compile(args[1].Text, strings.Contains(flags, "i"), s)
	if !ok {
		return value.Value{}, false
	}
	times := 1
	if strings.Contains(flags, "g") {
		times = -1
	}
	var out strings.Builder
	at := 0
	if times < 0 && matchesNothing(re) {
		return value.Value{}, false
	}
	for _, m := range re.FindAllStringIndex(s, times) {
		replaced, ok := replacement(with, s[m[0]:m[1]])
		if !ok || out.Len()+len(replaced) > value.MaxTextBytes {
			return value.Value{}, false
		}
		out.WriteString(s[at:m[0]])
		out.WriteString(replaced)
		at = m[1]
	}
	out.WriteString(s[at:])
	return value.OfText(out.String()), true
}

func replacement(with, match string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(with); i++ {
		if with[i] != '\\' {
			out.WriteByte(with[i])
			continue
		}
		if i++; i == len(with) {
			return "", false
		}
		switch with[i] {
		case '&':
			out.WriteString(match)
		case '\\':
			out.WriteByte('\\')
		default:
			return "", false
		}
	}
	return out.String(), true
}

// regexpSubstr returns the first match, or NULL if there is none.
func regexpSubstr(args []value.Value) (value.Value, bool) {
	re, ok := compile(args[1].Text, false, args[0].Text)
	if !ok {
		return value.Value{}, false
	}
	if m := re.FindStringIndex(args[0].Text); m != nil {
		return value.OfText(args[0].Text[m[0]:m[1]]), true
	}
	return value.NullOf(value.Text), true
}

// regexpCount counts the matches.
func regexpCount(args []value.Value) (value.Value, bool) {
	re, ok := compile(args[1].Text, false, args[0].Text)
	if !ok {
		return value.Value{}, false
	}
	if matchesNothing(re) {
		return value.Value{}, false
	}
	return value.OfInt(int64(len(re.FindAllStringIndex(args[0].Text, -1)))), true
}

// matchesNothing reports whether an expression can match the empty text. PostgreSQL finds an empty match after another one,
// and Go does not. So all matches of such an expression differ. Expressions that depend on what is around an empty match
// depend on the ends of the text alone, so they match the empty text too.
func matchesNothing(re *regexp.Regexp) bool { return re.MatchString("") }
