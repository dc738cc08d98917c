package stream

import (
	"fmt"
	"math/big"

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
// cell. Let C be the lower triangular Toeplitz matrix R̃ of [CountingFactorization], whose entries are integers that
// are never negative. For each cell and period, the mechanism releases y_t = (Cx)_t + z_t, where the z_t are
// independent discrete Gaussian noise with σ² = Δ²/(2ρ), and Δ² is L2Squared.
//
// Claim: the releases of all periods together are Rho-zCDP, for neighbouring histories, even if later versions depend
// on earlier releases. Neighbouring histories differ in the rows of one unit, in all versions.
//
// Proof: the tally counts each row of a unit in one period and one cell, and at most Rows rows of a unit over the whole
// horizon. Which rows count is a function of the history of that unit's own rows (Advance has the argument). So the
// histories' x differ by a vector d that is the sum of at most Rows unit vectors e_{t,g}, one for each row that
// counts: the contribution of the unit that only one of them has. The release of e_{t,g} moves Cx by the column c_t,
// in cell g. By the triangle inequality, ‖Cd‖₂ ≤ Rows·max_t ‖c_t‖₂. Equality holds if all rows arrive in the period
// with the longest column. C is lower triangular and Toeplitz, so this is the first column. If one unit is replaced
// by another (change-one neighbours), d = a − b for two such vectors. No entry of C, a or b is negative, so the inner
// product of Ca and Cb is at least 0. Hence ‖Ca − Cb‖² ≤ ‖Ca‖² + ‖Cb‖² ≤ 2·Rows²·‖c_1‖². L2Squared is this bound for
// each relation. The vectors are integers, so mechanism.Gaussian's theorem applies to the releases together.
// If later versions depend on earlier releases, each y_t is measured in turn, at the loss Σ_g (Cd)²_{t,g}/(2σ²). Before
// y_t is measured, d is fixed up to period t, and (Cd)_t depends on no later period. For every outcome these losses
// add up to at most ρ, so privacy.Filter's theorem applies. ∎
type Continual struct {
	Periods    int                // the number of periods; from 1 to MaxPeriods
	Cells      int                // the number of cells; at least 1
	Rows       int64              // the most rows of one unit that count over the whole horizon; at least 1
	Neighbours privacy.Neighbours // the relation between histories
	Rho        privacy.Rho        // the loss of the whole horizon
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
	case m.Neighbours != privacy.AddRemove && m.Neighbours != privacy.ChangeOne:
		return fmt.Errorf("%w: the neighbouring relation is not known", mechanism.ErrParameter)
	}
	return nil
}

// column returns the first column of C.
func (m Continual) column() []int64 { return rootColumn(m.Periods) }

// L2Squared returns the squared L2 sensitivity of all releases together: see [Continual]. The parameters must be valid.
func (m Continual) L2Squared() *big.Int {
	out := new(big.Int).Mul(big.NewInt(m.Rows), big.NewInt(m.Rows))
	out.Mul(out, squaredNorm(m.column()))
	if m.Neighbours != privacy.AddRemove {
		out.Lsh(out, 1)
	}
	return out
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
