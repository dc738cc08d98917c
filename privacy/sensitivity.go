package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// ErrSensitivity reports a sensitivity for which there is no noise scale: missing, zero or negative, or any
// sensitivity at a loss of 0.
var ErrSensitivity = errors.New("invalid sensitivity")

// LaplaceScale returns Δ/ε, the scale of discrete Laplace noise in grid units, exactly. With this noise on each
// value, an integer vector of L1 sensitivity Δ (units, in grid units) has the loss e [Dwork, McSherry, Nissim &
// Smith 2006]. For a nil, zero or negative sensitivity the error is ErrSensitivity. For a loss of 0 the error is
// both ErrSensitivity and ErrEpsilon.
func LaplaceScale(units *big.Int, e Epsilon) (*big.Rat, error) {
	switch {
	case units == nil || units.Sign() <= 0:
		return nil, fmt.Errorf("%w: it must be above 0", ErrSensitivity)
	case e.IsZero():
		return nil, fmt.Errorf("%w: no finite noise has a loss of 0 (%w)", ErrSensitivity, ErrEpsilon)
	}
	scale := new(big.Rat).SetInt(units)
	return scale.Quo(scale, e.rat()), nil
}

// GaussianSigma2 returns Δ₂²/(2ρ), the parameter σ² of discrete Gaussian noise N_ℤ(0, σ²) in squared grid units,
// exactly. With this noise, drawn independently for each value, an integer vector has the zCDP loss r. Here
// l2squared = Δ₂² is the largest squared L2 distance of the vector between neighbours, in squared grid units
// [Canonne, Kamath & Steinke 2020, Theorem 4; for vectors, Theorem 14]. The variance of the noise is slightly below
// σ².
//
// For a nil, zero or negative sensitivity the error is ErrSensitivity. For a loss of 0 the error is both
// ErrSensitivity and ErrRho.
func GaussianSigma2(l2squared *big.Int, r Rho) (*big.Rat, error) {
	switch {
	case l2squared == nil || l2squared.Sign() <= 0:
		return nil, fmt.Errorf("%w: it must be above 0", ErrSensitivity)
	case r.IsZero():
		return nil, fmt.Errorf("%w: no finite noise has a loss of 0 (%w)", ErrSensitivity, ErrRho)
	}
	sigma2 := new(big.Rat).SetInt(l2squared)
	return sigma2.Quo(sigma2, r.Times(2).rat()), nil
}
