package laboratory

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"dither/internal/cli/console"
	"dither/privacy"
)

// TestCurveIsCertified: what is printed of a curve holds as it is printed. δ, read as a float, is no less than the
// bound at the ε that stands beside it, read as a decimal.
func TestCurveIsCertified(t *testing.T) {
	for _, spec := range []string{
		"laplace scale=10 count=10", "gaussian sigma=3.7",
		"approx epsilon=.3 delta=1e-7 count=7", "pure epsilon=1e-30",
	} {
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
		if err := printCurve((&console.Console{Stdout: &out}), asked{job: job, delta: d, report: report}); err != nil {
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

// Shares are written so that what is said of them stays true.
func TestShares(t *testing.T) {
	for got, want := range map[string]string{
		share(0): "0 %", share(1): "100 %", share(0.9996): "> 99.9 %", share(0.0004): "< 0.1 %", chance(1): "> 99.9 %",
		chance(0): "< 0.1 %", share(0.5): "50.0 %",
		mostShare(0.7310585786300049): "73.2 %", mostShare(0.1359140914229523): "13.6 %", mostShare(1): "> 99.9 %",
		mostShare(0.99995): "> 99.9 %", mostShare(0.9985): "99.9 %",
		grouped(1e-6): "1,000,000", grouped(0.0999999): "10",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A confidence below 1 is never written as 100 %, and a claim never above what was typed.
func TestAuditFigures(t *testing.T) {
	for x, want := range map[float64]string{
		0.9: "90 %", 0.999999: "99.9999 %", 0.5: "50 %", 0.99999999999: "99.999999999 %",
		math.Nextafter(1, 0): "99.99999999999999 %",
	} {
		if got := confident(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	for _, c := range []struct{ typed, refuted, not string }{
		{"1", "1", "1"},
		{"1e-6", "1e-6", "1e-6"},
		{"1.0000000001", "1.0000000001", "1.0000000001"},
		{"0.123456789012345678", "0.123456", "0.123457"},
	} {
		r, ok := new(big.Rat).SetString(c.typed)
		if !ok {
			t.Fatal(c.typed)
		}
		if got, other := claimed(r, true), claimed(r, false); got != c.refuted || other != c.not {
			t.Errorf("%s: %s and %s", c.typed, got, other)
		}
	}
}

// A slow program is told how slow it will be, once, and what helps.
func TestAuditEstimate(t *testing.T) {
	var complaint strings.Builder
	s := &console.Console{Stderr: &complaint}
	tellEstimate(s, 10*time.Second, 40_000, false)
	tellEstimate(s, 7*time.Minute, 40_000, false)
	tellEstimate(s, 30*time.Hour, 40_000, true)
	want := "note: 40,000 runs on both datasets together will take about 7 minutes more; faster: write {runs} in the command, and let the program print that many answers in one process\n" +
		"note: 40,000 runs on both datasets together will take about 30 hours more\n"
	if complaint.String() != want {
		t.Error(complaint.String())
	}
}

// What is written of a δ is no less than it.
func TestFloatAbove(t *testing.T) {
	if x := floatAbove(big.NewRat(3, 10)); x != math.Nextafter(0.3, 1) {
		t.Errorf("%v is not the float next to 0.3 from above", x)
	}
}

// Shares of people are bounds: what is written is no less, and hardly more.
func TestInterpretShares(t *testing.T) {
	for p, want := range map[float64]string{
		0: "nothing", 1: "certainty", 0.02673: "1 in 37", 0.1: "1 in 9", 0.109: "11 in 100", 0.1100001: "12 in 100",
		0.99: "99 in 100", 0.991: "111 in 112",
		1e-6: "1 in 1,000,000", 1e-300: "1e-300", math.Nextafter(1, 0): certainty,
	} {
		if got := atMost(p); got != want {
			t.Errorf("%g: %s, not %s", p, got, want)
		}
	}
	for _, c := range []struct {
		power           float64
		alpha           string
		found, accusing string
	}{
		{.136, "0.05", "14 of 100", "5 of 100"},
		{.998, "0.05", "499 of 500", "5 of 100"},
		{1, "0.05", "100 of 100", "5 of 100"},
		{0, "0", "0 of 100", "0 of 100"},
		{.00272, "0.001", "28 of 10,000", "10 of 10,000"},
		{1e-6, "0", "1 of 1,000,000", "0 of 100"},
		{.5, "1/3", "50 of 100", "1 of 3"},
		{1e-20, "1e-30", "1e-20 of all", "1e-30 of all"},
	} {
		alpha, err := console.NumberFlag("alpha", c.alpha)
		if err != nil {
			t.Fatal(err)
		}
		if got, of := found(c.power, alpha), accused(alpha, c.alpha); got != c.found || of != c.accusing {
			t.Errorf("%g at %s: %q at %q, not %q at %q", c.power, c.alpha, got, of, c.found, c.accusing)
		}
	}
	for x, want := range map[float64]string{
		0.99999999: "0.9999", 0.0009999999: "0.0009999", 1e-6: "1e-6",
		123456: "1.234e5", 999.99: "999.9",
	} {
		if got := downTo(x); got != want {
			t.Errorf("%g, rounded down: %s, not %s", x, got, want)
		}
	}
}
