package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// DrawAnySize is Draw without words.
func (g *RoundedGaussian) DrawAnySize(src *entropy.Source, z *big.Int) *big.Int {
	h := *g
	h.words = false
	return h.Draw(src, z)
}
