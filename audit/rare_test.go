package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"
)

// TestRareBoundIsRight computes, for all counts of small n, the exact probability with which the bound of a rare event
// exceeds the true ε. It must be at most 2α.
func TestRareBoundIsRight(t *testing.T) {
	binomial := func(n int, p float64) []float64 {
		out := make([]float64, n+1)
		for k := range out {
			c := new(big.Int).Binomial(int64(n), int64(k))
			f, _ := new(big.Float).SetInt(c).Float64()
			out[k] = f * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
		}
		return out
	}
	largest := 0.0
	for _, n := range []int{1, 5, 40} {
		for _, alpha := range []float64{0.2, 0.05, 0.01} {
			for _, p := range []float64{0.001, 0.03, 0.2, 0.5, 0.9, 1} {
				for _, share := range []float64{1, 0.9, 0.5, 0.1} {
					q := p * share // so ε is at least −ln share
					ps, qs, wrong := binomial(n, p), binomial(n, q), 0.0
					for x := range ps {
						for y := range qs {
							if rareBound(x, y, n, alpha) > -math.Log(share)+1e-12 {
								wrong += ps[x] * qs[y]
							}
						}
					}
					if wrong > 2*alpha {
						t.Errorf("n = %d, α = %v, p = %v, q = %v: wrong with probability %v", n, alpha, p, q, wrong)
					}
					largest = max(largest, wrong/(2*alpha))
				}
			}
		}
	}
	if largest < 0.05 {
		t.Errorf("the bound is never wrong: at most %v of 2α, so this test shows nothing", largest)
	}
}

// leaking prints noise of ε = 1/2, and "777" with a small probability on one side.
func leaking(seed uint64, rate float64) Func {
	r := rand.New(rand.NewPCG(seed, 777))
	return func(side Side) string {
		if side == Data && r.Float64() < rate {
			return "777"
		}
		return fmt.Sprintf("%.0f", float64(side)+laplace(r, 2))
	}
}

// A rare output of one side alone refutes a pure promise: here one that is printed 98 times in 200,000 runs. The bounds
// of its two probabilities are too far apart to refute it. Nine of ten audits must find it: 57 of 60
// do.
func TestRareLeaksAreFound(t *testing.T) {
	tries, runs := 2, 200_000
	if os.Getenv("DITHER_LONG") != "" {
		tries = 60
	}
	found := 0
	for seed := range uint64(tries) {
		r, err := Run(context.Background(), leaking(seed, 98./200_000), Options{Runs: runs, Claim: claim(t, "0.5", "0")})
		if err != nil {
			t.Fatal(err)
		}
		f := r.Findings[0]
		if r.Verdict == Refuted {
			found++
			if f.Rare <= 0.5 || f.Epsilon != f.Rare {
				t.Errorf("refuted by %q, ε ≥ %v, of a rare event %v", f.Event, f.Epsilon, f.Rare)
			}
		}
		t.Logf("%v by %q, %v, ε ≥ %v", r.Verdict, f.Event, f.Counts, f.Epsilon)
	}
	if t.Logf("found in %d of %d audits", found, tries); found*10 < 9*tries {
		t.Errorf("found in %d of %d audits", found, tries)
	}
}

// Audits of correct programs have no false alarms at the default confidence, where each has one with a probability of at
// most 1e-6. At a confidence of 0.9 at most a tenth of the audits have one, as far as chance allows with a probability of
// 1e-6. The programs keep their promise of ½ just so, and two of them have rare outputs on both sides.
func TestCorrectProgramsAreNotRefuted(t *testing.T) {
	audits := 30
	if os.Getenv("DITHER_LONG") != "" {
		audits = 10_000
	}
	e := math.Exp(0.5)
	for name, program := range map[string]func(r *rand.Rand, side Side) string{
		"noise": func(r *rand.Rand, side Side) string { return fmt.Sprintf("%.0f", float64(side)+laplace(r, 2)) },
		"a rare output, likelier by e^½": func(r *rand.Rand, side Side) string {
			if r.Float64() < 0.004*[2]float64{e, 1}[side] {
				return "777"
			}
			return "0"
		},
		"many rare outputs": func(r *rand.Rand, side Side) string {
			if r.Float64() < 0.2*[2]float64{e, 1}[side] {
				return fmt.Sprint(r.IntN(100))
			}
			return "none"
		},
	} {
		for _, confidence := range []float64{0, 0.9} {
			refuted := 0
			for seed := range uint64(audits) {
				r := rand.New(rand.NewPCG(seed, 778))
				f := Func(func(side Side) string { return program(r, side) })
				got, err := Run(context.Background(), f, Options{Runs: 4000, Confidence: confidence, Claim: claim(t, "0.5", "0")})
				if err != nil {
					t.Fatal(err)
				}
				if got.Verdict == Refuted {
					refuted++
				}
			}
			n := float64(audits)
			t.Logf("%s, confidence %g: %d of %d refuted", name, confidence, refuted, audits)
			if confidence == 0 && refuted > 0 || float64(refuted) > 0.1*n+4.8*math.Sqrt(0.09*n)+2 {
				t.Errorf("%s, confidence %g: %d of %d refuted", name, confidence, refuted, audits)
			}
		}
	}
}
