// Package parameter checks the public parameters that mechanisms share, and derives noise from them. It never sees
// data.
package parameter

import (
	"errors"
	"fmt"
	"math/big"

	"dither/privacy"
)

// Err reports parameters that give a mechanism no privacy, or with which it cannot compute. Package mechanism
// exports it as ErrParameter.
var Err = errors.New("invalid mechanism parameter")

// Limits on ε and δ. A number beyond a limit is probably a mistake, or an attempt to exhaust memory.
const (
	maxEpsilonBits  = 2048 // the most bits of the denominator of an ε that is used in an exponential
	maxEpsilonShift = 200  // an ε that is used in an exponential is above 2^−(maxEpsilonShift + 1)
	longestEpsilon  = 4096 // the most bits of the numerator and of the denominator of any other ε
	MaxDeltaBits    = 2048 // the most bits of a δ's denominator
)

// Epsilon checks an ε that is used in an exponential. It returns Err if ε is 0 or beyond the limits.
func Epsilon(e privacy.Epsilon) error {
	r := e.Rat()
	switch {
	case e.IsZero():
		return fmt.Errorf("%w: epsilon must be above 0", Err)
	case r.Cmp(new(big.Rat).SetInt64(privacy.MaxEpsilon)) > 0:
		return fmt.Errorf("%w: an epsilon above %d protects nobody", Err, privacy.MaxEpsilon)
	case r.Denom().BitLen() > maxEpsilonBits || r.Denom().BitLen()-r.Num().BitLen() > maxEpsilonShift:
		return fmt.Errorf("%w: epsilon is too small, or its fraction is too long", Err)
	}
	return nil
}

// Rate checks an ε that is used as the rate of a race (see sample.Race). It returns Err if ε is 0 or too long a
// fraction.
func Rate(e privacy.Epsilon) error {
	if r := e.Rat(); r.Sign() == 0 || max(r.Num().BitLen(), r.Denom().BitLen()) > longestEpsilon {
		return fmt.Errorf("%w: epsilon must be above 0, and a fraction of at most %d bits", Err, longestEpsilon)
	}
	return nil
}

// Probability returns Err unless 0 < beta ≤ 1.
func Probability(beta float64) error {
	if !(beta > 0) || !(beta <= 1) {
		return fmt.Errorf("%w: the probability that a bound fails must be above 0 and at most 1", Err)
	}
	return nil
}

// MaxUnitRows limits the rows of one unit, so that sensitivities fit in 64 bits.
const MaxUnitRows = 1 << 40

// Unit returns Err unless n is a known neighbouring relation and rows, the most rows of one unit, is between 1 and
// MaxUnitRows.
func Unit(n privacy.Neighbours, rows int64) error {
	if n != privacy.AddRemove && n != privacy.ChangeOne {
		return fmt.Errorf("%w: neighbours must be add-remove or change-one", Err)
	}
	if rows < 1 || rows > MaxUnitRows {
		return fmt.Errorf("%w: the most rows of a unit must be from 1 to 2^40", Err)
	}
	return nil
}

// Within reports whether the positive rational r is roughly between 2^-bits and 2^bits, by the lengths of its two
// parts, and neither part is longer than 4096 bits.
func Within(r *big.Rat, bits int) bool {
	size := r.Num().BitLen() - r.Denom().BitLen()
	return size >= -bits && size <= bits && r.Num().BitLen() <= 4096 && r.Denom().BitLen() <= 4096
}
