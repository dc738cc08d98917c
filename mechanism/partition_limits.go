package mechanism

import (
	"fmt"
	"math/big"

	"dither/privacy"
)

// Limits on what exponentials are computed of: beyond, numbers are taken for a mistake, or for an attempt to exhaust memory.
const (
	maxEpsilonBits  = 2048 // of an ε's denominator
	maxEpsilonShift = 200  // an ε is above 2^−(maxEpsilonShift + 1)
	maxDeltaBits    = 2048 // of a δ's denominator
)

// checkEpsilon is ErrParameter for an ε that is 0 or beyond the limits.
func checkEpsilon(e privacy.Epsilon) error {
	r := e.Rat()
	switch {
	case e.IsZero():
		return fmt.Errorf("%w: it needs an epsilon above 0", ErrParameter)
	case r.Cmp(new(big.Rat).SetInt64(privacy.MaxEpsilon)) > 0:
		return fmt.Errorf("%w: an epsilon beyond %d protects nobody", ErrParameter, privacy.MaxEpsilon)
	case r.Denom().BitLen() > maxEpsilonBits || r.Denom().BitLen()-r.Num().BitLen() > maxEpsilonShift:
		return fmt.Errorf("%w: epsilon is too small, or too long a fraction", ErrParameter)
	}
	return nil
}
