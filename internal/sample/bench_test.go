package sample_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"dither/internal/entropy"
	"dither/internal/sample"
)

// sampler is a prepared distribution.
type sampler interface {
	Draw(src *entropy.Source, z *big.Int) *big.Int
}

// paths are parameters of every arithmetic, and the dearest ones: small, where half of the signs or of the proposals
// are rejected, with terms just above a power of two, where half of the uniform integers are.
var paths = []struct {
	name  string
	scale *big.Rat // of a discrete Laplace, and σ² of a discrete Gaussian
}{
	{"1", ratio(1, 1)},
	{"100", ratio(100, 1)},
	{"7÷3", ratio(7, 3)},
	{"1÷20", ratio(1, 20)},
	{"10^4", ratio(10_000, 1)},
	{"2^27", shifted(1, 27, big.NewInt(1))},
	{"2^45÷3", shifted(1, 45, big.NewInt(3))},
	{"2^60÷3", shifted(1, 60, big.NewInt(3))},
	{"(2^28+1)÷(2^31+1)", odd(28, 31)},
	{"(2^53+1)÷(2^56+1)", odd(53, 56)},
	{"(2^100+1)÷(2^103+1)", odd(100, 103)},
	{"2^100÷3", shifted(1, 100, big.NewInt(3))},
	{"(2^100+1)÷(2^40+1)", odd(100, 40)},
	{"2^150÷3", shifted(1, 150, big.NewInt(3))},
}

// odd is (2ᵃ + 1)/(2ᵇ + 1).
func odd(a, b uint) *big.Rat {
	above := func(n uint) *big.Int { return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1)) }
	return new(big.Rat).SetFrac(above(a), above(b))
}

// BenchmarkRatioLaplace measures a draw in units of a buffered word of the system's randomness, in the same run.
func BenchmarkRatioLaplace(b *testing.B) {
	for _, p := range paths {
		l := sample.NewLaplace(p.scale)
		b.Run(fmt.Sprintf("%s/%s", l.Path(), p.name), func(b *testing.B) { ratioOf(b, l) })
	}
}

// BenchmarkRatioGaussian is BenchmarkRatioLaplace for the discrete Gaussian of σ².
func BenchmarkRatioGaussian(b *testing.B) {
	for _, p := range paths {
		g := sample.NewGaussian(p.scale)
		b.Run(fmt.Sprintf("%s/%s", g.Path(), p.name), func(b *testing.B) { ratioOf(b, g) })
	}
}

// ratioOf reads as many words as it makes draws, in turns, so that what else the machine does slows both.
func ratioOf(b *testing.B, s sampler) {
	const turn = 4096
	source, z := entropy.System(), new(big.Int)
	reading, words, read := time.Duration(0), 0, int64(0)
	words64 := func() {
		start, before := time.Now(), source.Consumed()
		for range turn {
			source.Uint64()
		}
		reading, words, read = reading+time.Since(start), words+turn, read+source.Consumed()-before
	}
	s.Draw(source, z.SetBits(make([]big.Word, 0, 8))) // room for every draw
	words64()
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		s.Draw(source, z)
		if i%turn == 0 {
			b.StopTimer()
			words64()
			b.StartTimer()
		}
	}
	draw, word := float64(b.Elapsed())/float64(b.N), float64(reading)/float64(words)
	b.ReportMetric(word, "ns/word")
	b.ReportMetric(draw/word, "words/draw")
	b.ReportMetric(float64(source.Consumed()-read)/float64(b.N+1), "bytes/draw")
}

// BenchmarkDoor is the simple door, which prepares the sampler and allocates the integer for each draw.
func BenchmarkDoor(b *testing.B) {
	for _, p := range paths {
		b.Run("Laplace/"+p.name, func(b *testing.B) {
			source := entropy.System()
			b.ReportAllocs()
			for b.Loop() {
				sample.DiscreteLaplace(source, p.scale)
			}
		})
		b.Run("Gaussian/"+p.name, func(b *testing.B) {
			source := entropy.System()
			b.ReportAllocs()
			for b.Loop() {
				sample.DiscreteGaussian(source, p.scale)
			}
		})
	}
}

// BenchmarkFreshSource is what each answer pays once.
func BenchmarkFreshSource(b *testing.B) {
	for b.Loop() {
		source := entropy.System()
		source.Uint64()
		source.Wipe()
	}
}
