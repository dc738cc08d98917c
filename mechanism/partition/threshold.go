package partition

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// Threshold drops noisy values of partitions (the keys of a GROUP BY that are not public), so that each remaining value
// can be released with its key. It drops values not above τ. τ is an integer at which a partition that one unit alone
// makes is released with probability at most Delta/Keys: the least such integer, up to the rounding of a quantile, if
// Delta/Keys is below ½ and MinUnits at most 1. From ½ on it is as at ½, and a smaller one would suffice.
//
// It costs Delta beside the noise's own loss: where the noise is ε-differentially private (ρ-zCDP) on the values of a
// fixed list of partitions, the release is (ε, Delta)-differentially private (Delta-approximately ρ-zCDP), for
// neighbours that are alike but for one unit of each, if any, and either of add-remove and change-one. Proof: let D and
// D′ be neighbours, C the partitions that both have, and M the mechanism on the values of C alone, dropping what is
// not above τ, which is post-processing. Of D's partitions that D′ lacks there are at most Keys, each with the
// contribution of D's one unit alone, at most MaxPerCell, and with independent noise: with a probability 1 − η, η
// ≤ 1 − (1 − Delta/Keys)^Keys ≤ Delta, none of them is released, and then D's output is M(D). So D's output is
// the mixture (1 − η)·M(D) + η·P″, and hence one with Delta in place of η, (1 − Delta)·M(D) + Delta·P‴;
// and likewise that of D′. M(D) and M(D′) are within the noise's loss of each other. That is approximate zCDP by
// definition [Bun & Steinke 2016, Definition 8.1], and with ε-indistinguishable parts, P(S) ≤ (1 −
// Delta)·e^ε·M(D′)(S) + Delta ≤ e^ε·Q(S) + Delta. ∎
//
// Delta is not doubled where one unit is changed: each side drops its own. The noise's sensitivity is: it is that of
// the values of C. What is released is the keys and values that are not dropped, in the order of those keys, and no
// trace of the others.
type Threshold struct {
	// MaxPerCell is the most that one unit contributes to the value of one partition: 1 if values are numbers of units.
	// At least 1.
	MaxPerCell *big.Int
	// Keys is the most partitions in which a unit may be: at least 1.
	Keys int64
	// Delta is that of the release: above 0 and below 1.
	Delta privacy.Delta
	// MinUnits raises τ by (MinUnits − 1)·MaxPerCell, so that a partition of no more than MinUnits units is released
	// with a probability of at most Delta/Keys. 0 and 1 do not.
	MinUnits int64
}

// errNarrow is of a sensitivity that one partition's contribution is beyond: one of the two is not what it is said to
// be.
func errNarrow() error {
	return fmt.Errorf("%w: one unit contributes more to a partition than the sensitivity of all of them",
		mechanism.ErrParameter)
}

// at is τ for a noise: P(c + X > τ) ≤ Delta/Keys, where c = MaxPerCell. X is symmetric, so that P(X > k) = P(|X| >
// k)/2 for k ≥ 0, and the quantile's promise is certified.
func (m Threshold) at(dist noise.Distribution) (*big.Int, error) {
	switch {
	case m.MaxPerCell == nil || m.MaxPerCell.Sign() <= 0:
		return nil, fmt.Errorf("%w: a threshold needs the most that a unit contributes to a partition, above 0",
			mechanism.ErrParameter)
	case m.Keys < 1:
		return nil, fmt.Errorf("%w: a threshold needs the number of keys of a unit, at least 1", mechanism.ErrParameter)
	case m.MinUnits < 0:
		return nil, fmt.Errorf("%w: a least number of units below 0", mechanism.ErrParameter)
	case m.Delta.IsZero() || m.Delta.Rat().Cmp(big.NewRat(1, 1)) >= 0:
		return nil, fmt.Errorf("%w: a threshold needs a delta above 0 and below 1", mechanism.ErrParameter)
	case m.Delta.Rat().Denom().BitLen() > parameter.MaxDeltaBits:
		return nil, fmt.Errorf("%w: delta is too small, or too long a fraction", mechanism.ErrParameter)
	}
	twice := m.Delta.Share(1, m.Keys).Rat()
	k := dist.Quantile(exact.FloatDown(twice.Add(twice, twice)))
	if k == nil {
		return nil, fmt.Errorf("%w: delta is too small", mechanism.ErrParameter)
	}
	units := big.NewInt(max(m.MinUnits, 1))
	return k.Add(k, units.Mul(units, m.MaxPerCell)), nil
}

