package cli

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"dither/privacy"
)

// TestCurveIsCertified: what is printed of a curve holds as it is printed. δ, read as a float, is no less than the bound at the ε that
// stands beside it, read as a decimal.
func TestCurveIsCertified(t *testing.T) {
	for _, spec := range []string{"laplace scale=10 count=10", "gaussian sigma=3.7", "approx epsilon=.3 delta=1e-7 count=7", "pure epsilon=1e-30"} {
		job, err := jobOf([]string{spec})
		if err != nil {
			t.Fatal(err)
		}
		d, err := privacy.ParseDelta("1e-6")
		if err != nil {
			t.Fatal(err)
		}
		report, err := job.Epsilon(d)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := (&session{stdout: &out}).printCurve(asked{job: job, delta: d, report: report}); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
			fields := strings.Fields(line)
			at, ok := new(big.Rat).SetString(fields[0])
			shown, err := strconv.ParseFloat(fields[1], 64)
			told := err == nil
			if !ok {
				t.Fatalf("%s: %q", spec, line)
			}
			e, err := privacy.EpsilonOf(at)
			if err != nil {
				t.Fatal(err)
			}
			f, _, err := job.LeastDelta(e)
			if err != nil || f.Told() != told || told && shown < f.Value {
				t.Errorf("%s: %q, where δ is at most %g, %v", spec, line, f.Value, err)
			}
		}
	}
}
