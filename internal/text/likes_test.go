package text

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// The patterns of LIKE that stand for a regular expression match the same texts.
func TestLikesMatchTheSameTexts(t *testing.T) {
	patterns := []string{
		"", "a", "^a", "a$", "^a$", "^(a|b)", "(a|b)c", "a.b", "a.*b", "^.a", "a.+b", "^a.*", "a%b", `a\.b`, "a_", "[ab]c",
		"^(ab|ac|b)$", "a?b", "^a|b$", "(^a|b$)", "", "a|", "é", "^$", `\$a`, `a\\b`, `\\%`, `%$`,
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		s := rapid.StringOf(rapid.SampledFrom([]rune("ababcc%_.\\$é\n"))).Draw(t, "text")
		likes, ok := Likes(pattern)
		if !ok {
			t.Fatalf("%q has no patterns", pattern)
		}
		got := false
		for _, l := range likes {
			got = got || Like(s, l)
		}
		if want := regexp.MustCompile("(?s)" + pattern).MatchString(s); got != want {
			t.Errorf("%q ~ %q is %t; LIKE %q is %t", s, pattern, want, likes, got)
		}
	})
	for _, pattern := range []string{`\d`, `a\w`, "[^a]", "a*", "a{2}", "[a-z]", "(ab)+", "a^b", "a$b", "^^a", "(?i)a", "a(", "[[:digit:]]"} {
		if likes, ok := Likes(pattern); ok {
			t.Errorf("%q has the patterns %q", pattern, likes)
		}
	}
	for pattern, want := range map[string][]string{
		"(Sun|Moon)%": {"Sun%", "Moon%"}, "%a_": {"%a_"}, "a.b": {"a.b"}, "a": {"a"}, "": {""},
	} {
		got, ok := SimilarLikes(pattern)
		if !ok || len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("SIMILAR TO %q: %q", pattern, got)
		}
	}
}
