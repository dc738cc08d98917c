package parameter

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/noise"
	"dither/privacy"
)

// maxRateBits limits the bits of a sensitivity and of ε's numerator and denominator. A longer number is probably a
// mistake.
const maxRateBits = 4096

// SelectionRate returns the factor by which a selection multiplies scores in an exponent: ε/(2Δ), or ε/Δ if the
// scores are monotonic. Δ is the sensitivity of one score.
//
// Claim: between neighbours, the difference of two scores changes by at most 2Δ. It changes by at most Δ if the
// scores are monotonic, which means that no two scores change in opposite directions. Proof: let d_i be the change
// of score i, |d_i| ≤ Δ. Only differences of scores decide a choice. |d_i − d_j| ≤ 2Δ, and |d_i − d_j| ≤ Δ if d_i
// and d_j have the same sign. ∎
func SelectionRate(sensitivity *big.Int, monotonic bool, e privacy.Epsilon) (*big.Rat, error) {
	switch {
	case sensitivity == nil || sensitivity.Sign() <= 0:
		return nil, fmt.Errorf("%w: a selection needs a sensitivity above 0", Err)
	case e.IsZero():
		return nil, fmt.Errorf("%w: a selection needs an epsilon above 0", Err)
	}
	rate := e.Rat()
	if max(sensitivity.BitLen(), rate.Num().BitLen(), rate.Denom().BitLen()) > maxRateBits {
		return nil, fmt.Errorf("%w: the sensitivity or epsilon has more than %d bits", Err, maxRateBits)
	}
	reach := new(big.Int).Set(sensitivity)
	if !monotonic {
		reach.Lsh(reach, 1)
	}
	return rate.Quo(rate, new(big.Rat).SetInt(reach)), nil
}

// SelectionNoise returns discrete Laplace noise of scale 2kΔ/ε, or kΔ/ε if the scores are monotonic. Invalid
// parameters are Err.
func SelectionNoise(sensitivity *big.Int, monotonic bool, e privacy.Epsilon, k int) (noise.DiscreteLaplace, error) {
	c, err := SelectionRate(sensitivity, monotonic, e)
	if err != nil {
		return noise.DiscreteLaplace{}, err
	}
	scale := new(big.Rat).SetInt64(int64(k))
	dist, err := noise.NewDiscreteLaplace(scale.Quo(scale, c))
	if err != nil {
		return noise.DiscreteLaplace{}, fmt.Errorf("%w: %w", Err, err)
	}
	return dist, nil
}

// Simultaneous returns an integer a such that, with probability at least 1 − beta, all n draws from dist are
// between −a and a.
func Simultaneous(dist noise.DiscreteLaplace, n int, beta float64) (*big.Int, error) {
	if err := Probability(beta); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("%w: a bound needs at least one draw", Err)
	}
	each := exact.DivDown(beta, exact.FloatUp(new(big.Rat).SetInt64(int64(n))))
	a := dist.Quantile(each)
	if a == nil {
		return nil, fmt.Errorf("%w: the probability that a bound fails is too small", Err)
	}
	return a, nil
}
