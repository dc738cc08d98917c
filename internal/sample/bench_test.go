package sample_test

import (
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
)

func BenchmarkDiscreteLaplace(b *testing.B) {
	huge := new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 100), big.NewInt(3))
	for name, scale := range map[string]*big.Rat{
		"1": big.NewRat(1, 1), "100": big.NewRat(100, 1), "2^45": big.NewRat(1<<45, 1), "1÷20": big.NewRat(1, 20), "2^100÷3": huge,
	} {
		b.Run(name, func(b *testing.B) {
			source := entropy.System()
			b.ReportAllocs()
			for b.Loop() {
				sample.DiscreteLaplace(source, scale)
			}
			b.ReportMetric(float64(source.Consumed())/float64(b.N), "bytes/op")
		})
	}
	b.Run("beside/Uint64", func(b *testing.B) {
		source := entropy.System()
		for b.Loop() {
			source.Uint64()
		}
	})
	b.Run("beside/FreshSource", func(b *testing.B) {
		for b.Loop() {
			source := entropy.System()
			source.Uint64()
			source.Wipe()
		}
	})
}
