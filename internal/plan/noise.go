package plan

import (
	"math/big"

	"dither/privacy"
)

// Noise is what is added to each cell of a measure.
type Noise string

// The kinds of noise, by the field's names.
const (
	Laplace  Noise = "discrete laplace"
	Gaussian Noise = "discrete gaussian"
)

// choose takes the noise of least variance that the share of the price pays for. Under a pure ε only Laplace noise has a loss.
// Under ρ, Gaussian noise has variance L2²/(2ρ) a cell; Laplace noise of scale L1/√(2ρ), whose loss ε²/2 is ρ, has 2·L1²/(2ρ),
// and L1 ≥ L2: so it is never the better one.
func (m *Measure) choose() (err error) {
	if e, pure := m.Loss.Pure(); pure {
		m.Noise = Laplace
		m.Parameter, err = privacy.LaplaceScale(m.L1, e)
		return err
	}
	rho, _ := m.Loss.ZCDP()
	m.Noise = Gaussian
	m.Parameter, err = privacy.GaussianSigma2(m.L2Squared, rho)
	return err
}

// bound fixes how far the measure's vector of cells can move between neighbours, in grid units: L1, and the square of L2.
//
// Proof. Let a unit's contribution to the vector be c, the sum of its at most Rows kept rows, each an integer in [Lo, Hi]
// put in one cell. Other units' contributions do not depend on it: which rows and cells a unit keeps is decided by its own
// rows alone. So ‖c‖₂ ≤ ‖c‖₁ ≤ R := Rows·max(|Lo|, |Hi|), both attained with all rows in one cell. For CountUnits c has at most
// Groups ones: ‖c‖₁ ≤ R := Groups, and ‖c‖₂² ≤ Q := Groups; else Q := R².
// Add/remove: the vectors differ by c.
// Change-one: they differ by c − c′, so in L1 by at most ‖c‖₁ + ‖c′‖₁ ≤ 2R, and ‖c − c′‖₂² = ‖c‖₂² + ‖c′‖₂² − 2c·c′, at most 4Q in
// general, and 2Q where contributions have one sign, since then c·c′ ≥ 0. With one cell, c and c′ both lie in
// [Rows·min(Lo, 0), Rows·max(Hi, 0)], so they differ by at most the length of that interval.
// At least 1 is taken: a sum that is 0 by its bounds gets noise all the same.
func (m *Measure) bound(n privacy.Neighbours, caps Caps, grouped bool) {
	times, lo, hi := caps.Rows, min(m.Lo, 0), max(m.Hi, 0)
	if m.Kind == CountUnits {
		times = caps.Groups
	}
	reach := big.NewInt(max(-lo, hi))
	if n == privacy.ChangeOne && !grouped {
		reach = new(big.Int).Add(big.NewInt(hi), big.NewInt(-lo))
	}
	m.L1 = reach.Mul(reach, big.NewInt(times))
	if m.L1.Sign() == 0 {
		m.L1.SetInt64(1)
	}
	if m.Kind == CountUnits {
		m.L2Squared = new(big.Int).Set(m.L1)
	} else {
		m.L2Squared = new(big.Int).Mul(m.L1, m.L1)
	}
	if n == privacy.ChangeOne && grouped {
		m.L1.Lsh(m.L1, 1)
		m.L2Squared.Lsh(m.L2Squared, 1)
		if lo < 0 && hi > 0 {
			m.L2Squared.Lsh(m.L2Squared, 1)
		}
	}
}
