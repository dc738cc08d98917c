package selection

import (
	"math/big"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// TopExponential chooses K candidates, in order, by peeling: the exponential mechanism K times, each time among those
// who are left, at ε/K each [Bhaskar, Laxman, Smith & Thakurta 2010].
//
// It is Epsilon-differentially private: given the choices before, the next is one of Exponential at ε/K from a public
// list, and losses add. Its ZCDP is that of K choices. All are drawn in one race, whose first K are what peeling draws,
// exactly (sample.Race).
type TopExponential struct {
	K           int      // how many to choose: at least 1, and at most the number of candidates
	Sensitivity *big.Int // the most by which a score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// Ranking is an ordered choice of several candidates.
type Ranking struct {
	Indices []int
	Loss    privacy.Loss
}

// Select chooses K of the candidates. A K that is not in 1…n, or parameters that give no privacy, are ErrParameter.
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

// each is one choice of the K. Without a K it has no ε, and so no rate.
func (m TopExponential) each() Exponential {
	one := Exponential{Sensitivity: m.Sensitivity, Monotonic: m.Monotonic}
	if m.K > 0 {
		one.Epsilon = m.Epsilon.Share(1, int64(m.K))
	}
	return one
}

// ZCDP is the loss of all K choices under zCDP: K·(ε/K)²/8. It may be charged in place of the Ranking's own loss,
// never beside it.
func (m TopExponential) ZCDP() privacy.Loss {
	return privacy.ZCDPLoss(m.each().Epsilon.BoundedRange().Times(int64(m.K)), privacy.Delta{})
}

// Shortfall bounds, with probability at least 1 − beta for all K choices together, how far each is below the best
// that was left for it, among n candidates: 2ΔK(ln n + ln(K/β))/ε, rounded up (Exponential.Shortfall at ε/K and
// β/K).
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
