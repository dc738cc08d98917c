package sample

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
)

func TestPowers(t *testing.T) {
	for j := 1; j <= last; j++ {
		if want := digits(j, 64); want.Uint64() != powers[j] {
			t.Errorf("powers[%d] = %#x, want %#x", j, powers[j], want)
		}
		if f := math.Ldexp(float64(powers[j]), -64); math.Abs(f-math.Exp(-float64(j)/16)) > 0x1p-50*f+0x1p-63 {
			t.Errorf("powers[%d] is %g", j, f)
		}
		if j > 1 && powers[j] >= powers[j-1] {
			t.Errorf("powers[%d] does not decrease", j)
		}
	}
}

// TestDigits compares with the square of the root's digits, and with e⁻¹ as it is known.
func TestDigits(t *testing.T) {
	const known = "0.36787944117144232159552377016146086744581113103176783450783680169746149574489980335714727434591964374662732527"
	e, _ := new(big.Rat).SetString(known)
	scaled := e.Mul(e, new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, 320)))
	if got := digits(16, 320); got.Cmp(new(big.Int).Quo(scaled.Num(), scaled.Denom())) != 0 {
		t.Errorf("320 digits of 1/e: %x", got)
	}
	for j := 2; j <= last; j += 34 {
		root := digits(j/2, 700)
		root.Mul(root, root).Rsh(root, 1400-256)
		if d := root.Sub(digits(j, 256), root); !d.IsUint64() || d.Uint64() > 1 {
			t.Errorf("exp(−%d/16): %s from the square", j, d)
		}
	}
}

// TestEqualDigitsAreRefined gives coins and the geometric a first word that decides nothing.
func TestEqualDigitsAreRefined(t *testing.T) {
	words := func(w ...uint64) []byte {
		var out []byte
		for _, x := range w {
			out = binary.LittleEndian.AppendUint64(out, x)
		}
		return out
	}
	for j := 1; j <= last; j += 7 {
		all := digits(j, 192)
		third := new(big.Int).And(all, maxWord).Uint64()
		second := new(big.Int).And(new(big.Int).Rsh(all, 64), maxWord).Uint64()
		for _, c := range []struct {
			recording []byte
			below     bool
		}{
			{words(powers[j] - 1), true},
			{words(powers[j] + 1), false},
			{words(powers[j], second-1), true},
			{words(powers[j], second+1), false},
			{words(powers[j], second, third-1), true},
			{words(powers[j], second, third+1), false},
		} {
			src := entropy.Recorded(c.recording)
			if got := coin(src, j); got != c.below || src.Consumed() != int64(len(c.recording)) {
				t.Errorf("coin(%d) gave %t from %d bytes of %x", j, got, src.Consumed(), c.recording)
			}
			want := uint64(j)
			if !c.below {
				want--
			}
			src = entropy.Recorded(append(c.recording, words(math.MaxUint64)...))
			if got := geometric(src); got != want {
				t.Errorf("geometric at %d gave %d from %x", j, got, c.recording)
			}
		}
	}
	if got := geometric(entropy.Recorded(words(0, 0, 0, 1<<63))); got != 3*last+11 { // exp(−11/16) > ½ > exp(−12/16)
		t.Errorf("three steps and a half gave %d", got)
	}
}

func TestSurvive(t *testing.T) {
	for _, c := range []struct {
		hi, lo uint64
		words  int // all coins are true
	}{{0, 0, 0}, {0, 1, 1}, {0, last, 1}, {0, last + 1, 2}, {0, 10 * last, 10}, {0, 10*last + 1, 11}} {
		src := entropy.Recorded(make([]byte, 8*c.words))
		if !survive(src, c.hi, c.lo) || src.Consumed() != int64(8*c.words) {
			t.Errorf("%d, %d took %d bytes", c.hi, c.lo, src.Consumed())
		}
	}
	for _, hi := range []uint64{1, 1 << 60} {
		one := append(make([]byte, 80), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) // ten true, and one false
		src, again := entropy.Recorded(one), entropy.Recorded(one)
		q := new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64)
		if survive(src, hi, 3) || surviveBig(again, q) || src.Consumed() != 88 || again.Consumed() != 88 {
			t.Errorf("%d·2⁶⁴: %d and %d bytes", hi, src.Consumed(), again.Consumed())
		}
	}
}
