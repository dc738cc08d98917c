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

// TestPathsAgree runs the 64-bit and the big-integer code on the same recordings: each draw must be the same integer from
// the same bytes, also at the border where t or s is 2⁶⁴ − 1.
func TestPathsAgree(t *testing.T) {
	positive := rapid.OneOf(rapid.Uint64Range(1, 1000), rapid.Uint64Min(1), rapid.SampledFrom([]uint64{math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1 << 32, 1<<32 - 1}))
	finished := 0
	rapid.Check(t, func(t *rapid.T) {
		n, d := positive.Draw(t, "t"), positive.Draw(t, "s")
		recording := make([]byte, 600)
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], rapid.Uint64().Draw(t, "seed"))
		_, _ = rand.NewChaCha8(seed).Read(recording)
		var small, large []string
		drawAll := func(out *[]string, draw func(*entropy.Source) *big.Int) func(*entropy.Source) {
			return func(src *entropy.Source) {
				for {
					*out = append(*out, draw(src).String())
				}
			}
		}
		errSmall := entropy.Replay(recording, drawAll(&small, func(src *entropy.Source) *big.Int { return laplace64(src, n, d) }))
		errLarge := entropy.Replay(recording, drawAll(&large, func(src *entropy.Source) *big.Int {
			return laplaceBig(src, new(big.Int).SetUint64(n), new(big.Int).SetUint64(d))
		}))
		if !errors.Is(errSmall, entropy.ErrExhausted) || !errors.Is(errLarge, entropy.ErrExhausted) {
			t.Fatalf("a recording that does not end: %v, %v", errSmall, errLarge)
		}
		if len(small) != len(large) {
			t.Fatalf("scale %d/%d: %v against %v", n, d, small, large)
		}
		for i := range small {
			if small[i] != large[i] {
				t.Fatalf("scale %d/%d: draw %d is %s against %s", n, d, i, small[i], large[i])
			}
		}
		finished += len(small)
	})
	if finished < 500 {
		t.Errorf("only %d draws were compared", finished)
	}
}

func TestSigned128(t *testing.T) {
	for _, c := range []struct {
		hi, lo   uint64
		negative bool
		want     string
	}{
		{0, 0, false, "0"},
		{0, 7, true, "-7"},
		{1, 0, false, "18446744073709551616"},
		{1, 5, true, "-18446744073709551621"},
		{math.MaxUint64, math.MaxUint64, false, "340282366920938463463374607431768211455"},
	} {
		if got := signed128(c.hi, c.lo, c.negative).String(); got != c.want {
			t.Errorf("%d, %d: got %s, want %s", c.hi, c.lo, got, c.want)
		}
	}
}
