package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// Tulap is a mechanism for one count of sensitivity 1. Its noise has the truncated-uniform-Laplace distribution, on
// which the most powerful tests of a proportion are based [Awan & Slavković 2018].
//
// Claim: the mechanism is (Epsilon, Delta)-differentially private. At Delta = 0 it is purely Epsilon-differentially
// private. Proof: let b = e^(−ε), and let m be the integer nearest to the noise N. The density f of N is c·b^|m|
// for |N| ≤ t, and 0 beyond the bound t (see noise.Tulap). Adding 1 to x changes |m| by 1, so f(y − x) ≤ e^ε·f(y −
// x′) wherever f(y − x′) > 0. So for every event S, P(S|x) − e^ε·P(S|x′) is at most the probability, under x, of
// the outputs that are impossible under x′. For x′ = x + 1 that probability is P(N < −t + 1), and by symmetry it is
// the same for x′ = x − 1. Let F be the distribution function before the conditioning on |N| ≤ t. Then F(−t) = q/2,
// and F(1 − t) = e^ε·F(−t) since t ≥ ½. Hence P(N < −t + 1) = (e^ε − 1)(q/2)/(1 − q), which is δ for q = 2δb/(1 − b
// + 2δb). The condition t ≥ ½ holds since (q/2)(1 + b)/b = δ(1 + b)/(1 − b + 2δb) ≤ 1, so q/2 ≤ F(−½) = b/(1 + b).
// The release keeps 64 binary digits of the fraction, rounded down, which is post-processing. The noise is sampled
// exactly. ∎
type Tulap struct {
	Epsilon privacy.Epsilon // ε, above 0
	Delta   privacy.Delta   // δ, below 1; may be 0
}

// TulapMeasurement is a released count: the noisy value, its noise, and the loss.
type TulapMeasurement struct {
	Value   *big.Rat        // the noisy count, a multiple of 2⁻⁶⁴
	Noise   noise.Tulap     // the distribution of the noise before it is rounded down to 64 binary digits
	Epsilon privacy.Epsilon // Epsilon and Delta are the loss
	Delta   privacy.Delta
	Loss    privacy.Loss // the loss for an accountant: pure if Delta is 0, otherwise approximate zCDP
}

// Measure releases x with noise. An error is ErrParameter, and depends on the parameters alone.
func (m Tulap) Measure(x Exact) (TulapMeasurement, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.measure(source, x)
}

func (m Tulap) measure(src *entropy.Source, x Exact) (TulapMeasurement, error) {
	if err := parameter.Epsilon(m.Epsilon); err != nil {
		return TulapMeasurement{}, err
	}
	dist, err := noise.NewTulap(m.Epsilon.Rat(), m.Delta.Rat())
	if err != nil {
		return TulapMeasurement{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	z := sample.NewTulap(m.Epsilon.Rat(), m.Delta.Rat()).Draw(src, new(big.Int))
	unit := new(big.Int).Lsh(big.NewInt(1), 64)
	z.Add(z, new(big.Int).Mul(opaque.Open(x), unit))
	return TulapMeasurement{
		new(big.Rat).SetFrac(z, unit), dist, m.Epsilon, m.Delta,
		approximateLoss(m.Epsilon, m.Delta),
	}, nil
}

// approximateLoss returns the loss of any (e, d)-differentially private mechanism: pure e if d is 0, otherwise
// (ε²/2, d) in approximate zCDP.
//
// Proof of the second case: let P and Q be the output distributions on neighbours. One randomised function maps a
// canonical pair of distributions to P and Q. The canonical distributions are mixtures. With weight d they draw
// from two distributions with disjoint supports. With weight 1 − d they draw from the two distributions of an
// ε-randomised response [Kairouz, Oh & Viswanath 2015, the dominating mechanism of section 3]. The function keeps
// the mixture weights. It also keeps the ε-indistinguishability of the second components, which implies (ε²/2)-zCDP
// [Bun & Steinke 2016, Proposition 1.4].
func approximateLoss(e privacy.Epsilon, d privacy.Delta) privacy.Loss {
	if d.IsZero() {
		return privacy.PureLoss(e)
	}
	return privacy.ZCDPLoss(e.Rho(), d)
}
