package sample

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/entropy"
)

// recordings are of random bytes, and of what chance never brings: words of 0, which are coins that come true and steps
// of last in a row, and words at a border of the table, which are refined.
func recordings() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		var out []byte
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], rapid.Uint64().Draw(t, "seed"))
		stream := rand.NewChaCha8(seed)
		random := func(n int) {
			part := make([]byte, n)
			_, _ = stream.Read(part)
			out = append(out, part...)
		}
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			random(rapid.SampledFrom([]int{0, 1, 2, 8, 9, 10, 17}).Draw(t, "bytes"))
			out = append(out, make([]byte, rapid.SampledFrom([]int{0, 8, 16, 24, 32, 800}).Draw(t, "zeros"))...)
			if j := rapid.IntRange(-100, last).Draw(t, "power"); j > 0 {
				out = binary.LittleEndian.AppendUint64(out, powers[j])
			}
		}
		random(400)
		return out
	})
}

// all draws until the recording ends.
func all(t *rapid.T, recording []byte, draw func(*entropy.Source, *big.Int) *big.Int) (drawn []string) {
	z := new(big.Int)
	err := entropy.Replay(recording, func(src *entropy.Source) {
		for {
			drawn = append(drawn, draw(src, z).String())
		}
	})
	if !errors.Is(err, entropy.ErrExhausted) {
		t.Fatalf("a recording that does not end: %v", err)
	}
	return drawn
}

// agree compares the draws of every arithmetic that can hold the parameters with those of the big integers, and returns
// how many there were.
func agree(t *rapid.T, recording []byte, paths map[path]func(*entropy.Source, *big.Int) *big.Int) int {
	want := all(t, recording, paths[pathBig])
	for p, draw := range paths {
		got := all(t, recording, draw)
		if len(got) != len(want) {
			t.Fatalf("path %s drew %v against %v", p.name(), got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("path %s: draw %d is %s against %s", p.name(), i, got[i], want[i])
			}
		}
	}
	return len(want)
}

// integers draws positive integers of up to a number of bits, and those at the end.
func integers(size int) *rapid.Generator[*big.Int] {
	return rapid.Custom(func(t *rapid.T) *big.Int {
		n := size
		if rapid.Bool().Draw(t, "shorter") {
			n = rapid.IntRange(1, size).Draw(t, "bits")
		}
		top := new(big.Int).Lsh(bigOne, uint(n))
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return top.Sub(top, bigOne)
		case 1:
			return top.Rsh(top, 1)
		}
		raw := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), (n+7)/8, (n+7)/8).Draw(t, "digits"))
		return raw.Mod(raw, top).Add(raw, bigOne)
	})
}

// TestLaplacePathsAgree runs the codes on the same recordings: each draw must be the same integer from the same bytes,
// also at the border where t or 16s is just within.
func TestLaplacePathsAgree(t *testing.T) {
	compared := map[path]int{}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{4, 20, 64, 100, 128, 128}).Draw(t, "size")
		l := NewLaplace(new(big.Rat).SetFrac(integers(size).Draw(t, "t"), integers(max(1, size-4)).Draw(t, "s")))
		if l.path == pathBig {
			return
		}
		l.t2, l.s2 = toPair(l.tBig), toPair(l.sBig)
		paths := map[path]func(*entropy.Source, *big.Int) *big.Int{
			pathBig: l.drawBig, path128: l.draw128,
			l.path: l.Draw,
		}
		compared[l.path] += agree(t, recordings().Draw(t, "recording"), paths)
	})
	if compared[path64] < 100 || compared[path128] < 20 {
		t.Errorf("only %v draws were compared", compared)
	}
}

// TestGaussianPathsAgree is TestLaplacePathsAgree for the discrete Gaussian.
func TestGaussianPathsAgree(t *testing.T) {
	compared := map[path]int{}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{4, 10, 28, 32, 50, 58, 70, 90, 112}).Draw(t, "size")
		g := NewGaussian(new(big.Rat).SetFrac(integers(size).Draw(t, "n"), integers(size).Draw(t, "d")))
		if g.path == pathBig {
			return
		}
		paths := map[path]func(*entropy.Source, *big.Int) *big.Int{pathBig: g.drawBig, g.path: g.Draw}
		if g.path != pathFixed {
			g.n2, g.step2, g.den2 = toPair(g.nBig), toPair(g.stepBig), toPair(g.denBig)
			paths[path128] = g.draw128
		}
		compared[g.path] += agree(t, recordings().Draw(t, "recording"), paths)
	})
	if compared[path64] < 100 || compared[path128] < 20 || compared[pathFixed] < 20 {
		t.Errorf("only %v draws were compared", compared)
	}
}

// TestFarDraws takes recordings that make a draw beyond 64 scales and accept it, which chance never does.
func TestFarDraws(t *testing.T) {
	// coins, of which the second nibble decides; three steps of last
	recording := append([]byte{0x10}, make([]byte, 1+3*8)...)
	recording = binary.LittleEndian.AppendUint64(recording, math.MaxUint64) // and no more
	recording = append(recording, make([]byte, 8000)...)                    // every coin of the acceptance comes true
	for sigma2, want := range map[string]string{
		"1": "192", "100": "1056", "1/3": "96",
		"1152921504606846976": "103079215200",
	} {
		r, _ := new(big.Rat).SetString(sigma2)
		err := entropy.Replay(recording, func(src *entropy.Source) {
			if got := NewGaussian(r).Draw(src, new(big.Int)).String(); got != want {
				t.Errorf("σ² = %s: drew %s, want %s", sigma2, got, want)
			}
		})
		if err != nil {
			t.Errorf("σ² = %s: %v", sigma2, err)
		}
	}
}

// TestPathIsOfTheParameters pins the borders.
func TestPathIsOfTheParameters(t *testing.T) {
	power := func(n uint) *big.Int { return new(big.Int).Lsh(bigOne, n) }
	less := func(n uint) *big.Int { return new(big.Int).Sub(power(n), bigOne) }
	for _, c := range []struct {
		n, d              *big.Int
		laplace, gaussian path
	}{
		{bigOne, bigOne, path64, path64},
		{less(64), bigOne, path64, pathFixed},
		{power(64), bigOne, path128, pathFixed},
		{less(107), bigOne, path128, pathFixed},
		{power(108), bigOne, path128, pathBig},
		{bigOne, less(60), path64, path128},
		{bigOne, power(60), path128, path128},
		{bigOne, less(56), path64, path64},
		{bigOne, power(56), path64, path128},
		{bigOne, less(120), path128, path128},
		{bigOne, power(120), path128, pathBig},
		{less(31), bigOne, path64, path64},
		{less(32), bigOne, path64, path128},
		{less(63), bigOne, path64, path128},
		{less(128), bigOne, path128, pathBig},
		{power(128), bigOne, pathBig, pathBig},
		{bigOne, power(124), pathBig, pathBig},
	} {
		r := new(big.Rat).SetFrac(c.n, c.d)
		if p := NewLaplace(r).path; p != c.laplace {
			t.Errorf("Laplace %s: path %s, want %s", r, p.name(), c.laplace.name())
		}
		if p := NewGaussian(r).path; p != c.gaussian {
			t.Errorf("Gaussian %s: path %s, want %s", r, p.name(), c.gaussian.name())
		}
	}
}
