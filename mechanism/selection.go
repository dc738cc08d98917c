package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/noise"
	"dither/privacy"
)

// Selection is what a mechanism that chooses from a list releases: who was chosen, and at what loss. The list's length and
// order are public.
type Selection struct {
	Index int
	Loss  privacy.Loss
}

// maxRateBits limits the size of a sensitivity and of the two parts of ε: beyond it they are taken for a mistake.
const maxRateBits = 4096

// selectionRate is what scores are multiplied by in an exponent: ε over the range of their sensitivity. Let d_i be what
// score i moves by between neighbours, |d_i| ≤ Δ. Only differences of scores decide who is chosen, and d_i − d_j is within
// 2Δ; or within Δ where scores are monotonic, that is where between two neighbours no two of them move in opposite
// directions.
func selectionRate(sensitivity *big.Int, monotonic bool, e privacy.Epsilon) (*big.Rat, error) {
	switch {
	case sensitivity == nil || sensitivity.Sign() <= 0:
		return nil, fmt.Errorf("%w: a selection needs a sensitivity above 0", ErrParameter)
	case e.IsZero():
		return nil, fmt.Errorf("%w: a selection needs an epsilon above 0", ErrParameter)
	}
	rate := e.Rat()
	if max(sensitivity.BitLen(), rate.Num().BitLen(), rate.Denom().BitLen()) > maxRateBits {
		return nil, fmt.Errorf("%w: a sensitivity or an epsilon of more than %d bits", ErrParameter, maxRateBits)
	}
	reach := new(big.Int).Set(sensitivity)
	if !monotonic {
		reach.Lsh(reach, 1)
	}
	return rate.Quo(rate, new(big.Rat).SetInt(reach)), nil
}

// laplaceFor is the discrete Laplace of scale k·Δ/ε, or 2kΔ/ε for scores that are not monotonic; or ErrParameter.
func laplaceFor(sensitivity *big.Int, monotonic bool, e privacy.Epsilon, k int) (noise.DiscreteLaplace, error) {
	c, err := selectionRate(sensitivity, monotonic, e)
	if err != nil {
		return noise.DiscreteLaplace{}, err
	}
	scale := new(big.Rat).SetInt64(int64(k))
	dist, err := noise.NewDiscreteLaplace(scale.Quo(scale, c))
	if err != nil {
		return noise.DiscreteLaplace{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return dist, nil
}

// scoreOf is the value itself, not to be changed and not to leave the package.
func scoreOf(e Exact) *big.Int {
	if e.v == nil {
		return new(big.Int)
	}
	return e.v
}

// exponentialShortfall bounds (ln n + ln(1/β))/c from above. A β that is no probability above 0, or an n below 1, is
// ErrParameter.
func exponentialShortfall(c *big.Rat, n *big.Int, beta float64) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if n == nil || n.Sign() <= 0 {
		return 0, fmt.Errorf("%w: a selection needs something to choose from", ErrParameter)
	}
	log := exact.SubUp(exact.LogUp(exact.FloatUp(new(big.Rat).SetInt(n))), exact.LogDown(beta))
	if log == 0 {
		return 0, nil
	}
	return exact.MulUp(log, exact.FloatUp(new(big.Rat).Inv(c))), nil
}

// checkBeta is ErrParameter for a β that is no probability above 0.
func checkBeta(beta float64) error {
	if !(beta > 0) || beta > 1 || math.IsNaN(beta) {
		return fmt.Errorf("%w: a bound fails with a probability above 0 and at most 1", ErrParameter)
	}
	return nil
}

// simultaneous is an a such that, with probability at least 1 − beta, none of n draws is beyond ±a.
func simultaneous(dist noise.DiscreteLaplace, n int, beta float64) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("%w: a bound on no draws", ErrParameter)
	}
	each := exact.DivDown(beta, exact.FloatUp(new(big.Rat).SetInt64(int64(n))))
	a := dist.Quantile(each)
	if a == nil {
		return nil, fmt.Errorf("%w: a bound of too small a probability", ErrParameter)
	}
	return a, nil
}
