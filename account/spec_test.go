package account_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"dither/account"
)

func TestParseStep(t *testing.T) {
	for text, want := range map[string]string{
		"gaussian sigma=1.1 sampling=256/60000 count=14062": "gaussian sigma=1.1 sampling=8/1875 count=14062",
		"gaussian sensitivity=2.50 sigma=3":                 "gaussian sigma=3 sensitivity=2.5",
		"laplace scale=10 count=100":                        "laplace scale=10 count=100",
		"  pure\tepsilon=.1\n":                              "pure epsilon=0.1",
		"pure epsilon=1/3 sampling=1e-3 scheme=fixed":       "pure epsilon=1/3 sampling=0.001 scheme=fixed",
		"pure epsilon=1 sampling=.5 scheme=poisson":         "pure epsilon=1 sampling=0.5",
		"approx epsilon=0 delta=1e-9":                       "approx epsilon=0 delta=0.000000001",
		"discrete-gaussian sigma=1e3 sensitivity=7":         "discrete-gaussian sigma=1000 sensitivity=7",
		"discrete-laplace scale=1e-3":                       "discrete-laplace scale=0.001",
		"exponential epsilon=0.1":                           "exponential epsilon=0.1",
		"randomized-response k=10 epsilon=1":                "randomized-response k=10 epsilon=1",
		"zcdp rho=0.5":                                      "zcdp rho=0.5",
		"renyi order=3/2 epsilon=1e-30":                     "renyi order=1.5 epsilon=0.000000000000000000000000000001",
		"gdp mu=.25 count=1000000000000":                    "gdp mu=0.25 count=1000000000000",
	} {
		s, err := account.ParseStep(text)
		if err != nil || s.String() != want {
			t.Errorf("%q is %q, want %q (%v)", text, s, want, err)
			continue
		}
		if back, err := account.ParseStep(s.String()); err != nil || back.String() != want {
			t.Errorf("%q is read back as %q (%v)", want, back, err)
		}
	}
	if (account.Step{}).String() != "" {
		t.Error("the zero step says something")
	}
}

func TestParseStepRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                          "at character 1: begin with a mechanism: gaussian, ",
		" \n":                                       "at character 1: begin with a mechanism",
		"gausian sigma=1":                           `at character 1: there is no mechanism "gausian" (did you mean gaussian?); the mechanisms are gaussian, discrete-gaussian,`,
		"  zdcp rho=1":                              "at character 3: there is no mechanism \"zdcp\" (did you mean zcdp?); the mechanisms are gaussian",
		"gaussian":                                  "at character 1: gaussian needs sigma",
		"gaussian sigma":                            `at character 10: "sigma" is not key=value; gaussian takes sigma, sensitivity, sampling, scheme, count`,
		"gaussian sigma = 10":                       "at character 10: write no spaces around =, for example sigma=1",
		"gaussian sigma= 10":                        "at character 10: write no spaces around =",
		"gaussian sigma =10":                        "at character 10: write no spaces around =",
		"gaussian =10":                              "at character 10: write no spaces around =",
		"gaussian sigma= sensitivity=1":             "at character 10: sigma has no value",
		"gaussian sigma=":                           "at character 10: sigma has no value",
		"gaussian sigma=0":                          "at character 16: sigma must be above 0",
		"gaussian sigma=-1":                         "at character 16: sigma must be above 0",
		"gaussian sigma=1e19":                       "at character 16: sigma must be from 1e-18 to 1e18",
		"gaussian sigma=1e-30":                      "at character 16: sigma must be from 1e-18 to 1e18",
		"gaussian sigma=NaN":                        "at character 16: sigma must be a decimal number or a fraction",
		"gaussian sigma=0x10":                       "at character 16: sigma must be a decimal number",
		"gaussian sigma=1/0":                        "at character 16: sigma must be a decimal number",
		"gaussian sigma=1/2/3":                      "at character 16: sigma must be a decimal number",
		"gaussian sigma=1e999999999":                "at character 16: sigma is too long or too large",
		"gaussian sigma=1 sigma=2":                  "at character 18: sigma is given twice",
		"gaussian sigme=1":                          `at character 10: gaussian has no key "sigme" (did you mean sigma?); it takes sigma, sensitivity, sampling, scheme, count`,
		"gaussian sigma=1 epsilon=1":                `at character 18: gaussian has no key "epsilon"; it takes sigma,`,
		"gaussian sigma=1 sampling=1.5":             "at character 27: sampling must be a rate above 0 (at least 1e-18) and at most 1",
		"gaussian sigma=1 sampling=0":               "at character 27: sampling must be a rate",
		"gaussian sigma=1 scheme=fixed":             "at character 18: scheme needs sampling=q",
		"gaussian sigma=1 scheme=uniform":           `at character 25: scheme must be poisson or fixed, not "uniform"`,
		"gaussian sigma=1 count=0":                  "at character 24: count must be an integer from 1 to 1e12",
		"gaussian sigma=1 count=1.5":                "at character 24: count must be an integer from 1 to 1e12",
		"gaussian sigma=1 count=1e13":               "at character 24: count must be an integer from 1 to 1e12",
		"gaussian sigma=1 count=1e60":               "at character 24: count must be an integer from 1 to 1e12",
		"discrete-gaussian sigma=1 sensitivity=1.5": "at character 39: sensitivity must be an integer",
		"approx epsilon=1 delta=1":                  "at character 24: delta must be at least 0 and below 1",
		"approx epsilon=1 delta=-0.1":               "at character 24: delta must be at least 0 and below 1",
		"approx epsilon=1":                          "at character 1: approx needs delta",
		"pure epsilon=∞":                            "at character 14: epsilon must be a decimal number",
		"pure epsilon=inf":                          "at character 14: epsilon must be a decimal number",
		"pure epsilon=1001":                         "at character 14: epsilon must be from 1e-30 to 1000",
		"pure epsilon=1e-31":                        "at character 14: epsilon must be from 1e-30 to 1000",
		"randomized-response k=1 epsilon=1":         "at character 23: k must be an integer from 2 to 1e9",
		"renyi order=1 epsilon=1":                   "at character 13: order must be above 1 and at most 1e6",
		"zcdp rho=1e7":                              "at character 10: rho must be from 1e-30 to 1000000",
		strings.Repeat("x", 1001):                   "at character 1: a spec can have at most 1000 characters",
	} {
		_, err := account.ParseStep(text)
		var wrong *account.SpecError
		if !errors.As(err, &wrong) || !errors.Is(err, account.ErrParameter) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNewJobRefuses(t *testing.T) {
	step := func(text string) account.Step {
		s, err := account.ParseStep(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, steps := range map[string][]account.Step{
		"none":        nil,
		"a zero step": {{}},
		"two schemes": {step("pure epsilon=1 sampling=.1"), step("pure epsilon=1 sampling=.1 scheme=fixed")},
		"too many":    make([]account.Step, 10_001),
		"too often":   {step("pure epsilon=1 count=1e12"), step("pure epsilon=1")},
	} {
		if _, err := account.NewJob(steps...); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzSpec: whatever the text, it is refused at a place within it or read, and then written so that it is read back.
func FuzzSpec(f *testing.F) {
	for _, text := range []string{
		"gaussian sigma=1.1 sampling=256/60000 count=14062", "pure epsilon=.1", "approx epsilon=1 delta=1e-9",
		"laplace scale=1 scheme=fixed sampling=1/3",
		"gaussian sigma=\xff", "é sigma=1", "gaussian =1", "gaussian sigma==1", "zcdp rho=1e-30/1e30",
		"pure epsilon=1/3 count=1e12",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := account.ParseStep(text)
		var wrong *account.SpecError
		if err != nil {
			if !errors.As(err, &wrong) || wrong.Position < 1 || wrong.Position > utf8.RuneCountInString(text)+1 ||
				wrong.Message == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		back, err := account.ParseStep(s.String())
		if err != nil || back.String() != s.String() {
			t.Fatalf("%q is written %q, which is read as %q (%v)", text, s, back, err)
		}
		j, err := account.NewJob(s)
		if err != nil {
			t.Fatalf("%q makes no job: %v", text, err)
		}
		if n, ok := j.Relation(); ok != strings.Contains(s.String(), "sampling") || !ok && n != 0 {
			t.Fatalf("%q is of the relation %v", text, n)
		}
	})
}

// Keys are what ParseStep wants: with the needed ones alone a step is read, and without any of them it is not.
func TestKeys(t *testing.T) {
	for _, name := range account.Mechanisms() {
		needed, optional := account.Keys(name)
		if len(needed) == 0 || !slices.Equal(optional[len(optional)-3:], []string{"sampling", "scheme", "count"}) {
			t.Errorf("%s: %v %v", name, needed, optional)
		}
		for left := range len(needed) + 1 {
			spec := name
			for i, key := range needed {
				if i != left {
					value := map[string]string{"delta": "0.5", "k": "2", "order": "2"}[key]
					spec += " " + key + "=" + cmp.Or(value, "1")
				}
			}
			if _, err := account.ParseStep(spec); (err == nil) != (left == len(needed)) {
				t.Errorf("%s: %v", spec, err)
			}
		}
	}
	if needed, optional := account.Keys("none"); needed != nil || optional != nil {
		t.Error("a mechanism that is none has keys")
	}
}
