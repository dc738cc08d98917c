package statistics

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/account"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/noise"
)

// testOptions are the values of a test's flags, as texts.
type testOptions struct {
	kind    string
	text    map[string]*string
	truth   map[string]*bool
	given   map[string]bool
	analyst string
	fresh   bool
}

// testFlags are the flags of all tests, without duplicates. A flag without a placeholder is a switch.
var testFlags = []struct{ name, value, about string }{
	{
		"counts", "LIST",
		"noisy counts, such as 120,90,80,110; for a table '10,20;30,40'; for means one count for each sample",
	},
	{"n", "N", "the number of people, if it is public (default: the policy's units where they are the tested rows, or else an estimate " +
		"from the noisy counts)"},
	{"sums", "LIST", "means: the noisy sum of each sample"},
	{
		"squares", "LIST",
		"means: the noisy sum of squares of each sample (default: assume the largest variance that the bounds allow)",
	},
	{"released", "Z", "binomial: the noisy count"},
	{"sizes", "LIST", "the number of people in each sample, if it is public"},
	{
		"null", "LIST",
		"the null hypothesis: uniform, or probabilities such as 0.5,1/6,1/6,1/6, in the order of the categories; " +
			"for binomial one probability (default 0.5); for means a number (default 0)",
	},
	{"truth", "LIST", "power: the probabilities at which the test should reject"},
	{"alternative", "NAME", "two-sided (default), greater or less"},
	{"confidence", "P", "the confidence of the interval (default 0.95)"},
	{"bounds", "LOW,HIGH", "the bounds that the numbers were clamped to"},
	{
		"centre", "C",
		"means: the number that was subtracted from each value before summing or squaring (default 0)",
	},
	{"sigma", "S", "the standard deviation of the Gaussian noise of the counts (0: no noise)"},
	{"laplace-scale", "B", "the scale of the Laplace noise of the counts"},
	{"count-sigma", "S", "means: the standard deviation of the Gaussian noise of counts (default: counts are public)"},
	{"count-scale", "B", "means: the scale of the Laplace noise of counts"},
	{"sum-sigma", "S", "means: the standard deviation of the Gaussian noise of sums"},
	{"sum-scale", "B", "means: the scale of the Laplace noise of sums"},
	{"square-sigma", "S", "means: the standard deviation of the Gaussian noise of sums of squares"},
	{"square-scale", "B", "means: the scale of the Laplace noise of sums of squares"},
	{"method", "NAME", "projected (default), unprojected, corrected, or naive, which ignores the noise and is invalid"},
	{"simulate", "", "simulate the null distribution even if χ² is accurate enough"},
	{"simulations", "N", "the number of simulations (default 9999)"},
	{
		"seed", "S",
		"the seed of the simulations; for binomial a text, from which comes the uniform number that turns discrete " +
			"Laplace noise into Tulap noise",
	},
	{"table", "TABLE", "the table of the home to test"},
	{"column", "COLUMN", "the column to test"},
	{"by", "COLUMN", "the column that defines the groups: the other attribute, or the samples"},
	{
		"bins", "N",
		"divide the bounds of a numeric column into N equal parts (default 10 for reals, and for integers of more than 50 " +
			"values)",
	},
	{
		"time", "COLUMN",
		"the column with the time until the event, or until the person was observed last",
	},
	{"event", "CONDITION", "the column, or the condition in SQL, that says whether the event happened"},
	{
		"periods", "N",
		"divide the bounds of --time into N equal periods (default 10 for reals, and for integers of more than 50 values)",
	},
	{
		"paired", "COLUMN",
		"means: test the mean of --column minus this column, which is 0 (or --null) by the null hypothesis",
	},
	{"value", "V", "binomial, with --table: count the rows whose column has this value"},
	{"where", "SQL", "use only the rows that satisfy this condition, in SQL"},
	{"release", "ID", "instead of --table: test an earlier release of the home, such as r7, free"},
	{"of", "TEST", "power: gof, independence or binomial"},
	{"alpha", "A", "power: the level of the test (default 0.05)"},
	{"power", "P", "power: the probability of rejecting (default 0.8)"},
	{"neighbours", "N", "power: add-remove (default) or change-one; with change-one, n is public and the noise is " +
		"larger"},
	{
		"epsilon", "E",
		"the price, with --table; binomial without --table: the ε of Tulap noise; power: the price of the " +
			"counts",
	},
	{"rho", "R", "the price in ρ"},
	{"delta", "D", "binomial: the δ of truncated Tulap noise (default 0)"},
	{"explain", "", "with --table: show the price without asking the question, free"},
	{
		"plot", "FILE",
		"draw FILE.svg or FILE.png: for gof a QQ plot of p-values under the null hypothesis, for tables the " +
			"counts, for anova the means, for log-rank the survival curves, for power its curve",
	},
}

