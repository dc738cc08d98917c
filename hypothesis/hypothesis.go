// Package hypothesis holds tests and intervals that account for the noise in their input: goodness of fit, sample
// proportions and independence on noisy counts, means and proportions of two samples, and the most powerful tests of
// one proportion.
//
// It takes released numbers with the distribution of their noise, as in curator.Vector, and everything that it computes
// is free. It reads no data, and protects nobody: simulations use a predictable generator with a seed, so that the same
// test gives the same result.
//
// A test that takes noisy counts for exact counts rejects too often, because noise moves them further from the expected
// values than sampling alone does. Every test here includes the noise in its null distribution, so that at level α it
// rejects a true hypothesis with probability at most α; each test states its conditions.
package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"dither/noise"
)

// ErrInput reports invalid input of a test: mismatched shapes, numbers that are not finite, and hypotheses that are not
// distributions. It is wrapped with the fault.
var ErrInput = errors.New("hypothesis")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

// Test is the result of a test.
type Test struct {
	Name        string  // of the test, as "goodness of fit"
	Method      Method  // how the statistic and its p-value were found
	Null        string  // how its null distribution was found: "χ²", "Monte Carlo" or "exact"
	Alternative string  // "two-sided", "greater", "less", or for tests of counts "any"
	Statistic   float64 // never NaN
	DF          int     // degrees of freedom; 0 where the statistic has none
	P           float64 // the p-value, in [0, 1]
	// the number of people or rows that the test used: the given one, or an estimate from noisy counts
	N        float64
	Known    bool     // whether it was given
	Estimate float64  // the estimate of the tested number, if there is one; else NaN
	Interval Interval // the interval of the same; Confidence 0 if there is none
	Warnings []string
}

// Interval is from Low to High, which may be infinite. It covers the truth with probability Confidence.
type Interval struct{ Low, High, Confidence float64 }

// Method is a way of testing counts.
type Method string

// The methods.
const (
	// Projected is the default: the statistic of Rogers & Kifer [2017, "A New Class of Private Chi-Square Hypothesis
	// Tests", AISTATS], which omits the direction that contains nothing but noise.
	Projected Method = "projected"
	// Unprojected is their other statistic, which includes that direction and has less power.
	Unprojected Method = "unprojected"
	// Corrected is Pearson's statistic of the noisy counts, with its null distribution under noise.
	Corrected Method = "corrected"
	// Naive is Pearson's test of the noisy counts as if they were exact. It is wrong, because it rejects too often. It
	// is included to demonstrate that.
	Naive Method = "naive"
)

// Methods lists the methods.
var Methods = []Method{Projected, Unprojected, Corrected, Naive}

// Simulations is the default number of simulations of a null distribution; it is lower for large tables.
const Simulations = 9999

// Limits of what is tested.
const (
	MaxCells       = 4096      // of a table
	MaxSimulations = 1_000_000 // of a null distribution
	MaxCount       = 1e15      // of people, so that floats hold counts and what is computed from them
	fewExpected    = 5         // expected counts below this are too small to test
	manyExpected   = 100       // from this expected count on, the χ² distribution is as good as the true one
)

// How says how to test counts. The zero value is the default.
type How struct {
	Method      Method // "" is Projected
	Simulate    bool   // simulate the null distribution even if χ² applies
	Simulations int    // 0 is Simulations
	Seed        uint64 // the seed of the simulation
}

func (h How) check() (How, error) {
	if h.Method == "" {
		h.Method = Projected
	}
	if h.Simulations == 0 {
		h.Simulations = Simulations
	}
	if h.Simulations < 99 || h.Simulations > MaxSimulations {
		return h, wrong("a null distribution is simulated from 99 to %d times, not %d", MaxSimulations, h.Simulations)
	}
	for _, m := range Methods {
		if h.Method == m {
			return h, nil
		}
	}
	return h, wrong("there is no method %q", string(h.Method))
}

// simulated reports whether the null distribution is simulated: on request; for Pearson's statistic, whose distribution
// under noise is unknown; under noise that is not Gaussian; and if the least expected count is not large.
func (h How) simulated(d noise.Distribution, least float64) bool {
	if h.Method == Naive {
		return false
	}
	return h.Simulate || h.Method == Corrected || !gaussian(d) || least < manyExpected
}

// gaussian reports noise to which a χ² distribution applies: Gaussian, or none.
func gaussian(d noise.Distribution) bool {
	switch d.(type) {
	case nil, noise.DiscreteGaussian, noise.RoundedGaussian:
		return true
	}
	return false
}

// variance is a noise's variance; 0 for none.
func variance(d noise.Distribution) float64 {
	if d == nil {
		return 0
	}
	return d.Variance()
}

// checkNumbers refuses numbers that are not finite, or beyond MaxCount.
func checkNumbers(what string, x ...float64) error {
	for _, v := range x {
		if !(math.Abs(v) <= MaxCount) {
			return wrong("%s must be numbers of at most %g", what, float64(MaxCount))
		}
	}
	return nil
}

// checkTotal refuses an invalid number of people; 0 means unknown.
func checkTotal(what string, n float64) error {
	if !(n >= 0 && n <= MaxCount) || n != math.Trunc(n) {
		return wrong("%s must be a whole number from 1 to %g", what, float64(MaxCount))
	}
	return nil
}

// short writes a number for a warning.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
