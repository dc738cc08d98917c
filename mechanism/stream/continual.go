package stream

import (
	"fmt"

	"dither/mechanism"
	"dither/noise"
	"dither/privacy"
)

// Continual releases the number of rows that arrive in each period of a horizon, in each of a fixed number of cells
// (groups), under one loss for the whole horizon. Running totals, windows and the counts of periods are
// post-processing of its releases: see [Continual.Estimates].
//
// A history is a sequence of sealed versions of a table. A private tally ([Continual.Advance]) decides which rows
// count, and in which period. It is read and written for each unit alone. Let x be the exact counts, by period and
// cell. Let C be the Factor, a lower triangular matrix of integers that is fixed before the first release. For each
// cell and period, the mechanism releases y_t = (Cx)_t + z_t, where the z_t are independent discrete Gaussian noise with
// σ² = Δ²/(2ρ), and Δ² is L2Squared.
//
// Claim: the releases of all periods together are Rho-zCDP, for neighbouring histories, even if later versions depend
// on earlier releases. Neighbouring histories differ in the rows of one unit, in all versions.
//
// Proof: the tally counts each row of a unit in one period and one cell, at most PerPeriod rows of a unit in a period,
// and at most Rows over the whole horizon. Which rows count is a function of the history of that unit's own rows
// (Advance has the argument). So the histories' Cx differ by a vector Cd, and ‖Cd‖₂² is at most L2Squared, which has
// the proof. The vectors are integers, so mechanism.Gaussian's theorem applies to the releases together. If later
// versions depend on earlier releases, each y_t is measured in turn, at the loss Σ_g (Cd)²_{t,g}/(2σ²). Before y_t is
// measured, d is fixed up to period t, and (Cd)_t depends on no later period. For every outcome these losses add up to
// at most ρ, so privacy.Filter's theorem applies. ∎
type Continual struct {
	Periods    int                // the number of periods; from 1 to MaxPeriods
	Cells      int                // the number of cells; at least 1
	Rows       int64              // the most rows of one unit that count over the whole horizon; at least 1
	PerPeriod  int64              // the most rows of one unit that count in one period; 0 means Rows
	Neighbours privacy.Neighbours // the relation between histories
	Rho        privacy.Rho        // the loss of the whole horizon
	Factor     *Factor            // C, with Periods rows; nil means the matrix R̃ of [CountingFactorization]
}

// MaxPeriods limits the periods of Continual. Computing estimates takes time that grows with their square.
const MaxPeriods = 1 << 12

// MaxContinualCells limits the cells of Continual.
const MaxContinualCells = 1 << 12

// valid returns ErrParameter if the parameters give no privacy.
func (m Continual) valid() error {
	switch {
	case m.Periods < 1 || m.Periods > MaxPeriods:
		return fmt.Errorf("%w: the number of periods must be from 1 to %d, not %d",
			mechanism.ErrParameter, MaxPeriods, m.Periods)
	case m.Cells < 1 || m.Cells > MaxContinualCells:
		return fmt.Errorf("%w: the number of groups must be from 1 to %d, not %d",
			mechanism.ErrParameter, MaxContinualCells, m.Cells)
	case m.Rows < 1 || m.Rows > 1<<32:
		return fmt.Errorf("%w: the number of rows of a unit must be from 1 to 2^32", mechanism.ErrParameter)
	case m.PerPeriod < 0:
		return fmt.Errorf("%w: the number of rows of a unit in a period must be at least 1", mechanism.ErrParameter)
	case m.Factor != nil && m.Factor.Periods() != m.Periods:
		return fmt.Errorf("%w: a factor of %d rows for %d periods", mechanism.ErrParameter, m.Factor.Periods(), m.Periods)
	case m.Neighbours != privacy.AddRemove && m.Neighbours != privacy.ChangeOne:
		return fmt.Errorf("%w: the neighbouring relation is not known", mechanism.ErrParameter)
	}
	return nil
}

// factor returns C. No entry of R̃ is negative, and its first column is the longest. For MaxPeriods periods its squared
// norm is below 2⁶².
func (m Continual) factor() *Factor {
	if m.Factor != nil {
		return m.Factor
	}
	column := rootColumn(m.Periods)
	return &Factor{column: column, positive: true, longest: squaredNorm(column).Int64()}
}

// Noise returns the distribution of each z_t. It returns ErrParameter if the parameters give no privacy, or if the noise
// would be too large to draw.
func (m Continual) Noise() (noise.DiscreteGaussian, error) {
	if err := m.valid(); err != nil {
		return noise.DiscreteGaussian{}, err
	}
	return gaussianFor(m.L2Squared(), m.Rho)
}

// Loss returns the loss of the whole horizon.
func (m Continual) Loss() privacy.Loss { return privacy.ZCDPLoss(m.Rho, privacy.Delta{}) }
