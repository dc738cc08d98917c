package coin

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/privacy"
)

// A coin's tosses are the comparison of 16 bytes, most significant first, with its probability.
func TestTossComparesAllDigits(t *testing.T) {
	p := new(big.Rat).SetFrac(big.NewInt(0x80_01), big.NewInt(1<<16))
	c := Of(p)
	zeros := make([]byte, 14)
	for _, x := range []struct {
		bytes []byte
		heads bool
		read  int64
	}{
		{[]byte{0x7f}, true, 1},
		{[]byte{0x81}, false, 1},
		{[]byte{0x80, 0x00}, true, 2},
		{[]byte{0x80, 0x02}, false, 2},
		{append([]byte{0x80, 0x01}, zeros...), false, 16}, // equal: not below
	} {
		src := entropy.Recorded(x.bytes)
		if got := c.Toss(src); got != x.heads || src.Consumed() != x.read {
			t.Errorf("% x: %v after %d bytes", x.bytes, got, src.Consumed())
		}
	}
	if err := entropy.Replay(
		[]byte{0x80},
		func(s *entropy.Source) { c.Toss(s) },
	); !errors.Is(
		err,
		entropy.ErrExhausted,
	) {
		t.Error(err)
	}
	if c.Rat().Cmp(p) != 0 || new(big.Rat).Add(c.Rat(), c.Tails()).Cmp(one) != 0 {
		t.Error(c.Rat())
	}
}

// Over all values of the bytes that decide, a coin of a 16-bit probability shows heads exactly so often.
func TestTossHasTheProbability(t *testing.T) {
	for _, n := range []int64{1, 255, 256, 0x1234, 0xfffe} {
		c := Of(big.NewRat(n, 1<<16))
		heads := int64(0)
		record := make([]byte, 16)
		for i := range 1 << 16 {
			record[0], record[1] = byte(i>>8), byte(i)
			if c.Toss(entropy.Recorded(record)) {
				heads++
			}
		}
		if heads != n {
			t.Errorf("%d of 65,536 records show heads, want %d", heads, n)
		}
	}
}

// Up and Down are the multiples of 2^-128 around a number.
func TestUpAndDownAreNeighbours(t *testing.T) {
	third := big.NewRat(1, 3)
	up, down := Up(exact.IntervalOf(third, precision)), Down(exact.IntervalOf(third, precision))
	if up.Rat().Cmp(third) <= 0 || down.Rat().Cmp(third) >= 0 {
		t.Error("a rounding goes the wrong way")
	}
	gap := new(big.Rat).Sub(up.Rat(), down.Rat())
	if gap.Mul(gap, scale).Cmp(one) != 0 {
		t.Errorf("they differ by %s steps", gap)
	}
	if half := big.NewRat(1, 2); Up(exact.IntervalOf(half, precision)).Rat().Cmp(half) != 0 {
		t.Error("a multiple is rounded")
	}
}

func TestLimitsOfEpsilon(t *testing.T) {
	kind := errors.New("kind")
	for text, ok := range map[string]bool{"1e-7": false, "1e-6": true, "40": true, "40.1": false, "1": true} {
		e, err := privacy.ParseEpsilon(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(e, kind); (err == nil) != ok || err != nil && !errors.Is(err, kind) {
			t.Error(text, err)
		}
	}
	if err := Check(privacy.Epsilon{}, kind); err == nil {
		t.Error("an ε of 0 is accepted")
	}
}
