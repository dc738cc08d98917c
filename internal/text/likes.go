package text

import (
	"regexp/syntax"
	"strings"
)

// maxLikes bounds the number of LIKE patterns that stand for one regular expression, and maxLike the length of each.
const (
	maxLikes = 16
	maxLike  = 256
)

// Likes returns patterns of LIKE of which a text matches at least one exactly if it matches a regular expression. The
// boolean is false if there are no such patterns, or more than a few. They exist for literal characters, ".", ".*", "^"
// at the start, "$" at the end, and alternatives of these.
//
// Claim: the patterns match the same texts. Proof: a regular expression matches if one of its alternatives matches
// somewhere. An alternative without "^" may begin anywhere, which a % before it says, and one without "$" may end
// anywhere. In PostgreSQL and in LIKE, "." and _ stand for any one character, also for a line end, and ".*" and % for any
// text. The boolean is false for all that has classes of characters, or whose case does not count. ∎
func Likes(pattern string) ([]string, bool) {
	classes, ok := supported(pattern)
	if !ok || classes || len(pattern) > maxPattern {
		return nil, false
	}
	re, err := syntax.Parse("(?s)"+pattern, syntax.Perl)
	if err != nil || size(re) > maxSteps/maxLike {
		return nil, false
	}
	parts, ok := alternatives(re)
	if !ok {
		return nil, false
	}
	var out []string
	for _, p := range parts {
		body, begins := strings.CutPrefix(p, begin)
		body, ends := strings.CutSuffix(body, end)
		if strings.Contains(body, begin) || strings.Contains(body, end) {
			return nil, false
		}
		if !begins && !strings.HasPrefix(body, "%") {
			body = "%" + body
		}
		if !ends && (!strings.HasSuffix(body, "%") || strings.HasSuffix(body, `\%`)) {
			body += "%"
		}
		if len(body) > maxLike {
			return nil, false
		}
		out = append(out, body)
	}
	return out, true
}

// SimilarLikes is Likes for a pattern of SIMILAR TO.
func SimilarLikes(pattern string) ([]string, bool) {
	re, ok := similarPattern(pattern)
	if !ok {
		return nil, false
	}
	return Likes(re)
}

// begin and end stand for ^ and $ in a pattern that is not finished. No question has these bytes.
const begin, end = "\xfe", "\xff"

// alternatives returns the patterns of LIKE for a parsed regular expression, in which begin and end stand for ^ and $.
func alternatives(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{likeEscapes.Replace(string(re.Rune))}, re.Flags&syntax.FoldCase == 0
	case syntax.OpAnyChar:
		return []string{"_"}, true
	case syntax.OpBeginText:
		return []string{begin}, true
	case syntax.OpEndText:
		return []string{end}, true
	case syntax.OpStar:
		return []string{"%"}, re.Sub[0].Op == syntax.OpAnyChar
	case syntax.OpPlus:
		return []string{"_%"}, re.Sub[0].Op == syntax.OpAnyChar
	case syntax.OpCapture:
		return alternatives(re.Sub[0])
	case syntax.OpQuest:
		some, ok := alternatives(re.Sub[0])
		return append(some, ""), ok
	case syntax.OpCharClass:
		return oneOf(re.Rune)
	case syntax.OpConcat:
		out := []string{""}
		for _, sub := range re.Sub {
			next, ok := alternatives(sub)
			if !ok || len(out)*len(next) > maxLikes {
				return nil, false
			}
			var longer []string
			for _, a := range out {
				for _, b := range next {
					longer = append(longer, a+b)
				}
			}
			out = longer
		}
		return out, true
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			some, ok := alternatives(sub)
			if out = append(out, some...); !ok || len(out) > maxLikes {
				return nil, false
			}
		}
		return out, true
	default:
		return nil, false
	}
}

// oneOf returns a pattern for each character of a class, which is a list of first and last characters.
func oneOf(class []rune) (out []string, ok bool) {
	for i := 0; i+1 < len(class); i += 2 {
		if int(class[i+1]-class[i])+len(out) >= maxLikes {
			return nil, false
		}
		for r := class[i]; r <= class[i+1]; r++ {
			out = append(out, likeEscapes.Replace(string(r)))
		}
	}
	return out, len(out) > 0
}

var likeEscapes = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
