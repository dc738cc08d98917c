package enginetest

import (
	"math/big"

	"dither/internal/bounded"
)

// spread replaces each contribution d to a spread by what it adds to the spread of those before it. With their sum s and
// the measure's size n, this is n·d² − (s + d)² + s².
func spread(b *bounded.Statement, pieces []piece) {
	for j, m := range b.Measures {
		if m.Kind != bounded.Spread {
			continue
		}
		before := new(big.Int)
		for _, p := range pieces {
			d := p.sums[j]
			after, added := new(big.Int).Add(before, d), new(big.Int).Mul(d, d)
			added.Mul(added, big.NewInt(m.Size))
			added.Sub(added, new(big.Int).Mul(after, after))
			d.Add(added, new(big.Int).Mul(before, before))
			before = after
		}
	}
}
