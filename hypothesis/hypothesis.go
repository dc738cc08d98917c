// Package hypothesis has tests and intervals that account for the noise in their input: goodness of fit, sample
// proportions and independence of noisy counts, means and proportions of two samples, and the most powerful tests
// of one proportion.
//
// Its input is released numbers with the distribution of their noise, as in curator.Vector. Its results are
// post-processing, so they cost no privacy budget. The package reads no private data. Its simulations use a
// predictable generator with a seed, so that the same test gives the same result. Such noise protects nobody.
//
// A test that treats noisy counts as exact rejects too often, because noise moves them further from the expected
// values than sampling alone does. Every test here includes the noise in its null distribution, except the one
// named naive. So at level α it rejects a true hypothesis with probability at most α. Each test states its
// conditions.
package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"dither/noise"
)

// ErrInput reports invalid input of a test, for example lists of different length, numbers that are not finite, or
// probabilities that do not sum to 1. The message says what is wrong.
var ErrInput = errors.New("hypothesis")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

// Test is the result of a test.
type Test struct {
	Name   string // name of the test, for example "goodness of fit"
	Method Method // how the statistic and its p-value are computed
	// the null distribution: "χ²", "normal", "exact", "Monte Carlo", or "none" if nothing can be rejected
	Null        string
	Alternative string  // "two-sided", "greater" or "less"; "any" for tests of several counts
	Statistic   float64 // never NaN
	DF          int     // degrees of freedom, or 0 if the statistic has none
	// Denominator has the degrees of freedom of the denominator of an F statistic, which need not be whole; it is 0 if the
	// statistic has none
	Denominator float64
	P           float64 // the p-value, in [0, 1]
	// Simulations is the number of simulations of the null distribution, or 0 if it was not simulated. The least
	// p-value that they can give is Least: P equals Least if no simulation is as extreme.
	Simulations int
	Least       float64
	// N is the number of people or rows: the given one, or an estimate from noisy counts.
	N        float64
	Known    bool     // whether N was given
	Estimate float64  // the estimate of the tested number, or NaN if there is none
	Interval Interval // the interval for the tested number; its Confidence is 0 if there is none
	Warnings []string
}

// Names of tests whose statistic has a letter of its own, F and H. That of the others with degrees of freedom is χ².
const (
	AnalysisOfVariance = "analysis of variance"
	KruskalWallis      = "Kruskal–Wallis"
)

// Interval contains the true value with probability Confidence. Low and High may be infinite.
type Interval struct{ Low, High, Confidence float64 }

// Method is a way to test counts.
type Method string

// The methods for testing counts.
const (
	// Projected is the default. It is the statistic of Rogers & Kifer [2017, "A New Class of Private Chi-Square
	// Hypothesis Tests", AISTATS] that omits the direction in which the counts contain only noise.
	Projected Method = "projected"
	// Unprojected is the other statistic of Rogers & Kifer. It includes the direction that contains only noise, and
	// has less power.
	Unprojected Method = "unprojected"
	// Corrected is Pearson's statistic of the noisy counts. Its null distribution includes the noise.
	Corrected Method = "corrected"
	// Naive is Pearson's test on the noisy counts, as if they were exact. It is wrong, because it rejects too
	// often. It exists to demonstrate this.
	Naive Method = "naive"
)

// Methods lists the methods for testing counts.
var Methods = []Method{Projected, Unprojected, Corrected, Naive}

// Simulations is the default number of simulations of a null distribution. Large tables use fewer.
const Simulations = 9999

// Limits on the input of tests.
const (
	MaxCells       = 4096      // cells of a table
	MaxSimulations = 1_000_000 // simulations of a null distribution
	MaxCount       = 1e15      // largest number of people; below it, floats are precise enough
	fewExpected    = 5         // smaller expected counts cannot be tested
	manyExpected   = 100       // if all expected counts are at least this large, the χ² distribution is accurate
)

// How determines how counts are tested. The zero value is the default.
type How struct {
	Method      Method // "" means Projected
	Simulate    bool   // simulate the null distribution even if χ² applies
	Simulations int    // number of simulations; 0 means Simulations, or fewer for a large table
	Seed        uint64
}

func (h How) check() (How, error) {
	if h.Method == "" {
		h.Method = Projected
	}
	if h.Simulations == 0 {
		h.Simulations = Simulations
	}
	if h.Simulations < 99 || h.Simulations > MaxSimulations {
		return h, wrong("the number of simulations must be 99 to %d, not %d", MaxSimulations, h.Simulations)
	}
	for _, m := range Methods {
		if h.Method == m {
			return h, nil
		}
	}
	return h, wrong("there is no method %q", string(h.Method))
}

// simulated reports whether the null distribution is simulated. This is so on request, for Corrected, under noise
// that is not Gaussian, and if the smallest expected count is below manyExpected. It is never so for Naive.
func (h How) simulated(d noise.Distribution, least float64) bool {
	if h.Method == Naive {
		return false
	}
	return h.Simulate || h.Method == Corrected || !gaussian(d) || least < manyExpected
}

// gaussian reports whether the noise is Gaussian, or there is none. Then a χ² distribution applies.
func gaussian(d noise.Distribution) bool {
	switch d.(type) {
	case nil, noise.DiscreteGaussian, noise.RoundedGaussian:
		return true
	}
	return false
}

// variance returns the variance of the noise, or 0 if there is none.
func variance(d noise.Distribution) float64 {
	if d == nil {
		return 0
	}
	return d.Variance()
}

// checkNumbers returns an error for numbers that are not finite, or beyond ±MaxCount.
func checkNumbers(what string, x ...float64) error {
	for _, v := range x {
		if !(math.Abs(v) <= MaxCount) {
			return wrong("%s must be numbers of at most %g", what, float64(MaxCount))
		}
	}
	return nil
}

// checkTotal returns an error for an invalid number of people. 0 is valid, and means unknown.
func checkTotal(what string, n float64) error {
	if !(n >= 0 && n <= MaxCount) || n != math.Trunc(n) {
		return wrong("%s must be a whole number from 1 to %g", what, float64(MaxCount))
	}
	return nil
}

// short formats a number for a message, with four digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
