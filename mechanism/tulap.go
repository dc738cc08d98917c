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

// Tulap is the mechanism for one count of sensitivity 1 whose noise is the truncated-uniform-Laplace distribution, from
// which the most powerful tests of a proportion are derived [Awan & Slavković 2018].
//
// It is (Epsilon, Delta)-differentially private, and pure at a Delta of 0. Proof: the density f of the noise N is
// c·b^|m| where the integer nearest to the noise is m, b = e^(−ε), up to a bound |N| ≤ t, and 0 beyond (see
// noise.Tulap). Adding 1 to x changes |m| by 1, so that f(y − x) ≤ e^ε·f(y − x′) wherever f(y − x′) > 0.
// So for every event S, P(S|x) − e^ε·P(S|x′) is at most the probability, under x, of what is impossible under
// x′, which is P(N < −t + 1) for x′ = x + 1 and by symmetry for x − 1. With F the distribution function before
// the conditioning, F(−t) = q/2 and F(1 − t) = e^ε·F(−t), since t ≥ ½: hence it is (e^ε − 1)(q/2)/(1 −
// q), and this is δ for q = 2δb/(1 − b + 2δb). Here t ≥ ½ since (q/2)(1 + b)/b = δ(1 + b)/(1 − b + 2δb) ≤
// 1, so q/2 ≤ F(−½) = b/(1 + b). Releasing 64 binary digits of the fraction, rounded down, is post-processing. The
// noise is sampled exactly. ∎
type Tulap struct {
	Epsilon privacy.Epsilon // above 0
	Delta   privacy.Delta   // below 1
}

// TulapMeasurement is a released count: the noisy value, its noise, and the loss.
type TulapMeasurement struct {
	Value   *big.Rat        // a multiple of 2⁻⁶⁴
	Noise   noise.Tulap     // its noise, of which Value has 64 binary digits
	Epsilon privacy.Epsilon // the loss is (Epsilon, Delta)
	Delta   privacy.Delta
	Loss    privacy.Loss // the same for an accountant: pure at a Delta of 0, else by approximate zCDP
}

// Measure releases x with noise. The error is ErrParameter, and depends on the parameters alone.
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

// approximateLoss is the loss of an (e, d)-differentially private mechanism: pure where d is 0, else (ε²/2, d) of
// approximate zCDP.
//
// Proof: the output distributions on neighbours are those of one randomized function of a pair of canonical ones, which
// are mixtures: with weight d of two of disjoint supports, and with 1 − d of the pair of an ε-randomized response
// [Kairouz, Oh & Viswanath 2015, the dominating mechanism of section 3]. The function keeps the weights of the
// mixtures, and the ε-indistinguishability of the second parts, which is (ε²/2)-zCDP [Bun & Steinke 2016,
// Proposition 1.4].
func approximateLoss(e privacy.Epsilon, d privacy.Delta) privacy.Loss {
	if d.IsZero() {
		return privacy.PureLoss(e)
	}
	return privacy.ZCDPLoss(e.Rho(), d)
}
