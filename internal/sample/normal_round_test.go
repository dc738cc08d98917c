package sample

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/entropy"
)

// TestNearest64IsSure goes to where rounding changes, the x with σ(k + x) = m + ½ or the few 2⁻⁶⁴ on either
// side: where the words decide, both ends of what is known of x round to that by the exact formula, and elsewhere they
// mostly do decide.
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

// TestNearestRefines gives digits that agree with those of an edge, the x with σ(k + x) = m + ½, for some blocks, and
// are all 0 or all 1 from there on: what is below the edge becomes m, and what is above it m + 1, with no more digits
// than it takes to tell. The edge is computed by floats of 1200 bits.
func TestNearestRefines(t *testing.T) {
	const blocks, precision = 8, 1200
	one, checked, deep := big.NewInt(1), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sigma2 := big.NewRat(rapid.Int64Range(1, 1<<62).Draw(t, "n"), rapid.Int64Range(1, 1<<40).Draw(t, "d"))
		if rapid.Bool().Draw(t, "wide") {
			sigma2.Mul(sigma2, new(big.Rat).SetInt(new(big.Int).Lsh(one, 200)))
		}
		g := NewRoundedGaussian(sigma2)
		// the m at k + first·2⁻⁶⁴ or one near it, and its edge
		y := new(big.Float).SetPrec(precision).SetUint64(rapid.Uint64().Draw(t, "x"))
		y.SetMantExp(y, -64).Add(y, new(big.Float).SetUint64(rapid.Uint64Range(0, 8).Draw(t, "k")))
		sigma := new(big.Float).SetPrec(precision).SetRat(sigma2)
		sigma.Sqrt(sigma)
		m, _ := y.Mul(y, sigma).Int(nil)
		f := new(big.Float).SetPrec(precision).SetInt(new(big.Int).Add(new(big.Int).Lsh(m, 1), one))
		edge, _ := f.SetMantExp(f.Quo(f, sigma), 64*blocks-1).Int(nil) // ⌊2^(64·blocks)·(m + ½)/σ⌋
		// blocks for σ times the rest to be below ½, and no other edge there
		enough := 1 + max(0, sigma.MantExp(nil))/64
		cut := rapid.IntRange(enough, blocks-2).Draw(t, "cut")
		left, above := uint(64*(blocks-cut)), rapid.Bool().Draw(t, "above")
		at := new(big.Int).Rsh(edge, left)
		if above {
			at.Add(at.Lsh(at.Add(at, one), left), big.NewInt(-1)) // and then all 1
		} else {
			at.Lsh(at, left) // and then all 0
		}
		want := m
		switch at.Cmp(edge) {
		case 0:
			return
		case 1:
			want = new(big.Int).Add(m, one)
		}
		digits, rest := make([]uint64, blocks), new(big.Int).Set(at)
		for j := blocks - 1; j >= 0; j-- {
			digits[j] = new(big.Int).And(rest, maxWord).Uint64()
			rest.Rsh(rest, 64)
		}
		if rest.Cmp(big.NewInt(1000)) > 0 {
			return // k of which no draw is
		}
		// The digits of the edge up to the first that tell, which are not looked at before.
		next := new(big.Int).Rsh(edge, left-64)
		next.And(next, maxWord)
		tells := next.Sign() != 0 && next.Cmp(maxWord) != 0
		z, source, x := new(big.Int), entropy.Recorded(words(digits...)), Uniform{}
		if !g.nearest64(source, z, rest.Uint64(), &x) {
			g.nearest(source, z, rest.Uint64(), &x)
		}
		if z.Cmp(want) != 0 {
			t.Fatalf("σ² = %s, k = %s, digits %x: %s, not %s", sigma2, rest, digits, z, want)
		}
		if least := int64(8 * max(cut+1, int(g.first))); tells && source.Consumed() != least {
			t.Fatalf("σ² = %s, k = %s, digits %x: decided after %d bytes, not %d", sigma2, rest, digits,
				source.Consumed(), least)
		}
		checked++
		if cut > 2 {
			deep++
		}
	})
	if checked < 20 || deep < 5 {
		t.Errorf("%d checked, %d of them deep", checked, deep)
	}
}
