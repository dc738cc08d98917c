package quantile

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/privacy"
)

// Approximate releases several quantiles by recursion [Kaplan, Schnapp & Stemmer 2022]: the exponential mechanism draws
// one in the middle, which cuts the data in two, then the middle ones of both parts, and so on. For k ranks there are
// at most L = ⌊log₂ k⌋ + 1 levels, each of which reads the data twice. The ranks alone decide the order of the
// cuts and their shares of ε, to minimise the error (see cutOrder).
//
// A part is a range of the domain. Rows in its inside belong to it; a row at a cut belongs half to either side, and
// where cuts meet half of a half and so on, so that over the parts of one level every row's shares are public functions
// of its value and add up to 1. A and B of Single count shares, and the rank that is sought in a part is the one that
// divides its own rows as the ranks at its ends are divided: q′ = (q − q_low)/(q_high − q_low).
//
// All is ε-differentially private, where the shares of ε on each path down the tree of cuts add up to no more than
// ε. Proof: let the cut of a part s be drawn with ε_s, and let ℓ(s) be the largest sum of ε_s and of those of the
// cuts that follow in one of its parts, and in one of that part's, and so on. A row more with a share w of s moves that
// part's d by at most w·max(q′, 1 − q′), as in Single. The part has the rate c = ε_s/(2Δ), Δ = m·max(q′, 1
// − q′), so the row's cut in s loses at most (w/m)·ε_s. What follows in the two parts loses at most (w/m)·ℓ(s)
// with that, by induction: the row's shares w₁ and w₂ of the two add up to w, and ε_s·w + ℓ(s₁)·w₁ +
// ℓ(s₂)·w₂ ≤ (ε_s + max(ℓ(s₁), ℓ(s₂)))·w. These bound the ratios of the chances of each cut, given
// the cuts before, for every outcome of those; so the ratio of the chances of all cuts is at most the product, and the
// loss of a unit, which has up to m rows, is at most ℓ of the whole domain, which is ε.
//
// Under ChangeOne rows that leave and rows that come may be in different parts, so there Δ = 2m·max(q′, 1 −
// q′), and each of up to 2m rows loses at most ℓ/(2m). But in the whole domain, and in a part as long as each level
// before it had a single one, Δ is m (see Single, whose r and s are then shares): such a level loses at most its ε_s,
// and what follows the last of them ℓ of the parts there. ∎
//
// Each draw has a bounded range of its loss. So all of it is ρ-zCDP, where ρ is the largest sum of ε_s²/8 on a
// path: if a unit has the shares w_i/m of the parts of a level, then Σ(w_i/m)² ≤ (Σw_i/m)², and the induction is
// as above for the moments exp((α − 1)·D_α), which multiply.
//
// It is for values that rarely repeat. If many rows share a value, the halves of a cut there do not fit the ranks of
// the parts, and outputs may be far off at any ε (see RankError). Independent does not have this problem.
type Approximate struct {
	Domain
	mechanism.Unit
	// increasing, from 0 (the least value) to 1 (the greatest), with a common denominator of at most 10,000; at most
	// 255
	Ranks   []*big.Rat
	Epsilon privacy.Epsilon
	Squares bool // choose the shares for BoundedRange, which adds up in squares, instead of Epsilon
}

// section is a part of the domain, from low to high, with the cut to be made in it. at is the cut's rank; from and to
// are the ranks at the ends.
type section struct {
	low, high           int64
	lowShare, highShare int64 // the share of a row at an end that belongs to it, in parts of 2ᴸ
	cut                 *cut  // nil: none
	at, from, to        int64
	alone               bool // in its level, and so are those before it
}

func (m Approximate) check() (targets, error) {
	return checkQuantiles(m.Domain, m.Unit, m.Epsilon, m.Ranks)
}

// order is that of the cuts.
func (m Approximate) order(t targets) *cut { return orderCuts(t, m.Squares) }

