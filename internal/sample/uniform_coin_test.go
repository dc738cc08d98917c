package sample

import (
	"encoding/binary"
	"testing"

	"dither/internal/entropy"
)

func words(w ...uint64) []byte {
	var b []byte
	for _, x := range w {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// TestUniformCoin decides in the first, the second and the third block: each block of the other number is compared with
// the block in its own place, the other's drawn first.
func TestUniformCoin(t *testing.T) {
	for _, c := range []struct {
		words []uint64
		below bool
	}{
		{[]uint64{4, 5}, true},
		{[]uint64{5, 4}, false},
		{[]uint64{7, 7, 8, 9}, true},  // 9 is above 8, and 7 is not
		{[]uint64{7, 7, 6, 5}, false}, // 5 is not above 6, and 7 is
		{[]uint64{7, 7, 1, 1, 9, 10}, true},
		{[]uint64{7, 7, 10, 10, 9, 8}, false},
	} {
		source, u := entropy.Recorded(words(c.words...)), Uniform{}
		if got := u.coin(source); got != c.below || source.Consumed() != int64(8*len(c.words)) {
			t.Errorf("%v: %v after %d bytes", c.words, got, source.Consumed())
		}
	}
}

// TestUniformCoinKeepsDigits tosses two coins of one number: the second draws no digit that the first has drawn.
func TestUniformCoinKeepsDigits(t *testing.T) {
	source, u := entropy.Recorded(words(7, 7, 8, 9, 7, 9, 2, 3)), Uniform{}
	if !u.coin(source) || source.Consumed() != 32 {
		t.Fatalf("the first, after %d bytes", source.Consumed())
	}
	if !u.coin(source) || source.Consumed() != 64 || u.known != 3 || u.rest[0] != 9 || u.rest[1] != 3 {
		t.Fatalf("the second, after %d bytes: %v", source.Consumed(), u)
	}
}
