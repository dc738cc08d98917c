package hypothesis

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

func tulap(t testing.TB, epsilon, delta *big.Rat) *noise.Tulap {
	d, err := noise.NewTulap(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// truncated is the law of b = e⁻¹ and q = .05, whose δ is q(1 − b)/(2b(1 − q)).
func truncated(t testing.TB) *noise.Tulap {
	b := math.Exp(-1)
	return tulap(t, big.NewRat(1, 1), new(big.Rat).SetFloat64(.05*(1-b)/(2*b*.95)))
}

// Published intervals [Awan & Slavković 2020, the documentation of their package binomialDP], and powers by numerical
// integration.
func TestPublishedBinomial(t *testing.T) {
	two, err := Binomial{Value: 18, N: 30, Tulap: truncated(t)}.Interval(.95, TwoSided)
	if err != nil || math.Abs(two.Low-.411) > .0005 || math.Abs(two.High-.767) > .0005 {
		t.Errorf("the interval of 18 of 30 is %+v, %v; published (.411, .767)", two, err)
	}
	lower, err := Binomial{Value: 7, N: 10, Tulap: truncated(t)}.Interval(.95, Greater)
	if err != nil || math.Abs(lower.Low-.384) > .0005 || lower.High != 1 {
		t.Errorf("the bound of 7 of 10 is %+v, %v; published .384", lower, err)
	}
	for i, want := range []float64{.0524, .0549, .0601, .0716, .0993, .1753, .3040, .4017} {
		b := Binomial{N: 30, Tulap: tulap(t, big.NewRat(1<<i, 64), new(big.Rat))}
		got, err := b.Power(.8, .9, .05, Greater)
		if err != nil || math.Abs(got-want) > .00005 {
			t.Errorf("the power at ε = %d/64 is %.5f, %v; published %.4f", 1<<i, got, err, want)
		}
	}
}

// Under the hypothesis p-values are uniform: P(p ≤ α) = α, found by adding up over the counts, at the value of Z
// where p is α.
func TestBinomialLevelIsExact(t *testing.T) {
	sizes := []int{1, 30, 300}
	if long() {
		sizes = []int{1, 30, 100, 1000, 10_000, 100_000}
	}
	for _, n := range sizes {
		for _, theta := range []float64{.05, .8} {
			for name, d := range map[string]*noise.Tulap{
				"pure":      tulap(t, big.NewRat(1, 2), new(big.Rat)),
				"truncated": truncated(t),
			} {
				b := Binomial{N: n, Tulap: d}
				for _, alternative := range []string{Greater, Less, TwoSided} {
					for _, alpha := range []float64{.01, .05, .5} {
						power, err := b.Power(theta, theta, alpha, alternative)
						if err != nil || math.Abs(power-alpha) > 1e-9 {
							t.Errorf("%s, n = %d, θ = %g, %s: rejected at %g with %.12f, %v",
								name, n, theta, alternative, alpha, power, err)
						}
					}
				}
			}
		}
	}
}

// A discrete count by its own law: valid at every n, and never as powerful as with the uniform number.
func TestDiscreteBinomialIsValid(t *testing.T) {
	d := laplaceOf(t, big.NewRat(2, 1))
	for _, n := range []int{1, 30} {
		for _, theta := range []float64{.1, .5, .8} {
			for _, alternative := range []string{Greater, Less, TwoSided} {
				level := 0.0
				for z := -60; z <= n+60; z++ {
					b := Binomial{Value: float64(z), N: n, Noise: d}
					if b.p(theta, alternative) <= .05 {
						level += b.average(theta,
							func(x float64) float64 { return d.Mass(big.NewInt(int64(z) - int64(x))) })
					}
				}
				if level > .05+1e-9 || level < .005 {
					t.Errorf("n = %d, θ = %g, %s: rejected with %g", n, theta, alternative, level)
				}
			}
		}
	}
}

// Dithered counts have Tulap noise, and their intervals cover: both sides, either bound.
func TestBinomialIntervalsCover(t *testing.T) {
	scale := big.NewRat(2, 1)
	l := laplaceOf(t, scale).(noise.DiscreteLaplace)
	sizes, trials := []int{30}, 120
	if long() {
		sizes, trials = []int{10, 30, 100, 1000}, 1500
	}
	for _, n := range sizes {
		for _, theta := range []float64{.02, .5, .9} {
			s, law, covered := newStream(uint64(n)), newLaw(l), map[string]int{}
			for i := range trials {
				x := s.binomial(int64(n), theta) + int64(law.draw(s))
				b, err := Dither(big.NewInt(x), l, n, fmt.Sprint("release ", n, theta, i))
				if err != nil {
					t.Fatal(err)
				}
				for _, alternative := range []string{Greater, Less, TwoSided} {
					in, err := b.Interval(.95, alternative)
					if err != nil {
						t.Fatal(err)
					}
					inside := in.Low <= theta && theta <= in.High
					if inside {
						covered[alternative]++
					}
					if !inside && b.p(theta, alternative) > .05+1e-9 {
						t.Errorf("n = %d: %g is not rejected, and not in %+v", n, theta, in)
					}
				}
			}
			for alternative, hits := range covered {
				t.Logf("n = %d, θ = %g, %s: %.4f", n, theta, alternative, float64(hits)/float64(trials))
				if err := (stattest.Proportion{
					Successes: hits, Of: stattest.Binomial{Trials: trials, Probability: .95},
					FalseAlarm: falseAlarm,
				}).CheckAtLeast(); err != nil {
					t.Errorf("n = %d, θ = %g, %s: %v", n, theta, alternative, err)
				}
			}
		}
	}
}

// An interval holds every θ that the test does not reject, also where noise is wider than all θ, and, but for a 64th
// of the standard deviation, where there are ripples.
func TestIntervalsHoldAllThatIsAccepted(t *testing.T) {
	for _, c := range []struct {
		epsilon     *big.Rat
		n           int
		first, step float64 // of the noisy counts
	}{
		{big.NewRat(1, 10), 1, -32, 1.63},
		{big.NewRat(1, 10), 3, -30, 1.69},
		{big.NewRat(20, 1), 200, 60.2, 2.03},
		{big.NewRat(5, 1), 200, 21.1, 3.9},
	} {
		law, err := noise.NewTulap(c.epsilon, new(big.Rat))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			b := Binomial{Value: c.first + c.step*float64(i), N: c.n, Tulap: &law}
			in, err := b.Interval(.95, TwoSided)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 251 {
				theta := float64(i) / 250
				if theta >= in.Low-.001 && theta <= in.High+.001 {
					continue
				}
				if p := b.p(theta, TwoSided); p >= .0501 {
					t.Fatalf("ε = %s, n = %d, %g: θ = %g has a p-value of %g, and is not in %v", c.epsilon.RatString(),
						c.n, b.Value, theta, p, in)
				}
			}
		}
	}
}
