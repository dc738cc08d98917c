// Package selection contains mechanisms that choose among public candidates by a score that depends on the data:
// the exponential mechanism, report noisy max, permute-and-flip, top-k selection, and the best of repeated
// mechanisms.
package selection

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Choice is the release of a mechanism that chooses from a list: the index of the chosen candidate, and the loss.
// The list's length and order are public.
type Choice struct {
	Index int
	Loss  privacy.Loss
}

// exponentialShortfall returns an upper bound on (ln n + ln(1/beta))/c. It returns ErrParameter unless 0 < beta ≤ 1
// and n ≥ 1.
func exponentialShortfall(c *big.Rat, n *big.Int, beta float64) (float64, error) {
	if err := parameter.Probability(beta); err != nil {
		return 0, err
	}
	if n == nil || n.Sign() <= 0 {
		return 0, fmt.Errorf("%w: a selection needs at least one candidate", mechanism.ErrParameter)
	}
	log := exact.SubUp(exact.LogUp(exact.FloatUp(new(big.Rat).SetInt(n))), exact.LogDown(beta))
	if log == 0 {
		return 0, nil
	}
	return exact.MulUp(log, exact.FloatUp(new(big.Rat).Inv(c))), nil
}
