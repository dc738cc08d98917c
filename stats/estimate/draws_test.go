package estimate

import (
	"math"
	"slices"
	"testing"

	"dither/internal/stattest"
)

// A value that noise has moved beyond what is possible keeps an interval as long as it was on the side of what is
// possible: never a point.
func TestImpossibleValues(t *testing.T) {
	draws := func(middle float64) *spread {
		s, out := newSimulator(), newSpread(0.05)
		for range drawsFor(0.05) {
			out.add(middle + s.normal())
		}
		return out
	}
	for _, middle := range []float64{-10, -2, 12, 30} {
		e := fromDraws("", nil, middle, draws(middle), 0, 10)
		if width := e.High.Real - e.Low.Real; width < 1.9 || width > 2.1 {
			t.Errorf("about %g: [%g, %g]", middle, e.Low.Real, e.High.Real)
		}
	}
	if e := fromDraws("", nil, 5, draws(5), 0, 10); e.High.Real-e.Low.Real < 3.8 || e.Value.Real != 5 {
		t.Errorf("%+v", e)
	}
}

// The variance of two rows, one at each end of their bounds, is twice the square of half the width; a noisy count of
// more rows leaves room for it.
func TestVarianceOfFewRows(t *testing.T) {
	of, s := []centredColumn{{low: -1, high: 1}}, newSimulator()
	q := squareSums(of)
	l := noiseLaw{7, true}
	law := vectorLaw{count: l, first: []noiseLaw{l, l}}
	held := 0
	const trials = 60
	for range trials {
		sums := noisyRows(s, q, [][]float64{{-1, 0.5}, {1, 0.5}}, law)
		e := simulated(&sums, of, []string{""}, nil, 0.05, productSymmetric(q), false, squareOf)[0]
		if e.Low.Real <= 2 && 2 <= e.High.Real {
			held++
		}
	}
	if err := (stattest.Proportion{
		Successes: held, Of: stattest.Binomial{Trials: trials, Probability: 0.95},
		FalseAlarm: 1e-6,
	}).CheckAtLeast(); err != nil {
		t.Error(err)
	}
}

// What is kept of many draws tells the same interval as all of them, also where some are no numbers.
func TestSpread(t *testing.T) {
	for _, alpha := range []float64{1e-3, 0.05, 0.5, 0.9} {
		for _, none := range []int{0, 7, 40} {
			s, of, n := newSimulator(), newSpread(alpha), drawsFor(alpha)
			var all []float64
			sum, squares := 0.0, 0.0
			for i := range n {
				if i%100 == 0 && i/100 < none {
					of.add([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3])
					continue
				}
				x := math.Round(50*s.normal()) / 10 // many are alike
				all, sum, squares = append(all, x), sum+x, squares+x*x
				of.add(x)
			}
			slices.Sort(all)
			deviation, low, high := of.interval()
			out := int(math.Floor(alpha/2*float64(n+1))) - none
			if out < 10 {
				if !math.IsInf(low, -1) || !math.IsInf(high, 1) || !math.IsNaN(deviation) {
					t.Errorf("α = %g: [%g, %g] with %d draws that are none", alpha, low, high, none)
				}
				continue
			}
			k := float64(len(all))
			if want := math.Sqrt(squares/k - sum/k*sum/k); low != all[out-1] || high != all[len(all)-out] ||
				math.Abs(deviation-want) > 1e-9 {
				t.Errorf("α = %g: %g in [%g, %g], want %g in [%g, %g]",
					alpha, deviation, low, high, want, all[out-1], all[len(all)-out])
			}
		}
	}
	for _, alpha := range []float64{1e-9, 1e-5} { // so few draws do not tell
		of := newSpread(alpha)
		for range 1000 {
			of.add(1)
		}
		if _, low, high := of.interval(); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
			t.Errorf("α = %g: [%g, %g]", alpha, low, high)
		}
	}
}
