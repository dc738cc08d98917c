// Package hypothesis holds tests and intervals that know of the noise in what they are given: goodness of fit, sample
// proportions and independence on noisy counts, means and proportions of two samples, and the most powerful tests of
// one proportion.
//
// It takes released numbers and the distribution of their noise, as curator.Vector has them, and whatever it computes
// is free. It reads no data, and nothing here protects anybody: draws are made by a generator that anybody can
// foretell, from a seed, so that the same question has the same answer.
//
// A test of noisy counts that takes them for the counts rejects too often, because noise moves them further from what
// is expected than sampling alone does. Every test here has the noise in its null distribution, so that one at level α
// rejects a true hypothesis with probability α, or less; see each for what that rests on.
package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"dither/noise"
)

// ErrInput is the error of what cannot be tested: of shapes that do not fit, of numbers that are none, and of
// hypotheses that are no distributions. It is wrapped, with what is wrong.
var ErrInput = errors.New("hypothesis")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

// Test is what a test found.
type Test struct {
	Name        string   // of the test, as "goodness of fit"
	Method      Method   // how the statistic and its p-value were found
	Null        string   // how its null distribution was found: "χ²", "Monte Carlo" or "exact"
	Alternative string   // "two-sided", "greater", "less", or for tests of counts "any"
	Statistic   float64  // never NaN
	DF          int      // degrees of freedom; 0 where the statistic has none
	P           float64  // the p-value, in [0, 1]
	N           float64  // how many people or rows the test took there to be: as it was told, or as noisy counts tell
	Known       bool     // whether it was told
	Estimate    float64  // of what is tested, where that is one number; else NaN
	Interval    Interval // of the same; of Confidence 0 where there is none
	Warnings    []string
}

// Interval is from Low to High, which may be infinite. It covers the truth with a probability of Confidence.
type Interval struct{ Low, High, Confidence float64 }

// Method is a way of testing counts.
type Method string

// The methods.
const (
	// Projected is the default: the statistic of Rogers & Kifer [2017, "A New Class of Private Chi-Square Hypothesis
	// Tests", AISTATS], which leaves out the direction in which there is nothing but noise.
	Projected Method = "projected"
	// Unprojected is the other statistic of theirs, which has that direction and less power.
	Unprojected Method = "unprojected"
	// Corrected is Pearson's statistic of the noisy counts with the null distribution that it has under noise.
	Corrected Method = "corrected"
	// Naive is Pearson's test of the noisy counts as if they were the counts. It is wrong: it rejects too often. It is
	// here to show that.
	Naive Method = "naive"
)

// Methods lists the methods.
var Methods = []Method{Projected, Unprojected, Corrected, Naive}

// Simulations is how often a null distribution is simulated where that is not said; of large tables it is less.
const Simulations = 9999

// Limits of what is tested.
const (
	MaxCells       = 4096      // of a table
	MaxSimulations = 1_000_000 // of a null distribution
	MaxCount       = 1e15      // of people, so that floats hold counts and what is computed from them
	fewExpected    = 5         // below which an expected count is too few to test
	manyExpected   = 100       // from which the χ² distribution is as good as the true one
)

// How is how a test of counts is made. The zero value is the default.
type How struct {
	Method      Method // "" is Projected
	Simulate    bool   // the null distribution by Monte Carlo also where χ² would do
	Simulations int    // 0 is Simulations
	Seed        uint64 // of what is simulated
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

// simulated reports whether the null distribution of the statistic is found by simulation: where it is asked for; of
// Pearson's statistic, which under noise has none that is known; under noise that is not Gaussian; and where the least
// count that is expected is not large.
func (h How) simulated(d noise.Distribution, least float64) bool {
	if h.Method == Naive {
		return false
	}
	return h.Simulate || h.Method == Corrected || !gaussian(d) || least < manyExpected
}

// gaussian reports noise that a χ² distribution can be had from: Gaussian, or none.
func gaussian(d noise.Distribution) bool {
	switch d.(type) {
	case nil, noise.DiscreteGaussian, noise.RoundedGaussian:
		return true
	}
	return false
}

// variance is a noise's, 0 of none.
func variance(d noise.Distribution) float64 {
	if d == nil {
		return 0
	}
	return d.Variance()
}

// checkNumbers refuses numbers that are none, or beyond MaxCount.
func checkNumbers(what string, x ...float64) error {
	for _, v := range x {
		if !(math.Abs(v) <= MaxCount) {
			return wrong("%s must be numbers of at most %g", what, float64(MaxCount))
		}
	}
	return nil
}

// checkTotal refuses a number of people that is none; 0 is that it is not known.
func checkTotal(what string, n float64) error {
	if !(n >= 0 && n <= MaxCount) || n != math.Trunc(n) {
		return wrong("%s must be a whole number from 1 to %g", what, float64(MaxCount))
	}
	return nil
}

// short writes a number for a warning.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
