package quantile

import (
	"math"
	"math/big"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// TestExpectedErrors compares the expected errors with simulations, over 250 and 251 values that are spread evenly.
// They agree within a factor of 1.5. In 2,000 trials of each, the means were .83 to 1.23 times the expected ones, and
// the limits were at least 4.7 standard errors of the trials below from them: a right formula fails in fewer than one
// of 10⁴ runs.
func TestExpectedErrors(t *testing.T) {
	const gap = 1 << 20
	one := mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
	two := mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 2}
	in := Domain{0, 252 * gap}
	evenly := func(n int64) (out []int64) {
		for i := range n {
			out = append(out, (i+1)*gap)
		}
		return out
	}
	data := [2]mechanism.Ordered{orderedOf(evenly(250)...), orderedOf(evenly(251)...)}
	type expecting interface {
		Release(data mechanism.Ordered) (OrderStatistics, error)
		Expected() float64
	}
	// simulate returns the mean error and the mean half-width
	simulate := func(trials int, ranks []*big.Rat, release func(mechanism.Ordered) (OrderStatistics, error)) (off, width float64) {
		each := 1 / float64(trials*len(ranks))
		for i := range trials {
			out, err := release(data[i%2])
			if err != nil {
				t.Fatal(err)
			}
			for j, q := range ranks {
				sought, _ := q.Float64()
				off += each * math.Abs(float64(out.Values[j])/gap-sought*float64(251+i%2))
				if len(out.Values) > len(ranks) {
					width += each * float64(out.Values[len(ranks)+j]) / gap
				}
			}
		}
		return off, width
	}
	for _, k := range []int64{1, 3, 9} {
		var ranks []*big.Rat
		for j := range k {
			ranks = append(ranks, big.NewRat(j+1, k+1))
		}
		for _, price := range []string{"2", "6"} {
			e := mechtest.Epsilon(t, price)
			for name, m := range map[string]expecting{
				"independent": Independent{in, one, ranks, e}, "recursive": Approximate{in, one, ranks, e, false},
				"recursive under zCDP": Approximate{in, one, ranks, e, true},
				"recursive, two rows":  Approximate{in, two, ranks, e, false},
				"ladder":               Ladder{in, one, ranks, e, false}, "joint": Joint{in, one, ranks, 1 << 9, e},
			} {
				trials := 300
				if name == "joint" {
					trials = 450 / int(k) // its time grows with k
				}
				off, width := simulate(trials, ranks, m.Release)
				if got := m.Expected(); got < off*2/3 || got > off*3/2 {
					t.Errorf("%s, k = %d, ε = %s: %.3f rows, expected %.3f", name, k, price, off, got)
				}
				if l, ok := m.(Ladder); ok {
					if got := l.ExpectedHalfWidth(); got < width*2/3 || got > width*3/2 {
						t.Errorf("k = %d, ε = %s: half-width %.3f rows, expected %.3f", k, price, width, got)
					}
				}
			}
			if k > 1 {
				continue
			}
			// Cauchy noise: a mean without a limit would vary too much, so errors are limited to 3 here, as by 6 rows
			m, off, below := Smooth{in, one, e}, 0.0, 0
			for i := range 3000 {
				out, err := m.Release(data[i%2])
				if err != nil {
					t.Fatal(err)
				}
				miss := math.Abs(float64(out.Values[0])/gap - float64(251+i%2)/2)
				off += min(3, miss) / 3000
				if miss <= m.ExpectedMedian(250) {
					below++
				}
			}
			if below < 1200 || below > 1800 { // a fair coin is 11 standard deviations away from both
				t.Errorf("smooth, ε = %s: %d of 3000 errors are at most the expected median", price, below)
			}
			if got := m.Expected(6); got < off*2/3 || got > off*3/2 {
				t.Errorf("smooth, ε = %s: %.3f rows, expected %.3f", price, off, got)
			}
		}
	}
}
