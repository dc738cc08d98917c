package statistics

import (
	"strings"
	"testing"

	"dither/stats/regression"
)

// A small coefficient of a wide predictor has digits, with an error and without, and so has its ratio.
func TestSmallCoefficientsHaveDigits(t *testing.T) {
	for x, want := range map[float64]int{1.3164: 4, -25: 4, 0: 4, 0.0123: 5, 0.000006399: 9, -0.0002646: 7} {
		if got := placesOf(&x); got != want {
			t.Errorf("%v has %d places, not %d", x, got, want)
		}
	}
	if got := placesOf(nil); got != 4 {
		t.Errorf("no coefficient has %d places", got)
	}
	for x, want := range map[float64]string{
		1: "1", 1.0000479: "1.0000479", 1.00000640: "1.00000640", 0.99992: "0.9999200", 1.5: "1.5", 27.1828: "27.18", 0.0012345: "0.001234",
	} {
		if got := ratioText(x); got != want {
			t.Errorf("%v is %q, not %q", x, got, want)
		}
	}
}

// An answer with intervals says why they are wider than the errors.
func TestIntervalsStateTheirAllowance(t *testing.T) {
	x := 1.0
	fit := func(method string, c regression.GLMCoefficient) *regression.GLMFit {
		f := &regression.GLMFit{Coefficients: []regression.GLMCoefficient{{Name: "a"}, c}}
		f.Method = method
		return f
	}
	known := regression.GLMCoefficient{Name: "b", StdError: &x, Low: &x, High: &x}
	for method, want := range map[string]string{
		regression.MethodNewton: "the last step", regression.MethodObjective: "ridge penalty's bias", regression.MethodMinimize: "ridge penalty's bias",
	} {
		if got := allowanceWords(fit(method, known)); !strings.Contains(got, want) || !strings.Contains(got, "z is the estimate less") {
			t.Errorf("%s: %q", method, got)
		}
		if got := allowanceWords(fit(method, regression.GLMCoefficient{Name: "b"})); got != "" {
			t.Errorf("%s without intervals: %q", method, got)
		}
	}
}