// Shares are the shares of Epsilon for drawing the ranks; nil if Release refuses the parameters. On each path of the
// tree of cuts they add up to at most 1.
func (m Approximate) Shares() []*big.Rat {
	t, err := m.check()
	if err != nil {
		return nil
	}
	out := make([]*big.Rat, len(m.Ranks))
	var put func(c *cut)
	put = func(c *cut) {
		if c != nil {
			out[c.rank] = big.NewRat(c.share, c.of)
			put(c.left)
			put(c.right)
		}
	}
	put(m.order(t))
	return out
}

// whole is the share of a row that lies inside a section: with at most 255 ranks, at most 2⁸.
func (m Approximate) whole() int64 { return 1 << bits.Len(uint(len(m.Ranks))) }

// delta is Δ of a section.
func delta(u mechanism.Unit, s section) *big.Rat {
	if u.Neighbours == privacy.ChangeOne && s.alone {
		return big.NewRat(u.MaxRows, 1)
	}
	wider := big.NewRat(max(s.at-s.from, s.to-s.at), s.to-s.from)
	return wider.Mul(wider, big.NewRat(steps(u), 1))
}

// Release draws the quantiles, in increasing order. The error is ErrParameter, or the scan's.
func (m Approximate) Release(data mechanism.Ordered) (OrderStatistics, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(source, data)
}

func (m Approximate) release(src *entropy.Source, data mechanism.Ordered) (OrderStatistics, error) {
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
			out.Values[s.cut.rank] = cuts[i]
		}
		sections = m.parts(target, sections, cuts)
	}
	return out, nil
}

// stage draws a level.
func (m Approximate) stage(level []section) stage {
	st := stage{domain: m.Domain, sections: level, whole: m.whole()}
	for _, s := range level {
		st.rates = append(st.rates, rateOf(m.Epsilon.Share(s.cut.share, s.cut.of), delta(m.Unit, s)))
	}
	return st
}

// root is the whole domain, with all cuts.
func (m Approximate) root(t targets) section {
	return section{
		low: m.Lower, high: m.Upper, lowShare: m.whole(), highShare: m.whole(), to: t.den,
		alone: true,
	}.with(t, m.order(t))
}

// with is the section with a cut to make.
func (s section) with(t targets, c *cut) section {
	if s.cut = c; c != nil {
		s.at = t.at[c.rank]
	}
	return s
}

// share is the share of a row with a value that belongs to the section.
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
func (m Approximate) split(t targets, s section, v int64) (left, right section) {
	half := s.share(v, m.whole()) / 2
	left, right = s, s
	left.high, left.highShare, left.to = v, half, s.at
	right.low, right.lowShare, right.from = v, half, s.at
	if left.low == v {
		left.lowShare = half
	}
	if right.high == v {
		right.highShare = half
	}
	return left.with(t, s.cut.left), right.with(t, s.cut.right)
}

// parts cuts each section of a level, and keeps the parts in which there is a cut to make.
func (m Approximate) parts(t targets, level []section, cuts []int64) (next []section) {
	for i, s := range level {
		left, right := m.split(t, s, cuts[i])
		for _, part := range []section{left, right} {
			if part.cut != nil {
				next = append(next, part)
			}
		}
	}
	for i := range next {
		next[i].alone = len(next) == 1 && next[i].alone
	}
	return next
}

// BoundedRange is the loss as zCDP: the largest sum of ε_s²/8 on a path of the tree of cuts [Cesar & Rogers 2021, for
// each]. If Release refuses the parameters it is ε²/8, which is larger.
func (m Approximate) BoundedRange() privacy.Loss {
	rho := m.Epsilon.BoundedRange()
	if t, err := m.check(); err == nil {
		root := m.order(t)
		rho = rho.Share(root.squares(), root.of*root.of)
	}
	return privacy.ZCDPLoss(rho, privacy.Delta{})
}
