package render

import (
	"math"
	"math/big"
	"testing"

	"dither/curator"
)

// Numbers are written so that what is said of them stays true.
func TestShortNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Above(1e-6): "1e-6", Above(1.0000001e-6): "1.00001e-6", Below(1.9999999): "1.99999", Above(0.99999999): "1", Above(1234567): "1.23457e6",
		DigitsAbove(1.101e-5, 3): "1.11e-5", DigitsAbove(0.9999, 3): "1", Above(0): "0",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A whole number with whole noise has no places, however narrow its interval is.
func TestWithError(t *testing.T) {
	whole := func(n int64) *curator.Number { return &curator.Number{Whole: big.NewInt(n), Real: float64(n)} }
	number := func(x float64) *curator.Number { return &curator.Number{Real: x} }
	for want, e := range map[string]curator.Estimate{
		"4882 ± 5":        {Value: whole(4882), Low: whole(4877), High: whole(4887)},
		"4882 ± 50":       {Value: whole(4882), Low: whole(4832), High: whole(4932)},
		"3 [0, 5]":        {Value: whole(3), Low: whole(0), High: whole(5)},
		"3 ± 2.0":         {Value: whole(3), Low: number(1), High: number(5)},
		"3.5 ± 2.0":       {Value: number(3.5), Low: number(1.5), High: number(5.5)},
		"57 [56.0, 60.1]": {Value: whole(57), Low: number(56), High: number(60.1)},
	} {
		if got := withError(&e); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Numbers and sentences as people write them.
func TestWords(t *testing.T) {
	for x, want := range map[float64]string{0.0123: "0.012", 1.26: "1.3", 9.99: "10", 113: "110", 1345: "1300", -1345: "-1300", 0: "0", 2e12: "2e+12"} {
		if got := TwoDigits(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
	for x, want := range map[float64]string{
		0.0123: "0.013", 1.26: "1.3", 1.2: "1.2", 9.91: "10", 99.1: "100", 112: "120", 1345: "1400", 0.5820: "0.59", 2e12: "2e+12", 1.01e-5: "1.1e-05",
	} {
		if got := TwoDigitsUp(x); got != want {
			t.Errorf("%g: at most %s, want %s", x, got, want)
		}
	}
	for rows, want := range map[int64]string{
		1: "for one id, at most 1 row counts, as found; the policy's bound is 5\n", 3: "for one id, at most 3 rows count, as found; the policy's bound is 5\n",
	} {
		if got := foundRows(&curator.RowsBound{Unit: "id", Rows: rows, Most: 5}); got != want {
			t.Errorf("%d: %q", rows, got)
		}
	}
}

// What rounds to zero, or is one, has no sign, wherever it is written; what is below zero has.
func TestZeroHasNoSign(t *testing.T) {
	minus := math.Copysign(0, -1)
	for got, want := range map[string]string{
		Fixed(-0.4, 0): "0", Fixed(-0.004, 2): "0.00", Fixed(-0.005001, 2): "-0.01", Fixed(-0.6, 0): "-1", Fixed(minus, -1): "0", Fixed(-10, 0): "-10", Fixed(math.Inf(-1), 1): "-Inf",
		Compact(minus): "0", Compact(-1): "-1", Compact(-1e-9): "-1e-09", Number6(minus): "0", CSVFloat(&minus): "0",
		withError(&curator.Estimate{Value: &curator.Number{Real: -0.3}, Low: &curator.Number{Real: -60.3}, High: &curator.Number{Real: 59.7}}):   "0 ± 60",
		withError(&curator.Estimate{Value: &curator.Number{Real: -0.3}, Low: &curator.Number{Real: -0.4}, High: &curator.Number{Real: 200}}):     "0 [0, 200]",
		withError(&curator.Estimate{Value: &curator.Number{Real: minus}, Low: &curator.Number{Real: minus}, High: &curator.Number{Real: minus}}): "0 ± 0",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for text, want := range map[string]string{
		`{"a":-0,"b":[-0,-0 ],"c":-0}`: `{"a":0,"b":[0,0 ],"c":0}`, `-0`: `0`, `[-0.5,-0e1,1e-0,1E-0,1e-07,-1,-00]`: `[-0.5,-0e1,1e-0,1E-0,1e-07,-1,-00]`,
		`{"-0":"-0, \"-0\\","x":-0,"y":"\\\"-0"}`: `{"-0":"-0, \"-0\\","x":0,"y":"\\\"-0"}`,
	} {
		if got := PrintableJSON([]byte(text)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestGrouped groups the digits before the decimal point alone.
func TestGrouped(t *testing.T) {
	for number, want := range map[string]string{
		"0": "0", "-12": "-12", "999": "999", "1000": "1,000", "-123456": "-123,456", "1234567": "1,234,567", "-1234.5678": "-1,234.5678",
		"1.5e+10": "1.5e+10",
	} {
		if got := Grouped(number); got != want {
			t.Errorf("%s: %s, want %s", number, got, want)
		}
	}
}
