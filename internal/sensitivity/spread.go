package sensitivity

import (
	"math/big"

	"dither/internal/exact"
)

// spread returns how far a bounded.Spread can move under change-one, where each unit contributes an integer from lo to hi
// to the one cell (group). lo is at most 0, and hi is at least 0.
//
// Claim: if at most size units contribute, the spread size·Σd² − (Σd)² moves by at most (size − 1)·(hi − lo)².
//
// Proof. A unit without a contribution adds 0 to both sums, as does one that contributes d = 0. So let there be exactly
// size contributions, of which those of missing units are 0. All lie in [lo, hi]. Then
//
//	size·Σd² − (Σd)² = Σ_{i<j} (dᵢ − dⱼ)²,
//
// because the right side has dᵢ² in size − 1 pairs, and −2·dᵢ·dⱼ in one pair. A change of one unit replaces one
// contribution d by d′, and the other size − 1 contributions x stay. Only the pairs of d change, so the spread moves by
//
//	Σ_x ((d′ − x)² − (d − x)²).
//
// Both squares lie between 0 and (hi − lo)², so each of the size − 1 terms has a magnitude of at most (hi − lo)². ∎
//
// The bound is attained: all other contributions are lo, and d = lo becomes d′ = hi. That at most size units contribute is
// a property of the sealed version: sealing refuses another number of units (policy.Table.Units), and a version that was
// sealed under another declaration is not read. Both sensitivities are at least 1, as in OfMeasure.
func spread(size int64, lo, hi *big.Int) Bound {
	width := new(big.Int).Sub(hi, lo)
	squared := new(big.Int).Mul(width, width)
	l1 := exact.Larger(new(big.Int).Mul(squared, big.NewInt(size-1)), big.NewInt(1))
	return Bound{L1: l1, L2Squared: new(big.Int).Mul(l1, l1)}
}
