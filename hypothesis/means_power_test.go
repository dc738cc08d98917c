package hypothesis

import (
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// sums is how a curator adds numbers of [0, 100] up under a price: about a centre, with shares of ε for counts, sums
// and squares.
type sums struct {
	centre                float64
	counts, added, square *big.Rat // of Laplace noise: ε of each
}

// noises are those of a sample of one row each.
func (d sums) noises(t testing.TB, epsilon *big.Rat) (counts, added, square noise.Distribution) {
	far := max(100-d.centre, d.centre)
	most := far * far
	if d.centre > 0 {
		most /= 2 // of squares less half the largest
	}
	of := func(sensitivity float64, share *big.Rat) noise.Distribution {
		return laplaceOf(t, new(big.Rat).Quo(new(big.Rat).SetFloat64(sensitivity), new(big.Rat).Mul(share, epsilon)))
	}
	return of(1, d.counts), of(far, d.added), of(most, d.square)
}

// rejects counts how often samples of n and n, uniform in the 40 about a mean and about one that is apart from it, are
// found to differ, or with paired that their differences have a mean.
func (d sums) rejects(t testing.TB, trials, n int, mean, apart float64, epsilon *big.Rat, seed uint64) (rejected int) {
	counts, added, square := d.noises(t, epsilon)
	lc, la, ls := newLaw(counts), newLaw(added), newLaw(square)
	s := newStream(seed)
	most := 0.0
	if d.centre > 0 {
		most = max(100-d.centre, d.centre)
		most *= most / 2
	}
	sample := func(mean float64) Sample {
		a := Sample{High: 100, Centre: d.centre, About: d.centre, SquareCentre: most, HasSquares: true}
		for range n {
			x := mean - 20 + 40*s.uniform() - d.centre
			a.Sum.Value += x
			a.Squares.Value += x*x - most
		}
		a.Count = Noisy{Value: float64(n) + lc.draw(s), Noise: counts}
		a.Sum.Value, a.Sum.Noise = a.Sum.Value+la.draw(s), added
		a.Squares.Value, a.Squares.Noise = a.Squares.Value+ls.draw(s), square
		return a
	}
	for range trials {
		r, err := Means(sample(mean), sample(mean+apart), Comparison{Simulations: 499, Seed: s.words.Word()})
		if err != nil {
			t.Fatal(err)
		}
		if r.P <= .05 {
			rejected++
		}
	}
	return rejected
}

// Sums about the middle of the bounds, at the shares of the price that the command line asks for, find differences that
// sums about 0 do not: of two samples of so many in [0, 100], whose means are 5 apart, at ε = 0.1. Neither rejects
// more than it may where there is none.
func TestCentredSumsHavePower(t *testing.T) {
	share := func(a, b int64) *big.Rat { return big.NewRat(a, b) }
	designs := []struct {
		name string
		sums
	}{
		{"about 0, in thirds", sums{0, share(1, 3), share(1, 3), share(1, 3)}},
		{"about the middle, as AVG has them", sums{50, share(2, 3), share(1, 6), share(1, 6)}},
		{"about the middle", sums{50, share(8, 21), share(10, 21), share(3, 21)}},
	}
	trials, sizes := 150, []int{1000}
	if long() {
		trials, sizes = 4000, []int{300, 1000, 2000, 4000}
	}
	for _, n := range sizes {
		var rates []float64
		for _, d := range designs {
			for _, mean := range []float64{30, 50} {
				at := d.rejects(t, trials, n, mean, 5, big.NewRat(1, 10), 110)
				none := d.rejects(t, trials, n, mean, 0, big.NewRat(1, 10), 111)
				rates = append(rates, float64(at)/float64(trials))
				t.Logf("n = %d, %s, about %g: rejected %.3f, and %.4f where means are equal", n, d.name, mean,
					rates[len(rates)-1], float64(none)/float64(trials))
				if err := level(none, trials, .053); err != nil {
					t.Errorf("n = %d, %s, about %g: %v", n, d.name, mean, err)
				}
				if d.added.Cmp(share(10, 21)) == 0 && n == 1000 {
					if err := (stattest.Proportion{
						Successes:  at,
						Of:         stattest.Binomial{Trials: trials, Probability: map[float64]float64{30: .4, 50: .5}[mean]},
						FalseAlarm: falseAlarm,
					}).CheckAtLeast(); err != nil {
						t.Errorf("the power at n = %d about %g is %.3f: %v", n, mean, rates[len(rates)-1], err)
					}
				}
			}
		}
	}
}
