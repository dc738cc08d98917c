package account_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"dither/account"
)

// The parameter that is found, read as a decimal, meets the target by an account of the job. Where the table
// has a figure, the parameter equals it. The parameter TooLittle misses the target.
func TestCalibrateJob(t *testing.T) {
	p := promise(t, "1", "1e-6")
	mixed := []string{
		"discrete-laplace scale=? count=40", "exponential epsilon=0.1 count=5",
		"gaussian sigma=15 count=3",
	}
	for _, c := range []struct {
		specs     []string
		parameter string
		want      float64 // 0: not known otherwise
	}{
		{mixed, "scale", 0},
		{[]string{"gaussian sigma=?"}, "sigma", 4.2246788893268353},
		{[]string{"gaussian sigma=? count=25 sensitivity=2"}, "sigma", 10 * 4.2246788893268353},
		{[]string{"gdp mu=?"}, "mu", 1 / 4.2246788893268353},
		{[]string{"zcdp rho=?"}, "rho", 0},
		{[]string{"laplace scale=20 count=5", "randomized-response k=4 epsilon=?"}, "epsilon", 0},
		{[]string{"exponential epsilon=? count=100"}, "epsilon", 0},
	} {
		if c.want == 0 && c.parameter != "rho" && !long { // internal/cli has the first of them
			continue
		}
		got, err := account.CalibrateJob(c.specs, p.Epsilon, p.Delta)
		if err != nil || got.Parameter != c.parameter || c.want != 0 && math.Abs(got.Value/c.want-1) > 1.1e-6 {
			t.Errorf("%v: %+v, %v", c.specs, got, err)
			continue
		}
		delta := func(value string) account.Report {
			var specs []string
			for _, s := range c.specs {
				specs = append(specs, strings.Replace(s, "?", value, 1))
			}
			r, err := job(t, specs...).Delta(p.Epsilon)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if f, _ := delta(strconv.FormatFloat(got.Value, 'g', -1, 64)).Least(); f.Value > 1e-6 {
			t.Errorf("%v: %+v loses a δ of %g", c.specs, got, f.Value)
		}
		// Nothing much better was missed: with 10⁻⁴ less noise, or more loss, no accountant certifies the promise.
		worse := got.Value * (1 - 1e-4)
		if c.parameter != "sigma" && c.parameter != "scale" {
			worse = got.Value * (1 + 1e-4)
		}
		if f, _ := delta(strconv.FormatFloat(worse, 'g', -1, 64)).Least(); f.Value <= 1e-6 {
			t.Errorf("%v: %+v, but %g fits too", c.specs, got, worse)
		}
		if got.TooLittle != nil {
			if r := delta(got.TooLittle.RatString()); r.PLD.Lower <= 1e-6 {
				t.Errorf("%v: δ at %s is at least %g only", c.specs, got.TooLittle.FloatString(9), r.PLD.Lower)
			}
		}
	}
	pure, err := account.CalibrateJob([]string{"pure epsilon=? count=4"}, p.Epsilon, promise(t, "1", "0").Delta)
	if err != nil || pure.Value > 0.25 || pure.Value < 0.25*(1-1e-6) {
		t.Errorf("4 at a δ of 0: %+v, %v", pure, err)
	}
}

func TestCalibrateJobRefuses(t *testing.T) {
	p := promise(t, "1", "1e-6")
	for name, specs := range map[string][]string{
		"nothing":              nil,
		"no job":               {""},
		"nothing open":         {"gaussian sigma=1"},
		"two in one":           {"renyi order=? epsilon=?"},
		"two":                  {"gaussian sigma=?", "laplace scale=?"},
		"a count":              {"gaussian sigma=1 count=?"},
		"a key that is none":   {"gaussian scale=?"},
		"given twice":          {"gaussian sigma=? sigma=?"},
		"more than a mark":     {"gaussian sigma=??"},
		"nothing is left":      {"gaussian sigma=?", "gaussian sigma=1"},
		"nothing is left of ε": {"pure epsilon=?", "pure epsilon=2"},
	} {
		if got, err := account.CalibrateJob(specs, p.Epsilon, p.Delta); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := account.CalibrateJob([]string{"pure epsilon=?"}, promise(t, "1001", "0").Epsilon,
		p.Delta); !errors.Is(err, account.ErrParameter) {
		t.Errorf("a huge ε: %+v, %v", got, err)
	}
	if got, err := account.CalibrateJob([]string{"gaussian sigma=?"}, p.Epsilon,
		promise(t, "1", "0").Delta); !errors.Is(err, account.ErrParameter) {
		t.Errorf("Gaussian noise at a δ of 0: %+v, %v", got, err)
	}
	if _, err := account.ParseStep("gaussian sigma=?"); err == nil {
		t.Error("a step with an open parameter was read")
	}
}

// What is found for samples is the least that fits, whatever the guess that the search begins at; and who gives up
// waiting is let go.
func TestLeastNoise(t *testing.T) {
	p := promise(t, "1", "1e-5")
	for _, spec := range []string{
		"gaussian sigma=? sampling=1/50 count=30",
		"gaussian sigma=? sampling=9/10 count=3 sensitivity=2", "gaussian sigma=? sampling=1/100000 count=2",
	} {
		got, err := account.LeastNoise(t.Context(), []string{spec}, p.Epsilon, p.Delta)
		if err != nil || got.TooLittle != nil {
			t.Fatalf("%s: %+v, %v", spec, got, err)
		}
		delta := func(value float64) float64 {
			r, err := job(t, strings.Replace(spec, "?", strconv.FormatFloat(value, 'g', -1, 64), 1)).Delta(p.Epsilon)
			if err != nil {
				t.Fatal(err)
			}
			f, _ := r.Least()
			return f.Value
		}
		if least, less := delta(got.Value), delta(got.Value*(1-1e-5)); least > 1e-5 || less <= 1e-5 {
			t.Errorf("%s: δ = %g at %g, and %g with less noise", spec, least, got.Value, less)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := account.LeastNoise(ctx, []string{"gaussian sigma=? sampling=1/50 count=30"}, p.Epsilon,
		p.Delta); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
