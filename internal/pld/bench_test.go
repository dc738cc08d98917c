package pld_test

import (
	"math/big"
	"testing"

	"dither/internal/pld"
)

func benchmark(b *testing.B, delta float64, steps ...pld.Step) {
	b.ReportAllocs()
	for b.Loop() {
		compose(b, steps...).Epsilon(delta)
	}
}

func BenchmarkLittleNoise(b *testing.B) {
	benchmark(b, 1e-6, pld.Step{Pair: pair(b)(pld.Gaussian(big.NewRat(2500, 1))), Count: 1})
}

func BenchmarkMNIST(b *testing.B) {
	p := pair(b)(pld.Subsample(pair(b)(pld.Gaussian(big.NewRat(100, 121))), big.NewRat(256, 60000)))
	benchmark(b, 1e-5, pld.Step{Pair: p, Count: 14062})
}

func BenchmarkThreeKinds(b *testing.B) {
	get := pair(b)
	benchmark(b, 1e-6,
		pld.Step{Pair: get(pld.Gaussian(big.NewRat(1, 2500))), Count: 5000},
		pld.Step{Pair: get(pld.Laplace(big.NewRat(1, 200))), Count: 3000},
		pld.Step{Pair: get(pld.Subsample(get(pld.Gaussian(big.NewRat(1, 1))), big.NewRat(1, 100))), Count: 2000})
}

func BenchmarkDistinct(b *testing.B) {
	var steps []pld.Step
	for i := range int64(10000) {
		steps = append(steps, pld.Step{Pair: pair(b)(pld.Laplace(big.NewRat(1, 200+i))), Count: 1})
	}
	benchmark(b, 1e-6, steps...)
}
