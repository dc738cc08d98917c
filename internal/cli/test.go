package cli

import (
	"errors"
	"flag"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/account"
	"dither/curator"
	"dither/hypothesis"
	"dither/internal/nearest"
	"dither/noise"
)

// testKind is a test that `dither test` makes: on numbers that somebody published, or on a table of a home.
type testKind struct {
	name  string
	flags []string
	run   func(*session, *testOptions) error
}

// Flags that several tests have: of how counts are tested, of a home, and of what is drawn.
var (
	noiseFlags   = []string{"sigma", "laplace-scale"}
	methodFlags  = []string{"method", "simulate", "simulations", "seed"}
	homeFlags    = []string{"table", "column", "by", "where", "epsilon", "rho", "analyst", "fresh", "explain"}
	pictureFlags = []string{"plot"}
)

func testKinds() []testKind {
	counts := slices.Concat([]string{"counts", "n"}, noiseFlags, methodFlags, homeFlags, pictureFlags)
	return []testKind{
		{"gof", append([]string{"null", "release"}, counts...), runGoodnessOfFit},
		{"independence", append([]string{"release"}, counts...), func(s *session, o *testOptions) error { return runTable(s, o, false) }},
		{"proportions", append([]string{"sizes", "confidence", "release"}, counts...), func(s *session, o *testOptions) error { return runTable(s, o, true) }},
		{"means", slices.Concat([]string{"counts", "sums", "squares", "count-sigma", "count-scale", "sum-sigma", "sum-scale", "square-sigma", "square-scale", "bounds", "centre", "paired", "null", "alternative", "confidence", "seed", "release"}, homeFlags), runMeans},
		{"binomial", slices.Concat([]string{"released", "n", "null", "alternative", "confidence", "delta", "seed", "value"}, noiseFlags, homeFlags), runBinomial},
		{"power", slices.Concat([]string{"of", "null", "truth", "n", "alpha", "power", "alternative", "delta", "epsilon", "rho", "neighbours"}, noiseFlags, pictureFlags), runPower},
	}
}

// testOptions are the flags of a test, as text where they are numbers.
type testOptions struct {
	kind  string
	text  map[string]*string
	truth map[string]*bool
	given map[string]bool
}

// testSwitches are the flags without a value.
var testSwitches = []string{"simulate", "explain", "fresh"}

func (o *testOptions) declare(f *flag.FlagSet, name string) {
	if slices.Contains(testSwitches, name) {
		o.truth[name] = f.Bool(name, false, "")
		return
	}
	o.text[name] = f.String(name, "", "")
}

func newTestOptions(kind string) *testOptions {
	return &testOptions{kind: kind, text: map[string]*string{}, truth: map[string]*bool{}, given: map[string]bool{}}
}

// get is a flag's text; "" where the test has no such flag.
func (o *testOptions) get(name string) string {
	if t := o.text[name]; t != nil {
		return *t
	}
	return ""
}

func (o *testOptions) is(name string) bool { return o.truth[name] != nil && *o.truth[name] }

// runTest tests a hypothesis.
func runTest(s *session, args []string) error {
	s.formatFlag()
	var names []string
	for _, k := range testKinds() {
		names = append(names, k.name)
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") { // the test comes first: its flags depend on it
		at := slices.Index(names, args[0])
		if at < 0 {
			return usage("there is no test %q%s; there are %s", args[0], didYouMean(nearest.Name(args[0], names)), strings.Join(names, ", "))
		}
		k := testKinds()[at]
		o := newTestOptions(k.name)
		for _, name := range k.flags {
			o.declare(s.flags, name)
		}
		rest, helped, err := s.parse(args[1:])
		if err != nil || helped {
			return err
		}
		s.flags.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
		switch {
		case len(rest) > 0:
			return usage("test %s takes flags alone, not %q", k.name, rest[0])
		case s.format == "csv":
			return usage("test --format is table, json or markdown")
		}
		if err := (&pictures{file: o.get("plot")}).check(s); err != nil {
			return err
		}
		return testError(k.run(s, o))
	}
	o := newTestOptions("")
	for _, k := range testKinds() { // help and completion know all flags
		for _, name := range k.flags {
			if s.flags.Lookup(name) == nil {
				o.declare(s.flags, name)
			}
		}
	}
	if _, helped, err := s.parse(args); err != nil || helped {
		return err
	}
	return usage("test is followed by %s", strings.Join(names, ", "))
}

