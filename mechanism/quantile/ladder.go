package quantile

import (
	"math/big"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/privacy"
)

// Ladder releases k quantiles with an interval around each. Approximate draws the values with ε·3/10. The half-width of
// each interval is then drawn from a public ladder with an equal part of the rest (see halfWidths).
//
// Claim: Ladder is Epsilon-differentially private. Proof: Approximate is (3ε/10)-differentially private, and each
// half-width is (7ε/(10k))-differentially private, whatever the values are. The losses of draws that depend on earlier
// releases add up [Dwork & Roth 2014, Theorem 3.16]. ∎ Under zCDP the losses of their bounded ranges add up.
//
// Claim: each interval contains its quantile with probability at least 1 − LadderMiss, for all data. Proof: see
// halfWidths, whose claim holds for every value. So ties, which may mislead Approximate, make intervals wide but not
// wrong. ∎
//
// The division: for one quantile of dense values, the value's mean error is 2Δ/(3ε/10) rows, and the mean half-width
// about three times as large. An even division would make the value better and the interval wider.
type Ladder struct {
	Domain
	mechanism.Unit
	// increasing, from 0 (the least value) to 1 (the greatest), with a common denominator of at most 10,000; at
	// most 255 ranks
	Ranks   []*big.Rat
	Epsilon privacy.Epsilon
	Squares bool // as for Approximate
}

// LadderConfidence is the confidence of each interval of Ladder, and LadderMiss the probability with which the interval
// may miss. They are fixed, because a release must not depend on a confidence that is requested later.
const LadderConfidence = "0.95"

func ladderMiss() *big.Rat { return big.NewRat(1, 20) }

// values returns the mechanism of the values.
func (m Ladder) values() Approximate {
	return Approximate{m.Domain, m.Unit, m.Ranks, m.Epsilon.Share(3, 10), m.Squares}
}

// eachWidth returns the ε of each half-width.
func (m Ladder) eachWidth() privacy.Epsilon {
	return m.Epsilon.Share(7, 10*int64(max(1, len(m.Ranks))))
}

// widths returns the draws of the half-widths, one for each rank. The error is ErrParameter.
func (m Ladder) widths() (out []halfWidths, err error) {
	if _, err := m.values().check(); err != nil {
		return nil, err
	}
	for _, q := range m.Ranks {
		w, err := newHalfWidths(m.Domain, q, Cells{Unit: m.Unit, Cells: 1}.Sensitivity(q), m.eachWidth(), ladderMiss())
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// Release draws the quantiles, in increasing order, and then their half-widths. Value i of the release is a quantile,
// and value k + i its half-width: the interval is the part of [value − half-width, value + half-width] that is in the
// domain. The error is ErrParameter or comes from the scan.
func (m Ladder) Release(data mechanism.Ordered) (OrderStatistics, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(source, data)
}

func (m Ladder) release(src *entropy.Source, data mechanism.Ordered) (OrderStatistics, error) {
	widths, err := m.widths()
	if err != nil {
		return OrderStatistics{}, err
	}
	out, err := m.values().release(src, data)
	if err != nil {
		return OrderStatistics{}, err
	}
	var around []surroundings
	for i, v := range out.Values {
		around = append(around, widths[i].around(v))
	}
	if _, err := each(data, m.Domain, func(value, count int64) {
		for i := range around {
			around[i].visit(value, count)
		}
	}); err != nil {
		return OrderStatistics{}, err
	}
	for i := range around {
		out.Values = append(out.Values, around[i].draw(src))
	}
	out.Loss = privacy.PureLoss(m.Epsilon)
	return out, nil
}

// BoundedRange returns the loss under zCDP: that of Approximate, and ε²/8 for each half-width of ε.
func (m Ladder) BoundedRange() privacy.Loss {
	widths := m.eachWidth().BoundedRange().Times(int64(len(m.Ranks)))
	return m.values().BoundedRange().Plus(privacy.ZCDPLoss(widths, privacy.Delta{}))
}

// RankError returns the bound of Approximate for the values, with its condition. It refuses all parameters that Release
// refuses.
func (m Ladder) RankError(beta float64) (float64, error) {
	if _, err := m.widths(); err != nil {
		return 0, err
	}
	return m.values().RankError(beta)
}
