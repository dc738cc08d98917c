package sample_test

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/sample"
)

// FuzzNoises: no parameters within their limits make a sampler panic or go on for ever, with the system's randomness or
// with a hostile recording, which may only be exhausted.
func FuzzNoises(f *testing.F) {
	f.Add([]byte{1}, []byte{1}, []byte{9}, []byte{0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff}, []byte{0x0f, 0xff}, make([]byte, 20), make([]byte, 200))
	f.Add([]byte{1}, make([]byte, 24), []byte{0xff, 0xff, 0xff}, recording(300))
	f.Fuzz(func(t *testing.T, num, den, more, replayed []byte) {
		if len(num) > 24 || len(den) > 24 || len(more) > 24 {
			return
		}
		n, d := new(big.Int).SetBytes(append(num, 1)), new(big.Int).SetBytes(append(den, 1))
		r, length := new(big.Rat).SetFrac(n, d), new(big.Int).SetBytes(append(more, 1))
		samplers := []sampler{sample.NewRoundedGaussian(r)}
		if r.Cmp(big.NewRat(1<<10, 1)) <= 0 {
			step := new(big.Int).Rsh(length, uint(len(den))*4)
			delta := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Add(length, big.NewInt(1)))
			samplers = append(samplers,
				sample.NewStaircase(length, step.Add(step, new(big.Int).SetInt64(int64(1-min(step.Sign(), 1)))), r),
				sample.NewTruncated(r, length), sample.NewTulap(r, delta), sample.NewTulap(r, new(big.Rat)))
		}
		source, z := entropy.System(), new(big.Int)
		for _, s := range samplers {
			s.Draw(source, z)
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
