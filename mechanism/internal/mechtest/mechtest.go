// Package mechtest builds values for the tests of mechanisms. Only tests import it.
package mechtest

import (
	"math/big"
	"slices"
	"testing"

	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// FalseAlarm is the probability that a statistical check on fresh randomness fails by chance, unless the test names
// another.
const FalseAlarm = 1e-6

// Exacts hides each of the integers.
func Exacts(values ...int64) []opaque.Exact {
	out := make([]opaque.Exact, len(values))
	for i, v := range values {
		out[i] = opaque.NewExact(big.NewInt(v))
	}
	return out
}

// Epsilon parses an ε from text, such as 0.5 or 1/2. It fails the test if the text is invalid.
func Epsilon(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	return must(privacy.EpsilonOf(ratio(t, text)))(t)
}

// Delta parses a δ from text. It fails the test if the text is invalid.
func Delta(t testing.TB, text string) privacy.Delta {
	t.Helper()
	return must(privacy.DeltaOf(ratio(t, text)))(t)
}

// Rho parses a ρ from text. It fails the test if the text is invalid.
func Rho(t testing.TB, text string) privacy.Rho {
	t.Helper()
	return must(privacy.RhoOf(ratio(t, text)))(t)
}

// EpsilonRatio returns the ε num/den.
func EpsilonRatio(t testing.TB, num, den int64) privacy.Epsilon {
	t.Helper()
	return must(privacy.EpsilonOf(big.NewRat(num, den)))(t)
}

// RhoRatio returns the ρ num/den.
func RhoRatio(t testing.TB, num, den int64) privacy.Rho {
	t.Helper()
	return must(privacy.RhoOf(big.NewRat(num, den)))(t)
}

// Multisets returns all multisets of at most size elements from 0 … values−1, each in increasing order.
func Multisets(values, size int) [][]int64 {
	all := [][]int64{{}}
	for from := 0; size > 0; size-- {
		level := all[from:]
		from = len(all)
		for _, m := range slices.Clone(level) {
			least := int64(0)
			if len(m) > 0 {
				least = m[len(m)-1]
			}
			for v := least; v < int64(values); v++ {
				all = append(all, append(slices.Clone(m), v))
			}
		}
	}
	return all
}

func ratio(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is not a number", text)
	}
	return r
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
