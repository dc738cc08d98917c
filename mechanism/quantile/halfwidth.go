package quantile

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/privacy"
)

// halfWidths draws the half-width of an interval around a value v that was released before. The interval contains the
// quantile of rank q of n rows: every row that PERCENTILE_DISC or PERCENTILE_CONT takes at q.
//
// The candidates are the rungs h₀ < h₁ < … < h_K of a public ladder. h₀ is 0, h_{k+1} = h_k + max(1, ⌊h_k/4⌋), and
// h_K is the first for which [v − h_K, v + h_K] covers the domain. For a rung h, let B be the number of rows below
// v − h, and A the number of rows at or below v + h. The slack of h is
//
//	S(h) = min(q(n − 1) − B, A − 1 − q(n − 1)).
//
// If v − h is at or below the domain's lower end, the first term is ∞. If v + h is at or above its upper end, the second
// term is ∞. S does not decrease in h, and S(h_K) = ∞. With a public margin T and S(h₋₁) = −∞, rung k is drawn with
// probability ∝ 2^k·exp(−ε·d_k/(2Δ)), exactly, where
//
//	d_k = max(0, T − S(h_k), S(h_{k−1}) − T).
//
// Privacy. Claim: the draw is ε-differentially private and ε-bounded-range, for every v. Proof: v and the ladder are
// public, so the finite and infinite terms are the same for neighbours. A unit changes q·n − B and A − q·n as it changes
// the terms of Single, by at most Δ (see [Single] and [Cells]), and constants do not matter. So it changes the lesser
// of them, S, and a maximum of differences from T, by at most Δ. The rest is the proof of Single, with the public
// factors 2^k. ∎ In several cells the change in cell k is at most Δ times the unit's share of rows in cell k, as in
// Cells, so that the draws of all cells together cost ε.
//
// Coverage. Claim: for all data and every v, the interval [v − h, v + h] contains the quantile, except with probability
// at most α. Proof. S ≥ 0 suffices: let r = 1 + q(n − 1), so that PERCENTILE_CONT interpolates between rows ⌊r⌋ and
// ⌈r⌉. The whole number B ≤ r − 1 is at most ⌊r⌋ − 1, so row ⌊r⌋ is not below the lower end. A ≥ r is at least ⌈r⌉, so
// row ⌈r⌉ is not above the upper end. The row of PERCENTILE_DISC, max(1, ⌈qn⌉), is between these two, since r is at
// least qn, and less than qn + 1 unless q = 0. So is row ⌊qn⌋ + 1 of PERCENTILE_DISC in descending order, unless q = 1,
// since r > qn. If a term is ∞, no row is beyond that end of the interval.
//
// Let k* be the first rung with S ≥ T. S is a multiple of 1/den, where den is the denominator of q. T is above −1/den,
// so S(h_{k*}) ≥ 0. The rungs that fail have S ≤ −1/den, and are before k*. Each has d ≥ T + 1/den. But d of k* is 0.
// So the weight of all that fail is at most Σ_{k<k*} 2^k·x < 2^{k*}·x with x = exp(−ε(T + 1/den)/(2Δ)), against at least
// 2^{k*} for k*. The probability of failure is below x/(1 + x), which is at most α if
//
//	T + 1/den ≥ (2Δ/ε)·ln((1 − α)/α).                                                                            ∎
//
// No union bound over the rungs is needed, because their weights double. So the margin depends on neither the domain nor
// the number of rungs. On data that are dense around v, S grows with h, and the draw is close to k*.
type halfWidths struct {
	in     Domain
	at     int64    // q·den
	den    int64    // the denominator of q
	finer  int64    // the units of scores are 1/(den·finer) of a row
	margin int64    // T, in those units
	rate   *big.Rat // ε/(2Δ) for those units
	// whether the interval reaches from the domain's lower end, or to its upper end, at every rung: that term of S is ∞
	toLower, toUpper bool
}

// scoreUnits is about the number of units of a row. It is large, so that rounding T up costs little. Rows are at most
// 2⁴⁰, so all scores are below 2⁵⁵.
const scoreUnits = 4096

// maxMargin bounds T, in rows.
const maxMargin = 1 << 40