// declare declares the flags of the given tests.
func (o *testOptions) declare(s *console.Console, kinds ...testKind) {
	takes := func(name string) bool {
		return slices.ContainsFunc(kinds, func(k testKind) bool { return slices.Contains(k.flags, name) })
	}
	s.FormatFlag("table", "json", "markdown")
	for _, f := range testFlags {
		switch {
		case !takes(f.name):
		case f.value == "":
			o.truth[f.name] = new(bool)
			s.Flag(o.truth[f.name], f.name, "", f.about)
		default:
			o.text[f.name] = new(string)
			s.Flag(o.text[f.name], f.name, f.value, f.about)
		}
	}
	if takes("fresh") {
		s.AnalystFlag(&o.analyst)
		s.FreshFlag(&o.fresh)
	}
}

func newTestOptions(kind string) *testOptions {
	return &testOptions{kind: kind, text: map[string]*string{}, truth: map[string]*bool{}, given: map[string]bool{}}
}

// get returns the text of a flag, or "" if the test has no such flag.
func (o *testOptions) get(name string) string {
	if t := o.text[name]; t != nil {
		return *t
	}
	return ""
}

func (o *testOptions) is(name string) bool { return o.truth[name] != nil && *o.truth[name] }

// number parses the number of a flag. It returns the parameter missing if the flag is not given.
func (o *testOptions) number(name string, missing float64) (float64, error) {
	if !o.given[name] {
		return missing, nil
	}
	return oneNumber(name, o.get(name))
}

func oneNumber(name, text string) (float64, error) {
	text = strings.TrimSpace(text)
	r, err := account.ParseNumber(strings.TrimPrefix(text, "-"))
	if err != nil {
		return 0, console.Usage("%s %v", console.Dashed(name), err)
	}
	if strings.HasPrefix(text, "-") {
		r.Neg(r)
	}
	f, _ := r.Float64()
	if math.IsInf(f, 0) {
		return 0, console.Usage("%s is too large", console.Dashed(name))
	}
	return f, nil
}

// numbers parses the comma-separated numbers of a flag.
func (o *testOptions) numbers(name string) (out []float64, err error) {
	return numbersOf(name, o.get(name))
}

func numbersOf(name, text string) (out []float64, err error) {
	for word := range strings.SplitSeq(text, ",") {
		x, err := oneNumber(name, word)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// table parses rows of comma-separated numbers. Semicolons separate the rows.
func (o *testOptions) table(name string) (out [][]float64, err error) {
	for row := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(o.get(name)), ";"), ";") {
		x, err := numbersOf(name, row)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// noiseFrom parses the noise from one of two flags: the standard deviation of a Gaussian, or the scale of a Laplace
// distribution. It returns nil for 0, which means no noise.
func (o *testOptions) noiseFrom(sigma, scale string) (noise.Distribution, error) {
	if o.given[sigma] == o.given[scale] {
		return nil, console.Usage("give the noise by one of --%s and --%s (0 means no noise)", sigma, scale)
	}
	name := scale
	if o.given[sigma] {
		name = sigma
	}
	r, err := console.NumberFlag(name, o.get(name))
	if err != nil {
		return nil, err
	}
	if r.Sign() == 0 {
		return nil, nil
	}
	var d noise.Distribution
	if name == sigma {
		d, err = noise.NewDiscreteGaussian(new(big.Rat).Mul(r, r))
	} else {
		d, err = noise.NewDiscreteLaplace(r)
	}
	if err != nil {
		return nil, console.Usage("%s: %s", console.Dashed(name), console.AccountWords(err))
	}
	return d, nil
}

// how parses the flags that select the method of testing counts.
func (o *testOptions) how() (h hypothesis.How, err error) {
	h.Method, h.Simulate = hypothesis.Method(o.get("method")), o.is("simulate")
	times, err := o.number("simulations", 0)
	if err != nil {
		return h, err
	}
	h.Simulations = int(math.Max(-1, math.Min(times, 1e9)))
	if o.given["simulations"] && h.Simulations == 0 {
		h.Simulations = -1
	}
	h.Seed, err = o.seed()
	return h, err
}

func (o *testOptions) seed() (uint64, error) {
	x, err := o.number("seed", 0)
	if err == nil && !(x >= 0 && x <= 1<<53 && x == math.Trunc(x)) {
		err = console.Usage("--seed must be a whole number from 0 to 2^53")
	}
	return uint64(math.Max(0, math.Min(x, 1<<53))), err
}
