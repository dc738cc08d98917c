package quantile

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/privacy"
)

// Approximate releases several quantiles by recursion [Kaplan, Schnapp & Stemmer 2022]. The exponential mechanism
// draws a middle quantile, which cuts the data in two parts. Then it draws a middle quantile of each part, and so
// on. k ranks take at most L = ⌊log₂ k⌋ + 1 levels, each of which reads the data twice. The ranks alone decide the
// order of the cuts and their shares of ε, so as to minimise the error (see cutOrder).
//
// A part is a range of the domain. A row strictly inside a part belongs to it entirely. A row at a cut belongs half
// to each side. If several cuts coincide, it belongs half of a half, and so on. Given the cuts, a row's shares of
// the parts of one level are public functions of its value, and they add up to 1. A and B of Single count shares.
// The rank that is sought in a part divides its rows as the target rank divides the ranks at its ends: q′ = (q −
// q_low)/(q_high − q_low).
//
// Claim: if the shares of ε on each path down the tree of cuts add up to at most ε, all cuts together are
// ε-differentially private. Proof: let the cut of a part s be drawn with ε_s. Let ℓ(s) be the largest sum of the ε
// of the cuts on a path that starts with s and continues in one of its parts, in one of that part's parts, and so
// on. An additional row with a share w of s changes that part's d by at most w·max(q′, 1 − q′), as in Single. The
// part has the rate c = ε_s/(2Δ), Δ = m·max(q′, 1 − q′). So the row's loss from the cut in s is at most (w/m)·ε_s.
// By induction, the row's loss from s and all later cuts in s is at most (w/m)·ℓ(s): the row's shares w₁ and w₂ of
// the two parts add up to w, and ε_s·w + ℓ(s₁)·w₁ + ℓ(s₂)·w₂ ≤ (ε_s + max(ℓ(s₁), ℓ(s₂)))·w. These inequalities
// bound the ratio of the probabilities of each cut, given the cuts before it, for every outcome of those. So the
// ratio of the probabilities of all cuts is at most the product. A unit has up to m rows, so its loss is at most ℓ
// of the whole domain, which is ε.
//
// Under ChangeOne, rows that leave and rows that come may be in different parts. There Δ = 2m·max(q′, 1 − q′), and
// each of up to 2m rows loses at most ℓ/(2m). There is an exception: Δ = m in the whole domain, and in a part if
// its level and every earlier level has a single part (see Single, whose r and s are then shares). Each such level
// loses at most its ε_s. The cuts after the last such level lose at most ℓ of the parts there. ∎
//
// Each draw is also bounded-range, so all cuts together are ρ-zCDP, where ρ is the largest sum of ε_s²/8 on a path.
// Proof: if a unit has the shares w_i/m of the parts of a level, then Σ(w_i/m)² ≤ (Σw_i/m)². The induction is as
// above, for the moments exp((α − 1)·D_α), which multiply.
//
// Use Approximate for values that rarely repeat. If many rows share a value, the halves of a cut at that value do
// not fit the ranks of the parts, and outputs may be far off at any ε (see RankError). Independent does not have
// this problem.
type Approximate struct {
	Domain
	mechanism.Unit
	// increasing, from 0 (the least value) to 1 (the greatest), with a common denominator of at most 10,000; at
	// most 255 ranks
	Ranks   []*big.Rat
	Epsilon privacy.Epsilon
	Squares bool // choose shares that are best under BoundedRange, whose losses add up in squares, not under Epsilon
}

// section is a part of the domain: the integers in [low, high], with the cut that divides it. The field at is the
// rank of the cut. The fields from and to are the ranks at the part's ends. Ranks are in units of 1/den of targets.
type section struct {
	low, high           int64
	lowShare, highShare int64 // the share of a row at an end that belongs to the section, in units of 1/whole
	cut                 *cut  // nil: the section is not cut
	at, from, to        int64
	alone               bool // this section is the only one of its level, and so are those of all earlier levels
}

func (m Approximate) check() (targets, error) {
	return checkQuantiles(m.Domain, m.Unit, m.Epsilon, m.Ranks)
}

// order returns the tree of cuts: which rank is drawn first, and which ranks in each part.
func (m Approximate) order(t targets) *cut { return orderCuts(t, m.Squares) }

// Shares returns the share of Epsilon that draws each rank, or nil if Release would refuse the parameters. On each
// path down the tree of cuts the shares add up to at most 1.
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

// whole returns the number of units in which the shares of a row are counted: the least power of two above the
// number of ranks, so at most 2⁸. A row strictly inside a section has all units.
func (m Approximate) whole() int64 { return 1 << bits.Len(uint(len(m.Ranks))) }

// delta returns Δ, the most that one unit changes the rank error d in a section, in rows: see [Approximate].
func delta(u mechanism.Unit, s section) *big.Rat {
	if u.Neighbours == privacy.ChangeOne && s.alone {
		return big.NewRat(u.MaxRows, 1)
	}
	wider := big.NewRat(max(s.at-s.from, s.to-s.at), s.to-s.from)
	return wider.Mul(wider, big.NewRat(steps(u), 1))
}

// Release draws the quantiles, in increasing order. The error is ErrParameter or comes from the scan.
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

// stage returns the draws of one level of the recursion.
func (m Approximate) stage(level []section) stage {
	st := stage{domain: m.Domain, sections: level, whole: m.whole()}
	for _, s := range level {
		st.rates = append(st.rates, rateOf(m.Epsilon.Share(s.cut.share, s.cut.of), delta(m.Unit, s)))
	}
	return st
}

// root returns the section that is the whole domain, with the whole tree of cuts.
func (m Approximate) root(t targets) section {
	return section{
		low: m.Lower, high: m.Upper, lowShare: m.whole(), highShare: m.whole(), to: t.den,
		alone: true,
	}.with(t, m.order(t))
}

// with returns a copy of s that the cut c divides. A nil c means that s is not cut.
func (s section) with(t targets, c *cut) section {
	if s.cut = c; c != nil {
		s.at = t.at[c.rank]
	}
	return s
}

// share returns the section's share of a row with the given value, which lies in the section.
func (s section) share(value, whole int64) int64 {
	switch value {
	case s.low:
		return s.lowShare
	case s.high:
		return s.highShare
	}
	return whole
}

// split cuts a section at v. Each side gets half of the section's share of the rows at v.
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

// parts cuts each section of a level, and returns the parts that are cut further.
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

// BoundedRange returns the loss under zCDP: the largest sum of ε_s²/8 on a path down the tree of cuts [Cesar &
// Rogers 2021, for each cut]. If Release would refuse the parameters, it returns ε²/8, which is larger.
func (m Approximate) BoundedRange() privacy.Loss {
	rho := m.Epsilon.BoundedRange()
	if t, err := m.check(); err == nil {
		root := m.order(t)
		rho = rho.Share(root.squares(), root.of*root.of)
	}
	return privacy.ZCDPLoss(rho, privacy.Delta{})
}
