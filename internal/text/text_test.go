package text

import (
	"strings"
	"testing"

	"dither/internal/value"
)

func values(args ...any) (out []value.Value) {
	for _, a := range args {
		switch a := a.(type) {
		case nil:
			out = append(out, value.NullOf(value.Text))
		case string:
			out = append(out, value.OfText(a))
		case int:
			out = append(out, value.OfInt(int64(a)))
		case bool:
			out = append(out, value.OfBool(a))
		case float64:
			out = append(out, value.OfReal(a))
		}
	}
	return out
}

// Each function gives the value that PostgreSQL documents. The package of the engine compares with a server.
func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		name string
		args []value.Value
		want string
	}{
		{"lower", values("Ärger IN Straße"), "ärger in straße"},
		{"upper", values("straße"), "STRAßE"},
		{"initcap", values("the UPPER deck-2nd"), "The Upper Deck-2nd"},
		{"reverse", values("añb"), "bña"},
		{"trim", values("  a b "), "a b"},
		{"ltrim", values("xxaxx", "x"), "axx"},
		{"rtrim", values("xyaxyx", "yx"), "xya"},
		{"length", values("日本"), "2"},
		{"octet_length", values("日本"), "6"},
		{"substring", values("abcdef", -1, 3), "a"},
		{"substring", values("abcdef", 2), "bcdef"},
		{"substring", values("abc", 9, 2), ""},
		{"left", values("abc", -1), "ab"},
		{"left", values("abc", -9), ""},
		{"right", values("abc", 2), "bc"},
		{"right", values("abc", -1), "bc"},
		{"split_part", values("a-b-c", "-", -1), "c"},
		{"split_part", values("a-b-c", "-", 4), ""},
		{"replace", values("abab", "ab", "c"), "cc"},
		{"replace", values("abab", "", "c"), "abab"},
		{"translate", values("12345", "143", "ax"), "a2x5"},
		{"lpad", values("hi", 5, "xy"), "xyxhi"},
		{"rpad", values("hello", 2), "he"},
		{"lpad", values("hi", 5, ""), "hi"},
		{"strpos", values("日本語", "語"), "3"},
		{"position", values("abc", ""), "1"},
		{"starts_with", values("abc", "ab"), "true"},
		{"concat", values("a", nil, 3, true), "a3t"},
		{"concat_ws", values("-", "a", nil, "b"), "a-b"},
		{"concat_ws", values(nil, "a"), "NULL"},
		{"||", values("a", true), "atrue"},
		{"||", values("a", nil), "NULL"},
		{"lower", values(nil), "NULL"},
		{"concat", values("x", 1.5), "x1.5"},
		{"ilike", values("Upper", "u%R"), "true"},
		{"like", values("Upper", "u%r"), "false"},
		{"~", values("deck 12", `^deck \d+$`), "true"},
		{"~*", values("Deck", "^d.c"), "true"},
		{"similar_to", values("abc", "%(b|d)%"), "true"},
		{"similar_to", values("abc", "(b|c)%"), "false"},
		{"similar_to", values("a.c", "a.c"), "true"},
		{"similar_to", values("abc", "a.c"), "false"},
		{"regexp_replace", values("aabbaa", "a+", "x"), "xbbaa"},
		{"regexp_replace", values("aabbaa", "a+", `<\&>`, "g"), "<aa>bb<aa>"},
		{"regexp_replace", values("abcd", "a|ab|abc", "x"), "xd"},
		{"regexp_substr", values("abc", "[b-z]+"), "bc"},
		{"regexp_count", values("banana", "an"), "2"},
		{"repeat", values("ab", 3), "ababab"},
		{"repeat", values("ab", -3), ""},
		{"ascii", values("€"), "8364"},
	} {
		f, ok := Named(c.name)
		if !ok {
			t.Fatalf("there is no function %q", c.name)
		}
		v, ok := f.Of(c.args...)
		if got := Of(v); v.Null && c.want != "NULL" || !v.Null && got != c.want || !ok || v.Type != f.Type {
			t.Errorf("%s%q: %q (NULL: %t, ok: %t), not %q", c.name, c.args, got, v.Null, ok, c.want)
		}
	}
}

// A function has no value where PostgreSQL raises an error, where its regular expressions may differ from Go's, and
// where the text would be too long.
func TestFunctionsWithoutAValue(t *testing.T) {
	long := strings.Repeat("a", value.MaxTextBytes)
	for _, c := range []struct {
		name string
		args []value.Value
	}{
		{"substring", values("abc", 1, -1)},
		{"split_part", values("abc", "b", 0)},
		{"like", values("abc", `abc\`)},
		{"||", values(long, "b")},
		{"lpad", values("a", 5000)},
		{"repeat", values("ab", 1<<40)},
		{"replace", values(long, "a", "bb")},
		{"~", values("abc", "a*?")},
		{"~", values("abc", "(?=a)")},
		{"~", values("abc", `\ma`)},
		{"~", values("abc", `(a)\1`)},
		{"~", values("abc", "a**")},
		{"~", values("abc", "*a")},
		{"~", values("abc", "[[=a=]]")},
		{"~", values("abc", "[[:word:]]")},
		{"~", values("ä", `\w`)},
		{"~*", values("Ä", "ä")},
		{"~", values("abc", "(")},
		{"~", values("abc", "a{1000}")},
		{"~", values(long, "((?:"+strings.Repeat("a?", 110)+"){100}){10}b")},
		{"~", values(long, strings.Repeat("a?", 60))},
		{"regexp_replace", values("abc", "(a)", `\1`)},
		{"regexp_replace", values("abc", "x*", "-", "g")},
		{"regexp_like", values("abc", "a", "x")},
	} {
		f, _ := Named(c.name)
		if v, ok := f.Of(c.args...); ok {
			t.Errorf("%s%.60q: %q", c.name, c.args, Of(v))
		}
	}
}

func TestReals(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", -2.5: "-2.5", 1e14: "100000000000000", 1e15: "1e+15", 123456789012345: "123456789012345",
		0.0001: "0.0001", 0.00001: "1e-05", 0.1: "0.1",
	} {
		if got := Of(value.OfReal(x)); got != want {
			t.Errorf("%g: %q, not %q", x, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		s    string
		to   value.Type
		want string
	}{
		{" 12 ", value.Integer, "12"},
		{"1.5", value.Real, "1.5"},
		{"Yes", value.Boolean, "true"},
		{"2025-01-31", value.Date, "2025-01-31"},
		{"x", value.Integer, ""},
		{"o", value.Boolean, ""},
		{"NaN", value.Real, ""},
	} {
		v, ok := Read(c.s, c.to)
		if ok != (c.want != "") || ok && Of(v) != c.want {
			t.Errorf("%q as %s: %v (%t)", c.s, c.to, v, ok)
		}
	}
}