// testError makes what the library finds wrong a usage error.
func testError(err error) error {
	if errors.Is(err, hypothesis.ErrInput) {
		return usage("%s", strings.TrimPrefix(err.Error(), hypothesis.ErrInput.Error()+": "))
	}
	return err
}

// number reads a flag's number as a float; missing is what it is without the flag.
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
		return 0, usage("%s %v", dashed(name), err)
	}
	if strings.HasPrefix(text, "-") {
		r.Neg(r)
	}
	f, _ := r.Float64()
	if math.IsInf(f, 0) {
		return 0, usage("%s is too large", dashed(name))
	}
	return f, nil
}

// numbers reads a flag's numbers, with commas between.
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

// table reads numbers in rows, which semicolons end.
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

// noiseFrom reads a noise from one of two flags: a Gaussian's standard deviation or a Laplace's scale. 0 is none.
func (o *testOptions) noiseFrom(sigma, scale string) (noise.Distribution, error) {
	if o.given[sigma] == o.given[scale] {
		return nil, usage("one of --%s and --%s tells the noise (0: there is none)", sigma, scale)
	}
	name := scale
	if o.given[sigma] {
		name = sigma
	}
	r, err := numberFlag(name, o.get(name))
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
		return nil, usage("%s: %s", dashed(name), plainly(err))
	}
	return d, nil
}

// how reads how counts are tested.
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

// seed is that of simulations.
func (o *testOptions) seed() (uint64, error) {
	x, err := o.number("seed", 0)
	if err == nil && !(x >= 0 && x <= 1<<53 && x == math.Trunc(x)) {
		err = usage("--seed is a whole number from 0 to 2^53")
	}
	return uint64(math.Max(0, math.Min(x, 1<<53))), err
}

// seeded warns of a seed that was chosen, of a test that used it: who tries several takes the p-value that he likes.
func (o *testOptions) seeded(t *hypothesis.Test) {
	if o.given["seed"] && (t.Null == "Monte Carlo" || t.Method == "Tulap") {
		t.Warnings = append(t.Warnings, "the seed was chosen: if that was after another seed's p-value was seen, this one is none")
	}
}

// fromHome reports that a home's table is tested, or a release of it, and refuses numbers beside it.
func (o *testOptions) fromHome(numbers ...string) (bool, error) {
	if o.given["release"] {
		for _, name := range append(numbers, homeFlags...) {
			if o.given[name] && name != "analyst" {
				return false, usage("--release and %s do not go together: it is tested as it was released", dashed(name))
			}
		}
		return true, nil
	}
	if !o.given["table"] {
		for _, name := range homeFlags {
			if o.given[name] && name != "epsilon" && name != "rho" {
				return false, usage("%s goes with --table", dashed(name))
			}
		}
		if (o.given["epsilon"] || o.given["rho"]) && o.kind != "binomial" {
			return false, usage("--epsilon and --rho go with --table; what was published tells its noise by --sigma or --laplace-scale")
		}
		return false, nil
	}
	for _, name := range numbers {
		if o.given[name] {
			return false, usage("--table and %s do not go together", dashed(name))
		}
	}
	if !o.given["column"] {
		return false, usage("--table needs --column")
	}
	return true, nil
}

// question is what a home is asked, without its SQL.
func (o *testOptions) question() curator.Question {
	return curator.Question{Epsilon: o.get("epsilon"), Rho: o.get("rho"), Analyst: o.get("analyst"), Fresh: o.is("fresh")}
}
