package text

import (
	"testing"
)

// LIKE is matched as engines do: % is any text, _ one character, and a backslash takes the next as it is.
func TestLike(t *testing.T) {
	for _, c := range []struct {
		text, pattern string
		want          bool
	}{
		{"", "", true},
		{"", "%", true},
		{"a", "", false},
		{"north", "no%", true},
		{"north", "%th", true},
		{"north", "%o%t%", true},
		{"north", "n_rth", true},
		{"north", "_orth_", false},
		{"Straße", "%_e", true},
		{"日本", "__", true},
		{"日本", "_", false},
		{"a%b", `a\%b`, true},
		{"axb", `a\%b`, false},
		{"a_b", `%\_b`, true},
		{`a\`, `a\\`, true},
		{"aab", "%ab", true},
		{"abab", "%ab", true},
		{"aaa", "%a%a%a%a%", false},
		{"North", "no%", false},
		{"%", "%", true},
		{`x\%`, `%\\\%`, true},
		{"ab", "%%b", true},
		{"mississippi", "%iss%ip_i", true},
		{"mississippi", "%iss%is_i", false},
	} {
		if got := Like(c.text, c.pattern); got != c.want {
			t.Errorf("%q LIKE %q: %t", c.text, c.pattern, got)
		}
	}
}
