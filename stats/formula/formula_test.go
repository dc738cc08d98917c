package formula

import (
	"errors"
	"strings"
	"testing"

	"dither/curator"
)

func TestFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"y ~ x":                           "y ~ x",
		"y~x1+x2 + x1 : x2":               "y ~ x1 + x2 + x1:x2",
		"y ~ x1:x2 + x1":                  "y ~ x1 + x1:x2",
		"y ~ x1*x2":                       "y ~ x1 + x2 + x1:x2",
		"y ~ a*b*c":                       "y ~ a + b + c + a:b + a:c + b:c + a:b:c",
		"y ~ a*b:c":                       "y ~ a + b:c + a:b:c",
		"y ~ a*b - a:b":                   "y ~ a + b",
		"y ~ a:b + b:a + a:a":             "y ~ a + a:b",
		"y ~ 1":                           "y ~ 1",
		"y ~ x - 1":                       "y ~ 0 + x",
		"y ~ 0 + x":                       "y ~ 0 + x",
		"y ~ -1 + x":                      "y ~ 0 + x",
		"y ~ 0 + x + 1":                   "y ~ x",
		"y ~ factor(g) + factor":          `y ~ factor(g) + "factor"`,
		"\"hours per\" ~ `education-num`": `"hours per" ~ "education-num"`,
		`y ~ "a""b"`:                      `y ~ "a""b"`,
		"größe ~ alter_2.1":               "größe ~ alter_2.1",
	} {
		f, err := Parse(text)
		if err != nil || f.String() != want {
			t.Errorf("%s: %s, %v; want %s", text, f, err, want)
			continue
		}
		if again, err := Parse(f.String()); err != nil || again.String() != want {
			t.Errorf("%s is read again as %s, %v", f, again, err)
		}
	}
}

func TestFormulasRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                            "it ends, but a name",
		"y":                           "begin with a response",
		"~ x":                         "a name is missing at 1",
		"y ~":                         "it ends, but a name",
		"y ~ x +":                     "it ends, but a name",
		"y ~ x x":                     "+ or - is missing at 7",
		"y ~ x ^ 2":                   "no meaning",
		"y ~ log(x)":                  "no function",
		"y ~ factor(x":                "no closing bracket",
		"y ~ (x)":                     "a name is missing",
		"y ~ 2x":                      "is not a name",
		"y ~ 1:x":                     "+ or - is missing",
		"y ~ x | z":                   "no meaning",
		`y ~ "x`:                      "contain no name",
		`y ~ ""`:                      "contain no name",
		"y ~ Y":                       "right-hand side",
		"y ~ a:b:c:d:e":               "more than 4 factors",
		"y ~ a*b*c*d*e":               "more than 4 factors",
		"y ~ \xff":                    "UTF-8",
		strings.Repeat("y ~ x ", 999): "longer than",
	} {
		f, err := Parse(text)
		var e *curator.Error
		if !errors.As(err, &e) || e.Code != curator.CodeUsage || !strings.Contains(e.Message, says) {
			t.Errorf("%q: %v, %v; want %q", text, f, err, says)
		}
	}
}

// A factor that is crossed with itself is itself, however often: the length of a formula bounds what is made of it.
func TestRepeatedFactors(t *testing.T) {
	for _, text := range []string{
		"y ~ " + strings.Repeat("a*", 2000) + "a",
		"y ~ " + strings.Repeat("a*b*", 1000) + "a:b", "y ~ " + strings.Repeat("a*b*c*d*", 500) + "a",
	} {
		f, err := Parse(text)
		if err != nil || len(f.Terms) > 15 {
			t.Errorf("%.20s...: %d terms, %v", text, len(f.Terms), err)
		}
	}
	if f, err := Parse("y ~ a*b*a"); err != nil || f.String() != "y ~ a + b + a:b" {
		t.Errorf("%s, %v", f, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"y ~ x1 + x2 + x1:x2", "y ~ a*b*c - 1", "y ~ `a b` + factor(\"c\")", "~", "y ~ 0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(parsed.String())
		if err != nil || again.String() != parsed.String() {
			t.Errorf("%q is written as %q and read again as %q, %v", text, parsed, again, err)
		}
	})
}
