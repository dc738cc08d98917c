package stats

import (
	"testing"

	"dither/internal/stattest"
)

// A value that noise has moved beyond what is possible keeps an interval as long as it was on the side of what is possible: never a point.
func TestImpossibleValues(t *testing.T) {
	draws := func(middle float64) (out []float64) {
		s := newSimulator()
		for range drawsFor(0.05) {
			out = append(out, middle+s.normal())
		}
		return out
	}
	for _, middle := range []float64{-10, -2, 12, 30} {
		e := estimated("", nil, middle, draws(middle), 0.05, 0, 10)
		if width := e.High.Real - e.Low.Real; width < 1.9 || width > 2.1 {
			t.Errorf("about %g: [%g, %g]", middle, e.Low.Real, e.High.Real)
		}
	}
	if e := estimated("", nil, 5, draws(5), 0.05, 0, 10); e.High.Real-e.Low.Real < 3.8 || e.Value.Real != 5 {
		t.Errorf("%+v", e)
	}
}

// The variance of two rows, one at each end of their bounds, is twice the square of half the width; a noisy count of more rows leaves room for it.
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
	if err := (stattest.Proportion{Successes: held, Of: stattest.Binomial{Trials: trials, Probability: 0.95}, FalseAlarm: 1e-6}).CheckAtLeast(); err != nil {
		t.Error(err)
	}
}
