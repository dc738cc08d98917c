package statistics

import (
	"errors"
	"flag"
	"slices"
	"strings"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
)

// testKind is a test of `dither test`, on published numbers or on a table of a home.
type testKind struct {
	name  string
	flags []string
	run   func(*console.Console, *testOptions) error
}

// Flags that several tests share: for the method of testing counts, for a home, and for a picture.
var (
	noiseFlags   = []string{"sigma", "laplace-scale"}
	methodFlags  = []string{"method", "simulate", "simulations", "seed"}
	homeFlags    = []string{"table", "column", "by", "where", "epsilon", "rho", "analyst", "fresh", "explain"}
	pictureFlags = []string{"plot"}
)

func testKinds() []testKind {
	counts := slices.Concat([]string{"counts", "n"}, noiseFlags, methodFlags, homeFlags, pictureFlags)
	ordered := slices.Concat([]string{"counts", "release", "simulate", "simulations", "seed"}, noiseFlags, homeFlags, pictureFlags)
	return []testKind{
		{"gof", append([]string{"null", "release"}, counts...), runGoodnessOfFit},
		{
			"independence", append([]string{"release"}, counts...),
			func(s *console.Console, o *testOptions) error { return runTable(s, o, false) },
		},
		{
			"proportions", append([]string{"sizes", "confidence", "release"}, counts...),
			func(s *console.Console, o *testOptions) error { return runTable(s, o, true) },
		},
		{"means", slices.Concat(sampleFlags, []string{
			"paired", "null", "alternative", "confidence", "seed", "release",
		}, homeFlags), runMeans},
		{"anova", slices.Concat(sampleFlags, []string{"seed", "release"}, homeFlags, pictureFlags), runAnova},
		{"kruskal", slices.Concat(ordered, []string{"bins"}), runKruskal},
		{"rank-correlation", slices.Concat(ordered, []string{"bins", "confidence"}), runRankCorrelation},
		{"log-rank", slices.Concat(lifetimeFlags, []string{
			"simulations", "seed", "table", "by", "where", "epsilon", "rho", "analyst", "fresh", "explain", "plot",
		}), runLogRank},
		{"binomial", slices.Concat([]string{
			"released", "n", "null", "alternative", "confidence", "delta", "seed",
			"value",
		}, noiseFlags, homeFlags), runBinomial},
		{"power", slices.Concat([]string{
			"of", "null", "truth", "n", "alpha", "power", "alternative", "delta",
			"epsilon", "rho", "neighbours",
		}, noiseFlags, pictureFlags), runPower},
	}
}

// Test is the command `dither test`.
var Test = console.Verb{
	Name:  "test",
	Args:  "gof | proportions | independence | means | anova | kruskal | rank-correlation | log-rank | binomial | power",
	About: "test a hypothesis on published noisy numbers or on a table, with valid p-values",
	Run:   runTest,
	More:  func(*console.Console) string { return testHelp },
}

func runTest(s *console.Console, args []string) error {
	var names []string
	for _, k := range testKinds() {
		names = append(names, k.name)
	}
	var o *testOptions
	return s.Kinds("test", names, args,
		func(kind int) {
			if kind < 0 {
				newTestOptions("").declare(s, testKinds()...)
				return
			}
			o = newTestOptions(names[kind])
			o.declare(s, testKinds()[kind])
		},
		func(kind int) error {
			s.Flags.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
			if err := (&console.Picture{File: o.get("plot")}).Check(s); err != nil {
				return err
			}
			return testError(testKinds()[kind].run(s, o))
		})
}

// testError converts an input error of package hypothesis to a usage error.
func testError(err error) error {
	if errors.Is(err, hypothesis.ErrInput) {
		return console.Usage("%s", strings.TrimPrefix(err.Error(), hypothesis.ErrInput.Error()+": "))
	}
	return err
}

// seeded adds a warning to a test that used a seed chosen by the user. A user could try several seeds and report
// the most convenient p-value.
func (o *testOptions) seeded(t *hypothesis.Test) {
	if o.given["seed"] && (t.Null == "Monte Carlo" || t.Method == "Tulap") {
		t.Warnings = append(t.Warnings,
			"the seed was chosen by hand: the p-value is invalid if another seed was tried first")
	}
}

// fromHome reports whether the test is about a home's table or one of its releases. It returns an error if flags
// for published numbers are given too.
func (o *testOptions) fromHome(numbers ...string) (bool, error) {
	if o.given["release"] {
		for _, name := range append(numbers, homeFlags...) {
			if o.given[name] && name != "analyst" {
				return false, console.Usage("--release and %s do not go together: a release is tested as it is",
					console.Dashed(name))
			}
		}
		return true, nil
	}
	if !o.given["table"] {
		for _, name := range homeFlags {
			if o.given[name] && name != "epsilon" && name != "rho" {
				return false, console.Usage("%s needs --table", console.Dashed(name))
			}
		}
		if (o.given["epsilon"] || o.given["rho"]) && o.kind != "binomial" {
			return false, console.Usage(
				"--epsilon and --rho need --table; for published numbers, give their noise by --sigma or " +
					"--laplace-scale")
		}
		return false, nil
	}
	for _, name := range numbers {
		if o.given[name] {
			return false, console.Usage("--table and %s do not go together", console.Dashed(name))
		}
	}
	if !o.given["column"] && o.kind != "log-rank" {
		return false, console.Usage("--table needs --column")
	}
	return true, nil
}

// question returns the question for the home, without its SQL.
func (o *testOptions) question() curator.Question {
	return curator.Question{Epsilon: o.get("epsilon"), Rho: o.get("rho"), Analyst: o.analyst, Fresh: o.fresh}
}

const testHelp = `
dither help test TEST shows the flags of one test. Tests of published numbers need no home:

  dither test gof --counts 120,90,80,110 --sigma 20 --n 400 --null uniform
  dither test independence --counts '110,190;320,410' --laplace-scale 10
  dither test proportions --counts '110,190;320,410' --sigma 5 --sizes 300,730
  dither test means --counts 400,380 --sums 5200,5600 --bounds 0,40 --count-scale 4 --sum-scale 80
  dither test binomial --released 18.3 --n 30 --epsilon 1 --null 0.8 --alternative less
  dither test power --of gof --truth 0.26,0.24,0.24,0.26 --epsilon 0.1 --power 0.8

Tests of a home's table cost a price. The same test again, and a test of an earlier release, are free:

  dither test independence --table visits --column ward --by sex --epsilon 0.5
  dither test means --table visits --column before --paired after --epsilon 0.5
  dither test anova --table visits --column cost --by ward --epsilon 0.5
  dither test kruskal --table visits --column cost --by ward --bins 20 --epsilon 0.5
  dither test rank-correlation --table people --column age --by income --epsilon 0.5
  dither test log-rank --table trial --time months --event died --by arm --epsilon 0.5
  dither test means --release r7
`
