package sensitivity

import (
	"math/big"
	"testing"

	"dither/internal/bounded"
	"dither/mechanism/linear"
	"dither/privacy"
)

// Over all tables and all histograms of a tiny domain, no unit moves a distance further than OfDistance says, and some
// unit moves it as far. Some pair of scores moves in opposite directions, so distances are not monotonic.
func TestDistancesMoveAsFarAsTheyMay(t *testing.T) {
	const rows, top = 2, 3
	m := &bounded.Measure{Lo: 1, Hi: 1}
	identity, err := linear.NewStrategy(linear.Product{linear.Identity(2)})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
		moves := OfStrategy(identity, m, n, rows).L1
		for _, of := range []linear.Distance{{Weight: 1, Scale: 1}, {Weight: 3, Scale: 1}, {Weight: 2, Scale: 5, Penalty: 4}} {
			bound := OfDistance([]linear.Distance{of}, []*big.Int{moves})
			most, up, down := new(big.Int), false, false
			for t0 := int64(-2); t0 <= top+2; t0++ {
				for t1 := int64(-2); t1 <= top+2; t1++ {
					d := of
					d.Table = []int64{t0 * of.Scale, t1 * of.Scale}
					eachPair(rows, top, n, func(x, y [2]int64) {
						by := new(big.Int).Sub(score(d, x), score(d, y))
						up, down = up || by.Sign() > 0, down || by.Sign() < 0
						if by.CmpAbs(most) > 0 {
							most = by.Abs(by)
						}
					})
				}
			}
			if most.Cmp(bound) != 0 || !up || !down {
				t.Errorf("%v, %+v: it moves by %s, and the bound is %s", n, of, most, bound)
			}
		}
	}
}

// eachPair calls visit with all pairs of neighbouring histograms of two cells: those of the other units have at most top
// rows in a cell, and a unit has at most the given number of rows.
func eachPair(rows, top int64, n privacy.Neighbours, visit func(x, y [2]int64)) {
	for a := range top + 1 {
		for b := range top + 1 {
			for u := range rows + 1 {
				for v := range rows - u + 1 {
					if n == privacy.AddRemove {
						visit([2]int64{a, b}, [2]int64{a + u, b + v})
						continue
					}
					for w := range rows + 1 {
						for z := range rows - w + 1 {
							visit([2]int64{a + u, b + v}, [2]int64{a + w, b + z})
						}
					}
				}
			}
		}
	}
}

// score is the score by its definition, which linear's TestDistanceIsThatOfItsDefinition compares with Distance.Of.
func score(d linear.Distance, x [2]int64) *big.Int {
	sum := int64(0)
	for i, v := range x {
		apart := d.Scale*v - d.Table[i]
		sum += max(apart, -apart)
	}
	return big.NewInt(d.Weight*sum - d.Penalty)
}

// The bound of several scores is that of the score that moves furthest, each by the moves of its own histogram.
func TestDistancesMoveTogether(t *testing.T) {
	got := OfDistance(
		[]linear.Distance{{Weight: 7, Scale: 1}, {Weight: 2, Scale: 3}}, []*big.Int{big.NewInt(1), big.NewInt(2)},
	)
	if got.Int64() != 12 {
		t.Errorf("%s, want 12", got)
	}
}
