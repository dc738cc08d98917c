// Package parameter checks the public parameters that mechanisms share, and derives noise from them. It sees no data.
package parameter

import (
	"errors"
	"fmt"
	"math/big"

	"dither/privacy"
)

// Err reports parameters with which a mechanism gives no privacy, or with which it cannot compute. Package mechanism
// exports it as ErrParameter.
var Err = errors.New("invalid mechanism parameter")

// Limits on the numbers in exponentials. A number beyond them is probably a mistake, or an attempt to exhaust memory.
const (
	maxEpsilonBits  = 2048 // of an ε's denominator
	maxEpsilonShift = 200  // an ε is above 2^−(maxEpsilonShift + 1)
	longestEpsilon  = 4096 // of the two parts of an ε that is not in an exponential
	MaxDeltaBits    = 2048 // of a δ's denominator
)

// Epsilon returns Err for an ε that is 0 or beyond the limits.
func Epsilon(e privacy.Epsilon) error {
	r := e.Rat()
	switch {
	case e.IsZero():
		return fmt.Errorf("%w: it needs an epsilon above 0", Err)
	case r.Cmp(new(big.Rat).SetInt64(privacy.MaxEpsilon)) > 0:
		return fmt.Errorf("%w: an epsilon beyond %d protects nobody", Err, privacy.MaxEpsilon)
	case r.Denom().BitLen() > maxEpsilonBits || r.Denom().BitLen()-r.Num().BitLen() > maxEpsilonShift:
		return fmt.Errorf("%w: epsilon is too small, or too long a fraction", Err)
	}
	return nil
}

// Rate returns Err for an ε that is 0, or too long for the rate of a race.
func Rate(e privacy.Epsilon) error {
	if r := e.Rat(); r.Sign() == 0 || max(r.Num().BitLen(), r.Denom().BitLen()) > longestEpsilon {
		return fmt.Errorf("%w: an epsilon above 0, of at most %d bits", Err, longestEpsilon)
	}
	return nil
}

// Probability returns Err for a β that is not above 0 and at most 1.
func Probability(beta float64) error {
	if !(beta > 0) || !(beta <= 1) {
		return fmt.Errorf("%w: a bound fails with a probability above 0 and at most 1", Err)
	}
	return nil
}

// MaxUnitRows keeps sensitivities within 64 bits.
const MaxUnitRows = 1 << 40

// Unit returns Err unless the neighbouring relation is known, and a unit has between 1 and MaxUnitRows rows.
func Unit(n privacy.Neighbours, rows int64) error {
	if n != privacy.AddRemove && n != privacy.ChangeOne {
		return fmt.Errorf("%w: no neighbouring relation", Err)
	}
	if rows < 1 || rows > MaxUnitRows {
		return fmt.Errorf("%w: a unit needs between 1 and 2^40 rows", Err)
	}
	return nil
}

// Within reports whether a positive rational is between 2^-bits and 2^bits, and not too long.
func Within(r *big.Rat, bits int) bool {
	size := r.Num().BitLen() - r.Denom().BitLen()
	return size >= -bits && size <= bits && r.Num().BitLen() <= 4096 && r.Denom().BitLen() <= 4096
}
