package ours

import (
	"os"
	"slices"
	"testing"

	"dither/internal/stattest"
)

// long says whether there is time for many draws.
var long = os.Getenv("DITHER_LONG") != ""

// falseAlarm is the rate of all statistical checks of this package together.
const falseAlarm = 1e-6

// Every law is within what its mechanism declares, over all neighbours of its domain; and reaches it where that is said.
func TestDeclaredLosses(t *testing.T) {
	attained := []string{
		"laplace", "staircase", "tulap", "counting-tree", "quantile-tree", "automatic-bounds", "randomized-response", "category-response",
		"permute-and-flip",
	}
	for _, s := range All() {
		if s.Err() != nil {
			t.Errorf("%s: %v", s.Name, s.Err())
			continue
		}
		x, ok, err := s.Exact()
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if !ok {
			t.Logf("%-22s declares (%s, %s); no law", s.Name, s.Claim.Epsilon, s.Claim.Delta)
			continue
		}
		if x.Loss != nil {
			t.Logf("%-22s declares (%s, %s); exact ε %s = %.6g…%.6g, δ %g…%g; holds %v, attained %v", s.Name, s.Claim.Epsilon, s.Claim.Delta, x.Loss.Exact, x.Loss.Lower, x.Loss.Upper, x.DeltaLower, x.DeltaUpper, x.Holds, x.Attained)
		} else {
			t.Logf("%-22s declares (%s, %s); δ %g…%g; holds %v, attained %v", s.Name, s.Claim.Epsilon, s.Claim.Delta, x.DeltaLower, x.DeltaUpper, x.Holds, x.Attained)
		}
		if !x.Holds {
			t.Errorf("%s: the declared loss is too small", s.Name)
		}
		if want := slices.Contains(attained, s.Name); x.Attained != want {
			t.Errorf("%s: attained %v, want %v", s.Name, x.Attained, want)
		}
	}
}

// The mechanisms have these laws, as far as so many draws tell.
func TestLawsAreTheMechanisms(t *testing.T) {
	runs := 1500
	if long {
		runs = 100_000
	}
	all := All()
	for _, s := range all {
		law, ok, err := s.Law()
		if err != nil || !ok {
			continue
		}
		inputs := s.domain.pair[:]
		if long {
			inputs = nil
			for i := range s.domain.inputs {
				inputs = append(inputs, i)
			}
		}
		for _, input := range inputs {
			p, err := law.Probabilities(input)
			if err != nil {
				t.Fatal(err)
			}
			observed := make([]int, len(p))
			for range runs {
				output, err := s.Draw(input)
				if err != nil {
					t.Fatal(err)
				}
				j, err := law.Column(output)
				if err != nil {
					t.Fatalf("%s: %v", s.Name, err)
				}
				observed[j]++
			}
			for j, n := range observed {
				if p[j] == 0 && n > 0 {
					t.Errorf("%s of %s: %q is impossible, and was drawn", s.Name, s.domain.inputs[input], law.Matrix.Outputs()[j])
				}
			}
			check := stattest.ChiSquared{Observed: observed, Expected: p, FalseAlarm: falseAlarm / float64(len(all)*len(inputs))}
			if slices.Max(p) == 1 {
				continue
			}
			if err := check.Check(); err != nil {
				t.Errorf("%s of %s: %v", s.Name, s.domain.inputs[input], err)
			}
		}
	}
}
