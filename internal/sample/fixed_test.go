package sample

import (
	"crypto/rand"
	"encoding/binary"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/entropy"
)

// fixedParameter draws a Gaussian on the fixed path.
func fixedParameter(t *rapid.T) *Gaussian {
	size := rapid.SampledFrom([]int{70, 90, 112}).Draw(t, "size")
	n, d := integers(size).Draw(t, "n"), integers(size-10).Draw(t, "d")
	g := NewGaussian(new(big.Rat).SetFrac(n, d))
	if g.path != pathFixed {
		t.Skip("another path")
	}
	return g
}

// exponent returns 16γ of a proposal y, exactly.
func (g *Gaussian) exponent(y uint64) *big.Rat {
	root := new(big.Int).Mul(new(big.Int).SetUint64(y), g.stepBig)
	root.Sub(root, g.nBig)
	return new(big.Rat).SetFrac(root.Mul(root, root).Lsh(root, 4), g.denBig)
}

// TestBracketHoldsTheExponent compares the brackets of proposals with exact fractions, at the least and the largest
// proposal and at the centre, where 16γ is near 0.
func TestBracketHoldsTheExponent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := fixedParameter(t)
		centre := new(big.Int).Quo(g.nBig, g.stepBig).Uint64()
		y := rapid.OneOf(
			rapid.Uint64Range(0, 64*g.t-1), rapid.Uint64Range(0, 2*g.t), rapid.Just(64*g.t-1), rapid.Just(centre),
		).Draw(t, "y")
		lo, hi := g.fixed.bracket(y)
		at := func(p pair) *big.Rat {
			return new(big.Rat).SetFrac(set(new(big.Int), wide{p.lo, p.hi}, false), new(big.Int).Lsh(bigOne, 2*fraction))
		}
		x := g.exponent(y)
		if at(lo).Cmp(x) > 0 || at(hi).Cmp(x) < 0 {
			t.Fatalf("16γ = %s is not between %s and %s", x.FloatString(40), at(lo).FloatString(40), at(hi).FloatString(40))
		}
		width := new(big.Rat).Sub(at(hi), at(lo))
		if width.Cmp(new(big.Rat).SetFrac64(1, 1<<42)) > 0 {
			t.Fatalf("the bracket is %s wide", width.FloatString(20))
		}
	})
}

// TestBelowComparesExactly compares uniform integers with the remainder, most of them so near that the bracket leaves the
// comparison open.
func TestBelowComparesExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := fixedParameter(t)
		y := rapid.Uint64Range(0, 8*g.t).Draw(t, "y")
		x := g.exponent(y)
		r := new(big.Int).Mul(x.Num(), new(big.Int).Quo(g.denBig, x.Denom()))
		r.Mod(r, g.denBig)
		v := new(big.Int).Lsh(big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "off")),
			uint(rapid.IntRange(0, g.denBig.BitLen()).Draw(t, "digits")))
		v.Add(v, r)
		if v.Sign() < 0 || v.Cmp(g.denBig) >= 0 {
			v.Set(r)
		}
		lo, hi := g.fixed.bracket(y)
		if lo.hi>>(2*fraction-64) != hi.hi>>(2*fraction-64) {
			t.Skip("the whole part is open")
		}
		var words [fixedWords]uint64
		copy(words[:], wordsOf(v, len(g.fixed.den)))
		if got := g.below(&words, y, lo, hi); got != (v.Cmp(r) < 0) {
			t.Fatalf("%s < %s is %v", v, r, got)
		}
	})
}

