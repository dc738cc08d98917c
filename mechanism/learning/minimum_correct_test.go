package learning

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// The rows predicted rightly are counted as a plain loop does, on the border too (θ·x = 0 says no, and so does y =
// 1/2); and without any one unit the number falls by its rows at most.
func TestCorrect(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	o := Objective{Loss: LogisticLoss, Response: ratOf(1), Radius: ratOf(5), Regularise: ratOf(10), Rows: 100}
	const most = 3
	for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
		m, err := NewMinimiser(o, 2, ratOf(2), mechanism.Unit{Neighbours: relation, MaxRows: most})
		if err != nil {
			t.Fatal(err)
		}
		if m.CorrectSensitivity().Cmp(big.NewInt(most)) != 0 {
			t.Errorf("%v", m.CorrectSensitivity())
		}
		for range 20 {
			p := problem{d: 2}
			theta := []float64{float64(r.IntN(3) - 1), r.Float64() - 0.5}
			var each []int64
			for range r.IntN(40) {
				var unit [][]float64
				right := int64(0)
				for range 1 + r.IntN(most) {
					row := []float64{float64(r.IntN(5)-2) / 2, float64(r.IntN(3)-1) / 2, float64(r.IntN(3)) / 2}
					if (theta[0]*row[0]+theta[1]*row[1] > 0) == (row[2] > 0.5) {
						right++
					}
					unit = append(unit, row)
				}
				p.units, each = append(p.units, unit), append(each, right)
			}
			want := int64(0)
			for _, n := range each {
				want += n
			}
			count := func(p problem) int64 {
				e, err := m.Correct(t.Context(), p.rows(t, 2, most), theta)
				if err != nil {
					t.Fatal(err)
				}
				return opaque.Open(e).Int64()
			}
			if got := count(p); got != want {
				t.Fatalf("%d, want %d", got, want)
			}
			if len(p.units) > 0 {
				less := problem{d: 2, units: p.units[1:]}
				if fell := want - count(less); fell != each[0] || fell > most {
					t.Errorf("fell by %d", fell)
				}
			}
		}
		rows := problem{d: 2}.rows(t, 2, most)
		for _, theta := range [][]float64{nil, {1}, {math.NaN(), 0}, {math.Inf(1), 0}} {
			if _, err := m.Correct(t.Context(), rows, theta); !errors.Is(err, mechanism.ErrParameter) {
				t.Errorf("%v: %v", theta, err)
			}
		}
	}
}
