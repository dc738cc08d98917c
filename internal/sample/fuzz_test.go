package sample_test

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
)

// FuzzParameters: no positive rational makes a sampler panic or go on for ever, with the system's randomness or with a
// hostile recording, which may only be exhausted.
func FuzzParameters(f *testing.F) {
	f.Add([]byte{1}, []byte{1}, []byte{0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		[]byte{0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, make([]byte, 200))
	f.Add([]byte{1}, make([]byte, 40), recording(300))
	f.Fuzz(func(t *testing.T, num, den, replayed []byte) {
		if len(num) > 64 || len(den) > 64 {
			return
		}
		r := new(big.Rat).SetFrac(new(big.Int).SetBytes(append(num, 1)), new(big.Int).SetBytes(append(den, 1)))
		l, g := sample.NewLaplace(r), sample.NewGaussian(r)
		source, z := entropy.System(), new(big.Int)
		for range 4 {
			l.Draw(source, z)
			g.Draw(source, z)
			sample.BernoulliExp(source, r)
		}
		for _, s := range []sampler{l, g} {
			err := entropy.Replay(replayed, func(src *entropy.Source) {
				for range len(replayed) {
					s.Draw(src, z)
				}
			})
			if err != nil && !errors.Is(err, entropy.ErrExhausted) {
				t.Error(err)
			}
		}
	})
}
