package selection

import (
	"math/big"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// TopExponential chooses K candidates, in order, by peeling [Bhaskar, Laxman, Smith & Thakurta 2010]. It runs the
// exponential mechanism K times at ε/K, each time on the remaining candidates.
//
// Claim: the mechanism is Epsilon-differentially private. Proof: given the previous choices, the next one is a
// choice of Exponential at ε/K from a public list. Losses add up. ∎ For the same reason, its ZCDP is that of K
// choices. The implementation draws all K in one race, whose first K winners have exactly the distribution of
// peeling (sample.Race).
type TopExponential struct {
	K           int      // the number of candidates to choose; at least 1, and at most the number of candidates
	Sensitivity *big.Int // the most that one score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// Ranking is the release of TopExponential: the chosen candidates in order, and the loss.
type Ranking struct {
	Indices []int
	Loss    privacy.Loss
}

// Select chooses K of the candidates, given their scores. The error is ErrParameter if K is not between 1 and the
// number of candidates, or if the parameters give no privacy.
func (m TopExponential) Select(scores []mechanism.Exact) (Ranking, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, scores)
}

func (m TopExponential) choose(src *entropy.Source, scores []mechanism.Exact) (Ranking, error) {
	indices, err := race(src, m.each().rate, scores, m.K)
	if err != nil {
		return Ranking{}, err
	}
	return Ranking{Indices: indices, Loss: privacy.PureLoss(m.Epsilon)}, nil
}

// each returns the mechanism of a single choice, at ε/K. If K < 1 its ε is 0, so rate returns ErrParameter.
func (m TopExponential) each() Exponential {
	one := Exponential{Sensitivity: m.Sensitivity, Monotonic: m.Monotonic}
	if m.K > 0 {
		one.Epsilon = m.Epsilon.Share(1, int64(m.K))
	}
	return one
}

// ZCDP returns the loss of all K choices under zCDP: K·(ε/K)²/8. An accountant may charge it instead of the
// Ranking's own loss, not in addition.
func (m TopExponential) ZCDP() privacy.Loss {
	return privacy.ZCDPLoss(m.each().Epsilon.BoundedRange().Times(int64(m.K)), privacy.Delta{})
}

// Shortfall returns a bound on how far each choice is below the best candidate that remained for it, among n
// candidates. The bound holds for all K choices together with probability at least 1 − beta. It is
// Exponential.Shortfall at ε/K and β/K: 2ΔK(ln n + ln(K/β))/ε for scores that are not monotonic, rounded up.
func (m TopExponential) Shortfall(n *big.Int, beta float64) (float64, error) {
	c, err := m.each().rate()
	if err != nil {
		return 0, err
	}
	if err := parameter.Probability(beta); err != nil {
		return 0, err
	}
	if n == nil {
		n = new(big.Int)
	}
	return exponentialShortfall(c, new(big.Int).Mul(n, big.NewInt(int64(m.K))), beta)
}
