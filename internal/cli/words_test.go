package cli

import (
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
