package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// ErrSensitivity reports a sensitivity that is missing or negative, or one that buys no noise: 0, or any at no loss.
var ErrSensitivity = errors.New("invalid sensitivity")

// LaplaceScale is the scale, in grid units, at which discrete Laplace noise on each value of an integer vector costs
// the whole vector a loss of e: Δ/ε, exactly, for a sensitivity Δ in grid units [Dwork, McSherry, Nissim & Smith
// 2006]. A nil, zero or negative sensitivity is ErrSensitivity, and so is a loss of 0, which is ErrEpsilon too: neither
// has a scale, and none is made up.
func LaplaceScale(units *big.Int, e Epsilon) (*big.Rat, error) {
	switch {
	case units == nil || units.Sign() <= 0:
		return nil, fmt.Errorf("%w: noise needs one above 0", ErrSensitivity)
	case e.IsZero():
		return nil, fmt.Errorf("%w: no noise brings a loss of 0 (%w)", ErrSensitivity, ErrEpsilon)
	}
	scale := new(big.Rat).SetInt(units)
	return scale.Quo(scale, e.rat()), nil
}

// GaussianSigma2 is the σ², in squared grid units, at which discrete Gaussian noise N_ℤ(0, σ²), drawn
// independently for each value of an integer vector, costs the whole vector a zCDP loss of r: Δ₂²/(2ρ), exactly,
// where l2squared = Δ₂² is the largest squared L2 distance, in squared grid units, that the vector moves between
// neighbours [Canonne, Kamath & Steinke 2020, Theorem 4; for vectors, Theorem 14]. σ² is a parameter: the variance of
// the noise is slightly below it.
//
// A nil, zero or negative sensitivity is ErrSensitivity, and so is a loss of 0, which is ErrRho too: neither has a
// σ².
func GaussianSigma2(l2squared *big.Int, r Rho) (*big.Rat, error) {
	switch {
	case l2squared == nil || l2squared.Sign() <= 0:
		return nil, fmt.Errorf("%w: noise needs one above 0", ErrSensitivity)
	case r.IsZero():
		return nil, fmt.Errorf("%w: no noise brings a loss of 0 (%w)", ErrSensitivity, ErrRho)
	}
	sigma2 := new(big.Rat).SetInt(l2squared)
	return sigma2.Quo(sigma2, r.Times(2).rat()), nil
}
