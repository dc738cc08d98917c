package cli

import (
	"math"
	"testing"

	"dither/curator"
)

// Numbers and sentences as people write them.
func TestWords(t *testing.T) {
	for x, want := range map[float64]string{0.0123: "0.012", 1.26: "1.3", 9.99: "10", 113: "110", 1345: "1300", -1345: "-1300", 0: "0", 2e12: "2e+12"} {
		if got := twoDigits(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
	for rows, want := range map[int64]string{
		1: "of one id at most 1 row counts, as was found; the policy's bound is 5\n", 3: "of one id at most 3 rows count, as was found; the policy's bound is 5\n",
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
		fixed(-0.4, 0): "0", fixed(-0.004, 2): "0.00", fixed(-0.005001, 2): "-0.01", fixed(-0.6, 0): "-1", fixed(minus, -1): "0", fixed(-10, 0): "-10", fixed(math.Inf(-1), 1): "-Inf",
		compact(minus): "0", compact(-1): "-1", compact(-1e-9): "-1e-09", number6(minus): "0", csvCell(&minus): "0",
		withError(&curator.Estimate{Value: &curator.Number{Real: -0.3}, Low: &curator.Number{Real: -60.3}, High: &curator.Number{Real: 59.7}}):   "0 ± 60",
		withError(&curator.Estimate{Value: &curator.Number{Real: -0.3}, Low: &curator.Number{Real: -0.4}, High: &curator.Number{Real: 200}}):     "0 [0, 200]",
		withError(&curator.Estimate{Value: &curator.Number{Real: minus}, Low: &curator.Number{Real: minus}, High: &curator.Number{Real: minus}}): "0",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for text, want := range map[string]string{
		`{"a":-0,"b":[-0,-0 ],"c":-0}`: `{"a":0,"b":[0,0 ],"c":0}`, `-0`: `0`, `[-0.5,-0e1,1e-0,1E-0,1e-07,-1,-00]`: `[-0.5,-0e1,1e-0,1E-0,1e-07,-1,-00]`,
		`{"-0":"-0, \"-0\\","x":-0,"y":"\\\"-0"}`: `{"-0":"-0, \"-0\\","x":0,"y":"\\\"-0"}`,
	} {
		if got := printableJSON([]byte(text)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
