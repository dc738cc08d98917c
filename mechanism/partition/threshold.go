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

// Threshold drops the noisy value of a partition if it is not above τ, so that each remaining value can be released
// with its key. (A partition is a key of a GROUP BY whose keys are not public.) τ is an integer. A partition that
// consists of one unit alone exceeds it with probability at most Delta/Keys. If Delta/Keys is below ½ and MinUnits
// is at most 1, τ is the least such integer, up to the rounding of a quantile. If Delta/Keys is ½ or more, τ has
// the value for ½, although a smaller one would suffice.
//
// Claim: Threshold adds Delta to the loss of the noise. Suppose that the noise is ε-differentially private (or
// ρ-zCDP) on the values of a fixed list of partitions. Then the release is (ε, Delta)-differentially private (or
// Delta-approximately ρ-zCDP). This holds for add-remove and for change-one neighbours, which differ in at most one
// unit of each dataset.
//
// Proof: let D and D′ be neighbours, and let C be the partitions that both have. Let M be the mechanism on the
// values of C alone. M drops the values that are not above τ, which is post-processing. D has at most Keys
// partitions that D′ lacks. Each of them has only the contribution of D's one unit, at most MaxPerCell, and
// independent noise. With a probability 1 − η, where η ≤ 1 − (1 − Delta/Keys)^Keys ≤ Delta, none of them is
// released, and then D's output is M(D). So D's output is the mixture (1 − η)·M(D) + η·P″. It is therefore also a
// mixture with Delta in place of η, (1 − Delta)·M(D) + Delta·P‴. The same holds for D′. M(D) and M(D′) are within
// the noise's loss of each other. That is approximate zCDP by definition [Bun & Steinke 2016, Definition 8.1]. If
// the components are ε-indistinguishable, then P(S) ≤ (1 − Delta)·e^ε·M(D′)(S) + Delta ≤ e^ε·Q(S) + Delta, where P
// and Q are the outputs of D and D′. ∎
//
// Changing one unit does not double Delta, because each dataset drops its own partitions. It does double the
// noise's sensitivity, which is that of the values of C. The release has the kept keys and values, in byte order of
// the keys, and no trace of the others.
type Threshold struct {
	// MaxPerCell is the most that one unit contributes to the value of one partition. It is 1 if the values are
	// numbers of units. At least 1.
	MaxPerCell *big.Int
	// Keys is the most partitions in which one unit may be. At least 1.
	Keys int64
	// Delta is the δ of the release: above 0 and below 1.
	Delta privacy.Delta
	// MinUnits raises τ by (MinUnits − 1)·MaxPerCell. A partition of at most MinUnits units is then released with
	// probability at most Delta/Keys. 0 and 1 have no effect.
	MinUnits int64
}

// errNarrow returns the error for a MaxPerCell that exceeds the sensitivity of all partitions together: one of the
// two declarations must be wrong.
func errNarrow() error {
	return fmt.Errorf("%w: the most that one unit contributes to a partition exceeds the sensitivity of all partitions",
		mechanism.ErrParameter)
}

// at returns τ for noise X with the distribution dist: an integer with P(c + X > τ) ≤ Delta/Keys, where c =
// max(MinUnits, 1)·MaxPerCell. X is symmetric, so P(X > k) = P(|X| > k)/2 for k ≥ 0. [noise.Distribution] certifies
// the bound of its Quantile.
func (m Threshold) at(dist noise.Distribution) (*big.Int, error) {
	switch {
	case m.MaxPerCell == nil || m.MaxPerCell.Sign() <= 0:
		return nil, fmt.Errorf("%w: the most that a unit contributes to a partition must be above 0",
			mechanism.ErrParameter)
	case m.Keys < 1:
		return nil, fmt.Errorf("%w: the number of keys of a unit must be at least 1", mechanism.ErrParameter)
	case m.MinUnits < 0:
		return nil, fmt.Errorf("%w: the least number of units must not be negative", mechanism.ErrParameter)
	case m.Delta.IsZero() || m.Delta.Rat().Cmp(big.NewRat(1, 1)) >= 0:
		return nil, fmt.Errorf("%w: a threshold needs a delta above 0 and below 1", mechanism.ErrParameter)
	case m.Delta.Rat().Denom().BitLen() > parameter.MaxDeltaBits:
		return nil, fmt.Errorf("%w: delta is too small, or its fraction is too long", mechanism.ErrParameter)
	}
	twice := m.Delta.Share(1, m.Keys).Rat()
	k := dist.Quantile(exact.FloatDown(twice.Add(twice, twice)))
	if k == nil {
		return nil, fmt.Errorf("%w: delta is too small", mechanism.ErrParameter)
	}
	units := big.NewInt(max(m.MinUnits, 1))
	return k.Add(k, units.Mul(units, m.MaxPerCell)), nil
}

// ThresholdRelease is the release of ThresholdLaplace or ThresholdGaussian.
type ThresholdRelease struct {
	Kept      []Kept   // the kept keys and their noisy values, in byte order of the keys
	Threshold *big.Int // the threshold τ; every released value is above it

	// Noise is the distribution of the noise that was added to each value before the comparison with τ. Given that
	// a value is released, its noise is above τ minus the exact value, so its mean is not 0 and it is not
	// symmetric. An interval of ±Noise.Quantile around a released value may cover the exact value with any
	// probability, even 0. For example, if the exact value is 4 and τ = 7, every released value is more than 3
	// away.
	Noise noise.Distribution
	Loss  privacy.Loss
}

// ThresholdLaplace adds Laplace noise to the values of partitions whose keys are not public, and releases those
// above a threshold. It is (Laplace.Epsilon, Threshold.Delta)-differentially private.
//
// Sensitivity is the L1 sensitivity of the values of all partitions together. It is Keys·MaxPerCell if a unit is
// added or removed, and twice that if a unit is changed.
type ThresholdLaplace struct {
	mechanism.Laplace
	Threshold
}

// At returns τ, the threshold of the noisy values, or ErrParameter.
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

// Measure adds noise to the values, and releases the keys and noisy values above the threshold. The error is
// ErrParameter, which depends on the parameters alone, or ErrKeys.
func (m ThresholdLaplace) Measure(x []mechanism.Partition) (ThresholdRelease, error) {
	noisy, dist, err := m.noisy()
	if err != nil {
		return ThresholdRelease{}, err
	}
	return m.release(x, noisy, dist, privacy.ZCDPLoss(m.Epsilon.Rho(), m.Delta))
}

// ThresholdGaussian adds Gaussian noise to the values of partitions whose keys are not public, and releases those
// above a threshold. It is Threshold.Delta-approximately Gaussian.Rho-zCDP.
//
// L2Squared is the squared L2 sensitivity of the values of all partitions together. It is Keys·MaxPerCell² if a
// unit is added or removed. If a unit is changed it is up to 4·Keys·MaxPerCell², or up to 2·Keys·MaxPerCell² if no
// contribution is negative.
type ThresholdGaussian struct {
	mechanism.Gaussian
	Threshold
}

// At returns τ, the threshold of the noisy values, or ErrParameter.
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

// Measure adds noise to the values, and releases the keys and noisy values above the threshold. The error is
// ErrParameter, which depends on the parameters alone, or ErrKeys.
func (m ThresholdGaussian) Measure(x []mechanism.Partition) (ThresholdRelease, error) {
	noisy, dist, err := m.noisy()
	if err != nil {
		return ThresholdRelease{}, err
	}
	return m.release(x, noisy, dist, privacy.ZCDPLoss(m.Rho, m.Delta))
}

// release adds noise to each value of x, and keeps the sums above τ.
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