// ThresholdRelease is the release of a thresholded mechanism.
type ThresholdRelease struct {
	Kept      []Kept   // in byte order of the keys
	Threshold *big.Int // τ

	// Noise is what each value got before it met the threshold. Given that a value is released, its noise is another:
	// it is above τ less the exact value, so not of mean 0, and of no symmetry. An interval of Noise.Quantile about a
	// released value holds the exact one with a probability that may be anything, down to 0: for an exact 4 and τ = 7
	// whatever is released is more than 3 away.
	Noise noise.Distribution
	Loss  privacy.Loss
}

// ThresholdLaplace is Laplace on the values of partitions that are not public, of which those above a threshold are
// released. It is (Laplace.Epsilon, Threshold.Delta)-differentially private.
//
// Sensitivity is the L1 sensitivity of the values of all partitions together: Keys·MaxPerCell where a unit is added or
// removed, and twice that where one is changed.
type ThresholdLaplace struct {
	mechanism.Laplace
	Threshold
}

// At is τ; or ErrParameter.
func (m ThresholdLaplace) At() (*big.Int, error) {
	_, dist, err := m.noisy()
	if err != nil {
		return nil, err
	}
	return m.at(dist)
}

func (m ThresholdLaplace) noisy() (sample.Sampler, noise.Distribution, error) {
	scale, err := m.Scale()
	if err != nil {
		return nil, nil, err
	}
	if m.MaxPerCell != nil && m.MaxPerCell.Cmp(m.Sensitivity) > 0 {
		return nil, nil, errNarrow()
	}
	dist, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	return sample.NewLaplace(scale), dist, nil
}

// Measure releases the values, with noise, and the keys of those partitions that are above the threshold with it. The
// error is ErrParameter, and a function of the parameters alone, or ErrKeys.
func (m ThresholdLaplace) Measure(x []mechanism.Partition) (ThresholdRelease, error) {
	noisy, dist, err := m.noisy()
	if err != nil {
		return ThresholdRelease{}, err
	}
	return m.release(x, noisy, dist, privacy.ZCDPLoss(m.Epsilon.Rho(), m.Delta))
}

// ThresholdGaussian is Gaussian on the values of partitions that are not public, of which those above a threshold are
// released. It is Threshold.Delta-approximately Gaussian.Rho-zCDP.
//
// L2Squared is the squared L2 sensitivity of the values of all partitions together: Keys·MaxPerCell² where a unit is
// added or removed. Where one is changed it is up to 4·Keys·MaxPerCell², and 2·Keys·MaxPerCell² if no
// contribution is negative.
type ThresholdGaussian struct {
	mechanism.Gaussian
	Threshold
}

// At is τ; or ErrParameter.
func (m ThresholdGaussian) At() (*big.Int, error) {
	_, dist, err := m.noisy()
	if err != nil {
		return nil, err
	}
	return m.at(dist)
}

func (m ThresholdGaussian) noisy() (sample.Sampler, noise.Distribution, error) {
	sigma2, err := m.Sigma2()
	if err != nil {
		return nil, nil, err
	}
	if m.MaxPerCell != nil && new(big.Int).Mul(m.MaxPerCell, m.MaxPerCell).Cmp(m.L2Squared) > 0 {
		return nil, nil, errNarrow()
	}
	dist, err := noise.NewDiscreteGaussian(sigma2)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	return sample.NewGaussian(sigma2), dist, nil
}

// Measure releases the values, with noise, and the keys of those partitions that are above the threshold with it. The
// error is ErrParameter, and a function of the parameters alone, or ErrKeys.
func (m ThresholdGaussian) Measure(x []mechanism.Partition) (ThresholdRelease, error) {
	noisy, dist, err := m.noisy()
	if err != nil {
		return ThresholdRelease{}, err
	}
	return m.release(x, noisy, dist, privacy.ZCDPLoss(m.Rho, m.Delta))
}

// release adds noise to each value, and keeps what is above τ.
func (m Threshold) release(
	x []mechanism.Partition, noisy sample.Sampler, dist noise.Distribution, loss privacy.Loss,
) (ThresholdRelease, error) {
	threshold, err := m.at(dist)
	if err != nil {
		return ThresholdRelease{}, err
	}
	sorted, err := byKey(x)
	if err != nil {
		return ThresholdRelease{}, err
	}
	source := entropy.System()
	defer source.Wipe()
	out := ThresholdRelease{Threshold: threshold, Noise: dist, Loss: loss}
	for _, p := range sorted {
		z := noisy.Draw(source, new(big.Int))
		if z.Add(z, opaque.Open(p.Exact)).Cmp(threshold) > 0 {
			out.Kept = append(out.Kept, Kept{opaque.Key(p), z})
		}
	}
	return out, nil
}
