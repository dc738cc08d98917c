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

func TestCheckedIntegers(t *testing.T) {
	operations := []struct {
		name    string
		checked func(a, b int64) (int64, error)
		exactly func(z, a, b *big.Int) *big.Int
	}{
		{"Add", exact.Add, (*big.Int).Add},
		{"Sub", exact.Sub, (*big.Int).Sub},
		{"Mul", exact.Mul, (*big.Int).Mul},
		{"Neg", func(a, _ int64) (int64, error) { return exact.Neg(a) }, func(z, a, _ *big.Int) *big.Int { return z.Neg(a) }},
	}
	for _, operation := range operations {
		t.Run(operation.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a, b := int64s().Draw(t, "a"), int64s().Draw(t, "b")
				got, err := operation.checked(a, b)
				want := operation.exactly(new(big.Int), big.NewInt(a), big.NewInt(b))
				switch {
				case !want.IsInt64():
					if !errors.Is(err, exact.ErrOverflow) {
						t.Fatalf("%d, %d: got %d, %v; want an overflow", a, b, got, err)
					}
				case err != nil || got != want.Int64():
					t.Fatalf("%d, %d: got %d, %v; want %s", a, b, got, err, want)
				}
			})
		})
	}
}

func TestCheckedIntegerEnds(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	if p, err := exact.Mul(1<<32, -1<<31); err != nil || p != least {
		t.Errorf("2³²·−2³¹ = %d, %v", p, err)
	}
	for _, pair := range [][2]int64{{least, -1}, {-1, least}, {least, least}, {1 << 32, 1 << 31}, {most, 2}} {
		if _, err := exact.Mul(pair[0], pair[1]); !errors.Is(err, exact.ErrOverflow) {
			t.Errorf("%d·%d: %v", pair[0], pair[1], err)
		}
	}
	if _, err := exact.Neg(least); !errors.Is(err, exact.ErrOverflow) {
		t.Errorf("−(−2⁶³): %v", err)
	}
}
