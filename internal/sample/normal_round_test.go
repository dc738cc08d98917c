package sample

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestNearest64IsSure goes to where rounding changes, the x with σ(k + x) = m + ½ or the few 2⁻⁶⁴ on either side: where the
// words decide, both ends of what is known of x round to that by the exact formula, and elsewhere they mostly do decide.
func TestNearest64IsSure(t *testing.T) {
	undecided, decided := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sigma2 := big.NewRat(rapid.Int64Range(1, 1<<62).Draw(t, "n"), rapid.Int64Range(1, 1<<40).Draw(t, "d"))
		g := NewRoundedGaussian(sigma2)
		k := rapid.Uint64Range(0, 8).Draw(t, "k")
		first := rapid.Uint64().Draw(t, "x")
		y := new(big.Int).SetUint64(k)
		y.Lsh(y, 64).Add(y, new(big.Int).SetUint64(first))
		// y·2⁶⁴ at the next change: (m + ½)/σ, m as it is here
		m := g.round(new(big.Int), y, 1)
		f := new(big.Float).SetPrec(300).SetInt(m.Lsh(m, 1).Add(m, bigOne))
		f.Quo(f, new(big.Float).SetPrec(300).Sqrt(new(big.Float).SetPrec(300).SetRat(sigma2)))
		edge, _ := f.SetMantExp(f, 63).Int(nil)
		if rapid.Bool().Draw(t, "at the edge") && edge.BitLen() < 90 {
			y = edge.Add(edge, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "off")))
		}
		if y.Sign() < 0 {
			return
		}
		x := Uniform{known: 1, first: new(big.Int).And(y, maxWord).Uint64()}
		z, whole := new(big.Int), new(big.Int).Rsh(y, 64).Uint64()
		if !g.nearest64(nil, z, whole, &x) {
			undecided++
			return
		}
		decided++
		low := g.round(new(big.Int), y, 1)
		high := g.round(new(big.Int), new(big.Int).Add(y, bigOne), 1)
		if low.Cmp(z) != 0 || high.Cmp(z) != 0 {
			t.Fatalf("σ² = %s, y = %s: %s on words, from %s to %s exactly", sigma2, y, z, low, high)
		}
	})
	if decided == 0 || undecided == 0 {
		t.Errorf("%d decided, %d not", decided, undecided)
	}
}
