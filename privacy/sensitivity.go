package privacy

import (
	"errors"
	"fmt"
	"math/big"
)

// Sensitivity is how far a vector of integers moves, in L1 norm, between neighbouring data sets: a number of grid
// units. The zero value is unset, which is no sensitivity, and not a sensitivity of 0.
type Sensitivity struct {
	units *big.Int // nil is unset; never negative; never changed once set
}

// ErrSensitivity reports a sensitivity that is unset or negative, or one that buys no noise: 0, or any at no loss.
var ErrSensitivity = errors.New("invalid sensitivity")

// SensitivityOf takes a number of grid units. A nil or negative one is ErrSensitivity. 0 is a sensitivity: that of a
// constant.
func SensitivityOf(units *big.Int) (Sensitivity, error) {
	if units == nil || units.Sign() < 0 {
		return Sensitivity{}, fmt.Errorf("%w: it must be an integer of at least 0", ErrSensitivity)
	}
	return Sensitivity{new(big.Int).Set(units)}, nil
}

// IsSet reports whether the sensitivity was made by SensitivityOf.
func (s Sensitivity) IsSet() bool { return s.units != nil }

// Units returns a copy of the number of grid units, or nil where it is unset.
func (s Sensitivity) Units() *big.Int {
	if s.units == nil {
		return nil
	}
	return new(big.Int).Set(s.units)
}

// String writes the number of grid units, or "unset".
func (s Sensitivity) String() string {
	if s.units == nil {
		return "unset"
	}
	return s.units.String()
}

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

// LaplaceScale is LaplaceScale of the sensitivity's units.
func (s Sensitivity) LaplaceScale(e Epsilon) (*big.Rat, error) { return LaplaceScale(s.units, e) }

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