// newHalfWidths returns the draw for rank q, with the sensitivity Δ of Single and an interval that misses with
// probability at most alpha, 0 < alpha < ½. ErrParameter reports an ε so small that T would exceed 2⁴⁰ rows.
func newHalfWidths(in Domain, q, delta *big.Rat, e privacy.Epsilon, alpha *big.Rat) (halfWidths, error) {
	if alpha == nil || alpha.Sign() <= 0 || alpha.Cmp(big.NewRat(1, 2)) >= 0 {
		return halfWidths{}, fmt.Errorf("%w: an interval must miss with a probability above 0 and below 1/2",
			mechanism.ErrParameter)
	}
	h := halfWidths{in: in, at: q.Num().Int64(), den: q.Denom().Int64()}
	h.finer = max(1, scoreUnits/h.den)
	unit := new(big.Rat).SetInt64(h.den * h.finer)
	h.rate = rateOf(e, delta)
	h.rate.Quo(h.rate, unit)
	margin := new(big.Rat).SetFloat64(exact.LogUp(exact.FloatUp(odds(alpha))))
	up := exact.CeilRat(margin.Quo(margin, h.rate))
	if limit := new(big.Int).Mul(big.NewInt(maxMargin), exact.CeilRat(unit)); up.Cmp(limit) > 0 {
		return halfWidths{}, fmt.Errorf("%w: epsilon is so small that an interval's margin exceeds 2^40 rows",
			mechanism.ErrParameter)
	}
	h.margin = up.Int64() - h.finer
	return h, nil
}

// odds returns (1 − α)/α.
func odds(alpha *big.Rat) *big.Rat {
	r := new(big.Rat).Sub(big.NewRat(1, 1), alpha)
	return r.Quo(r, alpha)
}

// ladder is h₀, h₁, …, up to the first that is at least the widest domain, which has 2⁶² integers.
var ladder = func() (out []int64) {
	for h := int64(0); ; h += max(1, h/4) { // at most 5/4·2⁶², so below 2⁶³
		if out = append(out, h); h >= 1<<62 {
			return out
		}
	}
}()

// rungsFor returns the ladder around a value, up to the rung that covers the domain. All values share its memory.
func rungsFor(in Domain, value int64) []int64 {
	return ladder[:reach(ladder, max(value-in.Lower, in.Upper-value))+1]
}

// surroundings counts rows by their distance from a value.
type surroundings struct {
	halfWidths
	value        int64
	rungs        []int64
	below, above []int64 // entry k counts the rows on that side that rung k is the first to reach
	rows         int64
}

// around returns the count of the rows around a value of the domain.
func (h halfWidths) around(value int64) surroundings {
	s := surroundings{halfWidths: h, value: value, rungs: rungsFor(h.in, value)}
	s.below, s.above = make([]int64, len(s.rungs)), make([]int64, len(s.rungs))
	return s
}

// visit counts rows with a value of the domain.
func (s *surroundings) visit(value, count int64) {
	side, distance := s.above, value-s.value
	if distance < 0 {
		side, distance = s.below, -distance
	}
	side[reach(s.rungs, distance)] += count
	s.rows += count
}

// reach returns the index of the first rung that is not below a distance. The last rung must not be below it.
func reach(rungs []int64, distance int64) int {
	low, high := 0, len(rungs)-1
	for low < high {
		if middle := (low + high) / 2; rungs[middle] < distance {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// scores returns −d of each rung.
func (s *surroundings) scores() []int64 {
	target := s.at * (s.rows - 1) * s.finer // q(n − 1)
	var under, upTo int64                   // B and A
	for _, n := range s.below {
		under += n
	}
	upTo = under
	out := make([]int64, len(s.rungs))
	unit, before := s.den*s.finer, -noSlack
	for k, h := range s.rungs {
		under -= s.below[k]
		upTo += s.above[k]
		slack := noSlack
		if !s.toLower && s.value-s.in.Lower > h {
			slack = min(slack, target-unit*under)
		}
		if !s.toUpper && s.in.Upper-s.value > h {
			slack = min(slack, unit*(upTo-1)-target)
		}
		out[k] = -max(0, s.margin-slack, before-s.margin)
		before = slack
	}
	return out
}

// noSlack stands for ∞. It is larger than every slack plus every margin.
const noSlack = int64(1) << 60

// draw draws the half-width.
func (s *surroundings) draw(src *entropy.Source) int64 {
	race := sample.NewRace(src, s.rate, 1)
	for k, score := range s.scores() {
		race.EnterPower(int64(k), uint(k), score)
	}
	return s.rungs[race.Winners()[0]]
}