// TestOpenWholePart takes proposals whose 16γ is so near to an integer k that the bracket leaves its whole part open, and
// far decides. The draws are those of the big integers.
//
// For t and y, 16γ = 8(y − σ²/t)²/σ² is k if σ/t is the root s = (√(k/8 + 4y/t) − √(k/8))/2 of s² + s√(k/8) = y/t.
func TestOpenWholePart(t *testing.T) {
	const scale = 1 << 30
	float := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	open := 0
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Int64Range(1, 40).Draw(t, "k")
		eighth := float(float64(k) / 8)
		slope := float(0).Sqrt(eighth)
		middle, _ := slope.Float64()
		y := uint64((1 + middle) * (scale - 0.5))
		s := float(float64(4*y) / scale)
		s.Sqrt(s.Add(s, eighth)).Sub(s, slope).Quo(s, float(2)).Mul(s, float(scale))
		n, _ := s.Mul(s, s).SetMantExp(s, 60).Int(nil)
		g := NewGaussian(new(big.Rat).SetFrac(n, new(big.Int).Lsh(bigOne, 60)))
		if g.path != pathFixed || g.t != scale {
			t.Fatalf("path %s with t = %d", g.path.name(), g.t)
		}
		if lo, hi := g.fixed.bracket(y); lo.hi>>(2*fraction-64) != hi.hi>>(2*fraction-64) {
			open++
		}
		coins := uint16(rapid.Uint8().Draw(t, "coins")) | 1
		recording := binary.LittleEndian.AppendUint16(nil, coins)
		recording = binary.LittleEndian.AppendUint64(recording, powers[16*y/scale]-1)
		recording = binary.LittleEndian.AppendUint32(recording, uint32(16*y%scale))
		recording = append(recording, recordings().Draw(t, "recording")...)
		agree(t, recording, map[path]func(*entropy.Source, *big.Int) *big.Int{pathBig: g.drawBig, pathFixed: g.drawFixed})
	})
	if open < 20 {
		t.Errorf("only %d whole parts were open", open)
	}
}

// TestFarthestProposalFits takes recordings of the farthest proposal that is within 64 scales, for the largest σ of each
// number of digits: u + t·v must fit into a word. Chance never brings such a proposal.
func TestFarthestProposalFits(t *testing.T) {
	fixed := 0
	for _, digits := range []uint{70, 106, 107, 108, 111} {
		n := new(big.Int).Lsh(bigOne, digits)
		g := NewGaussian(new(big.Rat).SetInt(n.Sub(n, bigOne)))
		recording := make([]byte, 2+8)                                                 // heads, and a step of last
		recording = binary.LittleEndian.AppendUint64(recording, powers[near-1-last]-1) // v = near − 1
		recording = append(recording, make([]byte, 8000)...)                           // every coin comes true
		recording[0] = 0x10
		if g.path != pathFixed {
			continue
		}
		fixed++
		rapid.Check(t, func(t *rapid.T) {
			at := 2 + 8 + 8 + rapid.IntRange(0, 8).Draw(t, "at")
			recording := append(recording[:len(recording):len(recording)], recordings().Draw(t, "recording")...)
			recording[at] = rapid.Byte().Draw(t, "byte")
			agree(t, recording, map[path]func(*entropy.Source, *big.Int) *big.Int{pathBig: g.drawBig, pathFixed: g.Draw})
		})
	}
	if fixed < 3 {
		t.Errorf("only %d parameters were on the path", fixed)
	}
}

// TestFixedDrawsOfTheSystem gives both codes the same stream of the system's randomness, whose blocks end within their
// integers: they make the same draws. Recordings, which have no blocks, cannot show that.
func TestFixedDrawsOfTheSystem(t *testing.T) {
	before := rand.Reader
	t.Cleanup(func() { rand.Reader = before })
	stream := func(f func()) {
		rand.Reader = mathrand.NewChaCha8([32]byte{7})
		f()
	}
	for _, sigma2 := range []*big.Rat{
		new(big.Rat).SetFrac(new(big.Int).Lsh(bigOne, 100), big.NewInt(3)),
		new(big.Rat).SetFrac(new(big.Int).Lsh(bigOne, 90), new(big.Int).Sub(new(big.Int).Lsh(bigOne, 40), bigOne)),
	} {
		g := NewGaussian(sigma2)
		if g.path != pathFixed {
			t.Fatalf("path %s", g.path.name())
		}
		const draws = 20_000 // some 200 blocks
		want, got := make([]string, draws), make([]string, draws)
		stream(func() {
			src := entropy.System()
			for i := range want {
				want[i] = g.drawBig(src, new(big.Int)).String()
			}
		})
		stream(func() {
			src := entropy.System()
			for i := range got {
				got[i] = g.drawFixed(src, new(big.Int)).String()
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("σ² = %s: the codes make other draws of the same stream", sigma2)
		}
	}
}
