package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// Sampler draws integer noise. Draw sets z to a draw, and returns z.
type Sampler interface {
	Draw(src *entropy.Source, z *big.Int) *big.Int
}
