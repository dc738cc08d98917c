package exact_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
)

func TestParseDecimal(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "1.": "1", ".5": "1/2", "+.5": "1/2", "-12.50": "-25/2", "1e-6": "1/1000000",
		"1E+2": "100", "007": "7",
		"1e064": "1" + strings.Repeat("0", 64),
		"1e0000000000000000000000000000000000000000000000000000000000002": "100",
		"0.12345678901234567890123":                                       "12345678901234567890123/100000000000000000000000",
		"98765432109876543210":                                            "98765432109876543210",
		"+1":                                                              "1",
	} {
		r, err := exact.ParseDecimal(text)
		if err != nil || r.RatString() != want {
			t.Errorf("%q: got %v, %v; want %s", text, r, err, want)
		}
	}
}

func TestParseDecimalRefuses(t *testing.T) {
	for _, text := range []string{
		"", ".", "+", "-", "+-1", "--1", "++1", "1-", "NaN", "nan", "Inf", "-Inf", "+inf", "infinity", "0x1", "0x1p3",
		"1p3", "0b1", "0o7", "1_000", "1__0",
		" 1", "1 ", "1\n", "1\x00", "1/2", "1e", "1e+", "1e1.5", "1e1e1", "e5", ".e5", "1.2.3", "1,5", "١", "１", "½",
		"1e１", "−1", "1²", "1%", "$1",
	} {
		if r, err := exact.ParseDecimal(text); !errors.Is(err, exact.ErrSyntax) {
			t.Errorf("%q: got %v, %v; want a syntax error", text, r, err)
		}
	}
	for _, text := range []string{
		"1e400", "1e65", "1e-65", "1e999999999", "-1E-999999999999999999", "0e100",
		strings.Repeat("1", 65), "0." + strings.Repeat("0", 63),
	} {
		if r, err := exact.ParseDecimal(text); !errors.Is(err, exact.ErrRange) {
			t.Errorf("%q: got %v, %v; want a range error", text, r, err)
		}
	}
}

func TestParseRat(t *testing.T) {
	for text, want := range map[string]string{
		"1/3": "1/3", "-2/6": "-1/3", "0.25": "1/4", "0/5": "0", "5": "5",
		"1/03": "1/3",
	} {
		r, err := exact.ParseRat(text)
		if err != nil || r.RatString() != want {
			t.Errorf("%q: got %v, %v; want %s", text, r, err, want)
		}
	}
	for _, text := range []string{
		"", "/", "1/", "/2", "1/0", "1/00", "1/-2", "1/+2", "1.5/2", "1/2.5", "1e5", "1e5/2",
		"1//2", "1/2/3", "1 / 2", "0x1/2", "1_0/2", "-/2", "NaN", "Inf",
	} {
		if r, err := exact.ParseRat(text); !errors.Is(err, exact.ErrSyntax) {
			t.Errorf("%q: got %v, %v; want a syntax error", text, r, err)
		}
	}
	if _, err := exact.ParseRat(strings.Repeat("9", 4097)); !errors.Is(err, exact.ErrRange) {
		t.Errorf("4097 digits: %v", err)
	}
}

func TestFormatRatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numerator, denominator := rapid.Int64().Draw(t, "numerator"), rapid.Int64Range(1, 1<<40).Draw(t, "denominator")
		r := big.NewRat(numerator, denominator)
		text := exact.FormatRat(r)
		back, err := exact.ParseRat(text)
		if err != nil || back.Cmp(r) != 0 {
			t.Fatalf("%s was written %q and read as %v, %v", r, text, back, err)
		}
	})
	for _, text := range []string{"0.1", "0.000000000000000000000000000001", "3", "-2.5", "1/3"} {
		r, err := exact.ParseRat(text)
		if err != nil || exact.FormatRat(r) != text {
			t.Errorf("%q was read as %v, %v", text, r, err)
		}
	}
}

// FuzzParseDecimal checks that what is accepted is a plain decimal, that ParseRat reads the written form back, and that
// nothing large is ever built.
func FuzzParseDecimal(f *testing.F) {
	for _, text := range []string{
		"1", "-12.50", ".5", "1.", "1e-6", "1e400", "1e999999999", "NaN", "0x1p3", "1_0",
		"--1", "+.5", "１", "0e64",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := exact.ParseDecimal(text)
		if err != nil {
			if r != nil || (!errors.Is(err, exact.ErrSyntax) && !errors.Is(err, exact.ErrRange)) {
				t.Fatalf("%q: %v, %v", text, r, err)
			}
			return
		}
		if strings.Trim(text, "0123456789.eE+-") != "" {
			t.Fatalf("%q was accepted", text)
		}
		if n := max(r.Num().BitLen(), r.Denom().BitLen()); n > 430 { // 128 digits
			t.Fatalf("%q made %d bits", text, n)
		}
		back, err := exact.ParseRat(exact.FormatRat(r))
		if err != nil || back.Cmp(r) != 0 {
			t.Fatalf("%q: written %q, read back as %v, %v", text, exact.FormatRat(r), back, err)
		}
	})
}
