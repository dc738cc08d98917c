package expsum_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"dither/internal/expsum"
)

func must(t *testing.T, text string) *expsum.Number {
	t.Helper()
	x, err := expsum.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return x
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1/3": "1/3", " 1 / 4 ": "0.25", "-0.5": "-0.5", "1e-3": "0.001", ".5": "0.5", "5.": "5", "+1": "1", "--1": "1",
		"2^3": "8", "-2^2": "-4", "2^-2": "0.25", "(1-2)^3": "-1", "0^0": "1",
		"exp(0)": "1", "exp(1)*exp(-1)": "1", "exp(1)/exp(1)": "1", "exp(1)/(200+exp(1))": "exp(1)/(200 + exp(1))",
		"1/(200*exp(-1)+1)": "exp(1)/(200 + exp(1))", "(1+exp(1))/(exp(1)+exp(2))": "exp(-1)", "exp(1)-exp(1)": "0",
		"(1-exp(1))/(exp(1)-1)": "-1", "1/(1-exp(1))": "-1/(-1 + exp(1))", "exp(1/2)^2": "exp(1)", "(exp(2)-1)/(exp(1)-1)/(exp(1)+1)": "1",
		"1/2*exp(1)/(1+exp(1))": "0.5*exp(1)/(1 + exp(1))", "exp(1 - 1/3)": "exp(2/3)", "2*3/4": "1.5", "1-1-1": "-1",
	} {
		if got := must(t, text).String(); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"": expsum.ErrSyntax, "NaN": expsum.ErrSyntax, "Inf": expsum.ErrSyntax, "-inf": expsum.ErrSyntax, "1 2": expsum.ErrSyntax, "0x10": expsum.ErrSyntax,
		"1e": expsum.ErrSyntax, ".": expsum.ErrSyntax, "(1": expsum.ErrSyntax, "1)": expsum.ErrSyntax, "exp": expsum.ErrSyntax, "exp 1": expsum.ErrSyntax,
		"exp(exp(1))": expsum.ErrSyntax, "2^0.5": expsum.ErrSyntax, "2^": expsum.ErrSyntax, "1_000": expsum.ErrSyntax, "½": expsum.ErrSyntax, "e": expsum.ErrSyntax,
		"1//2": expsum.ErrSyntax, "1\n": expsum.ErrSyntax, "\x00": expsum.ErrSyntax, "1/0": expsum.ErrZero, "1/(exp(1)-exp(1))": expsum.ErrZero, "0^-1": expsum.ErrZero,
		"1e400000": expsum.ErrSize, "1e-99999999999999999999": expsum.ErrSize, "exp(1e9)": expsum.ErrSize, "exp(1e-1000)": expsum.ErrSize, "2^65": expsum.ErrSize,
		strings.Repeat("(", 100): expsum.ErrSize, strings.Repeat("-", 100): expsum.ErrSize, strings.Repeat("1", 70000): expsum.ErrSize,
		strings.Repeat("9", 1101): expsum.ErrSize, "((((((1e1000)^64)^64)^64)^64)^64)": expsum.ErrSize, "(exp(10000)^64)^64": expsum.ErrSize,
	} {
		if x, err := expsum.Parse(text); !errors.Is(err, want) {
			t.Errorf("%.40q is %v, %v; want %v", text, x, err, want)
		}
	}
}

// Bounds of logarithms, beside mpmath's log(x) with 40 digits.
func TestLog(t *testing.T) {
	for text, want := range map[string]struct {
		text string
		near float64
	}{
		"1": {"0", 0}, "3": {"ln 3", 1.098612288668109691395245236922525704647}, "exp(1/2)*3": {"0.5 + ln 3", 1.598612288668109691395245236922525704647},
		"exp(1)/2": {"1 - ln 2", .3068528194400546905827678785418234319300}, "1/3": {"-ln 3", -1.098612288668109691395245236922525704647},
		"2/3*exp(1)": {"1 + ln(2/3)", .5945348918918356180149633}, "3/2": {"ln(3/2)", .4054651081081643819780131},
		"exp(10000)": {"10000", 10000}, "exp(-1/3)": {"-1/3", -1. / 3}, "1+1e-300": {"", 1e-300}, "1 + exp(1)": {"", 1.313261687518222834048995495},
		"(1+exp(1))/(1+exp(2))": {"", -.813666},
	} {
		x := must(t, text)
		lower, upper, err := x.Log()
		if err != nil {
			t.Fatal(err)
		}
		if lower > upper || upper > math.Nextafter(lower, math.Inf(1)) || math.Abs(lower-want.near) > 1e-6*math.Abs(want.near) {
			t.Errorf("ln(%s) is in [%v, %v]", text, lower, upper)
		}
		if got, _ := x.LogText(); got != want.text && want.text != "" {
			t.Errorf("ln(%s) is written %s, want %s", text, got, want.text)
		}
	}
}
