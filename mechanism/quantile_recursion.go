package mechanism

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
	"dither/privacy"
)

// ApproximateQuantiles releases several quantiles by recursion [Kaplan, Schnapp & Stemmer 2022]: the middle one by the
// exponential mechanism, which cuts the data in two, then the middle ones of both parts in their parts, and so on. Of k ranks
// there are L = ⌊log₂ k⌋ + 1 levels, each of which has an L-th of ε and reads the data twice.
//
// A part is a range of the domain. Rows in its inside belong to it; a row at a cut belongs half to either side, and where
// cuts meet half of a half and so on, so that over the parts of one level every row's shares are public functions of its
// value and add up to 1. A and B of Quantile count shares, and the rank that is sought in a part is the one that divides its
// own rows as the ranks at its ends are divided: q′ = (q − q_low)/(q_high − q_low).
//
// A level is ε/L-differentially private given the levels above, by parallel composition. Proof: a row more with a share w
// of a part moves that part's d by at most w·max(q′, 1 − q′), as in Quantile. The part has the rate c = (ε/L)/(2Δ), Δ =
// m·max(q′, 1 − q′), so it loses at most w/m of ε/L; the shares of a row add up to 1, and a unit has up to m rows. Under
// ChangeOne rows that leave and rows that come may be in different parts, so there Δ = 2m·max(q′, 1 − q′); in the only part
// of a level it is m (see Quantile, whose r and s are then shares). The levels' losses add up to ε. ∎
//
// A level is also (ε/L)-bounded-range, since the ranges of independent parts add up as their losses do; so all of it is
// ε²/(8L)-zCDP.
//
// It is meant for values that hardly repeat. Where many rows share a value, the halves of a cut there do not fit the ranks
// that the parts are meant for, and outputs may be far off at any ε (see RankError): IndependentQuantiles has no such defect.
type ApproximateQuantiles struct {
	Domain
	Unit
	Ranks   []*big.Rat // rising, from 0 (the least value) to 1 (the greatest), of a common denominator of at most 10,000; at most 255
	Epsilon privacy.Epsilon
}

// section is a part of the domain, from low to high, and the ranks first … last−1 that are sought in it. at is the one in the
// middle, from and to are the ranks at the ends.
type section struct {
	low, high           int64
	lowShare, highShare int64 // what of a row at an end belongs to it, in parts of 2ᴸ
	first, last         int
	at, from, to        int64
}

func (m ApproximateQuantiles) check() (targets, error) {
	return checkQuantiles(m.Domain, m.Unit, m.Epsilon, m.Ranks)
}

func (m ApproximateQuantiles) levels() int { return bits.Len(uint(len(m.Ranks))) }

// each is what a level may lose.
func (m ApproximateQuantiles) each() privacy.Epsilon { return m.Epsilon.Share(1, int64(m.levels())) }

// whole is the share of a row that lies inside a section: with at most 255 ranks, at most 2⁸.
func (m ApproximateQuantiles) whole() int64 { return 1 << m.levels() }

// delta is Δ of a section, which may be the only one of its level.
func (u Unit) delta(s section, only bool) *big.Rat {
	if u.Neighbours == privacy.ChangeOne && only {
		return big.NewRat(u.MaxRows, 1)
	}
	wider := big.NewRat(max(s.at-s.from, s.to-s.at), s.to-s.from)
	return wider.Mul(wider, big.NewRat(u.steps(), 1))
}

// Release draws the quantiles. They do not fall. The error is ErrParameter, or the scan's.
func (m ApproximateQuantiles) Release(data Ordered) (OrderStatistics, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(source, data)
}

func (m ApproximateQuantiles) release(src *entropy.Source, data Ordered) (OrderStatistics, error) {
	target, err := m.check()
	if err != nil {
		return OrderStatistics{}, err
	}
	out := OrderStatistics{Values: make([]int64, len(m.Ranks)), Loss: privacy.PureLoss(m.Epsilon)}
	for sections := []section{m.root(target)}; len(sections) > 0; {
		cuts, err := m.stage(sections).cut(src, data)
		if err != nil {
			return OrderStatistics{}, err
		}
		for i, s := range sections {
			out.Values[s.middle()] = cuts[i]
		}
		sections = m.parts(target, sections, cuts)
	}
	return out, nil
}

// stage draws a level.
func (m ApproximateQuantiles) stage(level []section) stage {
	st := stage{domain: m.Domain, sections: level, whole: m.whole()}
	for _, s := range level {
		st.rates = append(st.rates, rateOf(m.each(), m.delta(s, len(level) == 1)))
	}
	return st
}

// root is the whole domain, with all ranks.
func (m ApproximateQuantiles) root(t targets) section {
	return aim(t, section{low: m.Lower, high: m.Upper, lowShare: m.whole(), highShare: m.whole(), last: len(t.at), to: t.den})
}

// aim sets the rank in the middle, if there is one.
func aim(t targets, s section) section {
	if s.first < s.last {
		s.at = t.at[s.middle()]
	}
	return s
}

// middle is the index of the rank that is sought first.
func (s section) middle() int { return (s.first + s.last) / 2 }

// share is what of a row with a value belongs to the section.
func (s section) share(value, whole int64) int64 {
	switch value {
	case s.low:
		return s.lowShare
	case s.high:
		return s.highShare
	}
	return whole
}

// split cuts a section at a value of it, and gives half of what it has of the rows there to either side.
func (m ApproximateQuantiles) split(t targets, s section, v int64) (left, right section) {
	middle := s.middle()
	half := s.share(v, m.whole()) / 2
	left, right = s, s
	left.high, left.highShare, left.last, left.to = v, half, middle, s.at
	right.low, right.lowShare, right.first, right.from = v, half, middle+1, s.at
	if left.low == v {
		left.lowShare = half
	}
	if right.high == v {
		right.highShare = half
	}
	return aim(t, left), aim(t, right)
}

// parts cuts each section of a level, and keeps the parts in which ranks are left to seek.
func (m ApproximateQuantiles) parts(t targets, level []section, cuts []int64) (next []section) {
	for i, s := range level {
		left, right := m.split(t, s, cuts[i])
		for _, part := range []section{left, right} {
			if part.first < part.last {
				next = append(next, part)
			}
		}
	}
	return next
}

// BoundedRange is the loss as zCDP: ε²/(8L), instead of the ε²/2 of a pure loss [Cesar & Rogers 2021, for each
// level; Bun & Steinke 2016, Lemma 1.7].
func (m ApproximateQuantiles) BoundedRange() privacy.Loss {
	return privacy.ZCDPLoss(m.Epsilon.Rho().Share(1, 4*int64(max(1, m.levels()))), privacy.Delta{})
}
