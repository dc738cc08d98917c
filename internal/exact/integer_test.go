package exact_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
)

// int64s draws integers with many near 0, ±2³¹, ±2³² and the two ends.
func int64s() *rapid.Generator[int64] {
	near := func(c int64) *rapid.Generator[int64] {
		// wraps at the ends, which is welcome
		return rapid.Map(rapid.Int64Range(-3, 3), func(d int64) int64 { return c + d })
	}
	return rapid.OneOf(rapid.Int64(), near(0), near(math.MinInt64), near(math.MaxInt64), near(1<<31), near(-1<<31),
		near(1<<32), near(3037000499))
}

func TestCheckedSub(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := int64s().Draw(t, "a"), int64s().Draw(t, "b")
		got, err := exact.Sub(a, b)
		want := new(big.Int).Sub(big.NewInt(a), big.NewInt(b))
		switch {
		case !want.IsInt64():
			if !errors.Is(err, exact.ErrOverflow) {
				t.Fatalf("%d, %d: got %d, %v; want an overflow", a, b, got, err)
			}
		case err != nil || got != want.Int64():
			t.Fatalf("%d, %d: got %d, %v; want %s", a, b, got, err, want)
		}
	})
}
