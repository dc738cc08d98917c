package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// MostShuffled is the largest number of reports for which Shuffle computes the loss.
const MostShuffled = 10_000_000

// Shuffle is amplification by shuffling. n people each send one report of an ε₀-differentially private local
// randomizer, and only the shuffled reports are seen. The loss holds under change-one: one person's value is
// replaced by another.
//
// The theorem [Feldman, McMillan & Talwar 2021]. The law of a local randomizer at any value is at least e^−ε₀ times
// its law at any other value. So it is a mixture of three parts: the law at the first person's old value with
// weight e^−ε₀/2, the law at the new value that replaces it with the same weight, and a rest. Each of the other n−1
// people is therefore with probability e^−ε₀ a clone of the first person, with the old or the new value with
// probability ½ each. By randomized response at ε₀, the first person's own law is a mixture of two laws that are
// the same for both datasets.
//
// Hence two counts contain all that distinguishes the datasets. Let C ~ Bin(n−1, e^−ε₀) be the number of clones, A
// ~ Bin(C, ½) the number of clones with the old value, and Δ ~ Bernoulli(e^ε₀/(1+e^ε₀)). The counts have the law P
// of (A+Δ, C−A+1−Δ) on one dataset, and the law Q of (A+1−Δ, C−A+Δ) on the other.
//
// All people use the same randomizer. If their data are shuffled before anybody reports, the i-th in that order may
// instead use a randomizer that depends on the reports before it [ibid., Theorem 3.1]. The randomizer must not
// depend on who reports: if person i includes the number i in the report, shuffling hides nothing, and the loss is
// ε₀.
//
// Given C = c, the ratio of P to Q increases in the first count a. Let p = e^ε₀/(1+e^ε₀), let b_c be the law Bin(c,
// ½) and T_c(a) = Σ_{i≥a} b_c(i) its tail. For the least a at which the ratio exceeds e^ε,
//
//	δ_c(ε) = P(≥ a) − e^ε·Q(≥ a) = (p − e^ε(1−p))·b_c(a−1) − (e^ε−1)·T_c(a),
//
// and δ(ε) is the mean of δ_c over C.
type Shuffle struct {
	n     int64
	local privacy.Epsilon
	bits  uint
}

// NewShuffle returns the shuffle of n people's reports with the local loss ε₀. It returns ErrParameter if n is
// below 1 or beyond MostShuffled, or if ε₀ is beyond privacy.MaxEpsilon.
func NewShuffle(n int64, local privacy.Epsilon) (*Shuffle, error) {
	switch {
	case n < 1 || n > MostShuffled:
		return nil, fmt.Errorf("%w: shuffling supports 1 to %d reports, not %d", ErrParameter, MostShuffled, n)
	case local.Rat().Cmp(big.NewRat(privacy.MaxEpsilon, 1)) > 0:
		return nil, fmt.Errorf("%w: a local ε must not exceed %d", ErrParameter, privacy.MaxEpsilon)
	}
	return &Shuffle{n, local, certainty}, nil
}

// ClosedForm returns an ε at which the shuffled reports are (ε, d)-differentially private, in closed form, rounded
// up to 17 digits [Feldman, McMillan & Talwar 2021, Theorem 3.1]. With δ = d, it is
//
//	ln(1 + (e^ε₀−1)/(e^ε₀+1)·(8√(e^ε₀·ln(4/δ)/n) + 8e^ε₀/n)),  if ε₀ ≤ ln(n/(16·ln(2/δ))).
//
// If the condition fails, or if ε₀ is less, it is ε₀, because shuffling cannot reveal more than the reports.
func (s *Shuffle) ClosedForm(d privacy.Delta) privacy.Epsilon {
	if d.IsZero() || s.local.IsZero() {
		return s.local
	}
	n, e := number(s.n), exact.IntervalOf(s.local.Rat(), s.bits)
	growth := e.Exp()
	// ln(4/δ) = ln 4 + ln(1/δ), and ln(2/δ) = ln 2 + ln(1/δ).
	ln := surprise(d)
	ln2 := number(1).Log1p()
	if number(16).Mul(ln2.Add(ln)).Mul(growth).Hi().Cmp(n.Lo()) > 0 {
		return s.local
	}
	bits := s.bits + zeros(s.local.Rat())
	wide := exact.IntervalOf(s.local.Rat(), bits).Exp()
	unit := exact.IntervalOf(one, bits)
	share := wide.Sub(unit).Quo(wide.Add(unit))
	root := rootAbove(growth.Mul(ln2.Add(ln2).Add(ln)).Quo(n).Hi())
	sum := number(8).Mul(exact.PointOf(root, s.bits)).Add(number(8).Mul(growth).Quo(n))
	found := epsilonAbove(share.Mul(sum).Log1p().Hi())
	if found.Cmp(s.local) < 0 {
		return found
	}
	return s.local
}

// Delta returns a lower and an upper bound of the theorem's δ(e), in a time that grows as √n. The shuffled reports
// are (e, upper)-differentially private. lower bounds what this theorem can show; the true δ of the shuffled
// reports may be less.
func (s *Shuffle) Delta(e privacy.Epsilon) (lower, upper float64) {
	if e.Cmp(s.local) >= 0 {
		return 0, 0
	}
	c := s.clones(e)
	w := c.weights.start()
	skipped, done := w.before(c.weights.total.lo)
	for ; !done; skipped, done = w.before(c.weights.total.lo) {
		w.down()
	}
	sum := c.weights.zero()
	for c.from(w.j); ; c.more() {
		term := c.excess()
		term.mul(w.f)
		sum.add(term)
		if rest, done := w.after(c.weights.total.lo); done {
			sum.hi.Add(sum.hi, rest) // bounds the terms not added, because δ_c is at most 1
			break
		}
		w.up()
	}
	sum.hi.Add(sum.hi, skipped)
	sum.quo(c.weights.total)
	sum.hi.Add(sum.hi, c.unsure)
	return max(0, floatBelow(sum.lo)), min(1, floatAbove(sum.hi))
}

// clones holds the state of the sum over the number c of clones, in the notation of Shuffle. a is the least first
// count at which the ratio exceeds e^ε.
type clones struct {
	weights *binomial      // the law of C
	place   exact.Interval // θ: the ratio exceeds e^ε if and only if a > θ(c+1)
	tilt    ends           // p − e^ε(1−p)
	rise    ends           // e^ε − 1
	unsure  *big.Float     // bound of the error in δ_c if a is wrong by one, because θ is known only approximately
	c, a    int64
	b, tail ends // b_c(a−1) and T_c(a)
}

func (s *Shuffle) clones(e privacy.Epsilon) *clones {
	bits := s.bits + zeros(s.local.Rat()) + zeros(new(big.Rat).Sub(s.local.Rat(), e.Rat()))
	if !e.IsZero() {
		bits += zeros(e.Rat())
	}
	interval := func(r *big.Rat) exact.Interval { return exact.IntervalOf(r, bits) }
	unit := interval(one)
	growth, odds := interval(e.Rat()).Exp(), interval(s.local.Rat()).Exp()
	p, q := odds.Quo(odds.Add(unit)), unit.Quo(odds.Add(unit))
	// θ is known with a relative error η far below 2⁻²⁰². If a differs from θ(c+1) by that share, P(a) − e^ε·Q(a)
	// is at most 2e^ε·η.
	unsure := growth.Add(unit).Hi()
	return &clones{
		unsure:  unsure.SetMantExp(unsure, -200),
		weights: newBinomial(s.n-1, endsOf(unit.Quo(odds.Sub(unit)))),
		// the solution for a of p·a + q(c+1−a) > e^ε(q·a + p(c+1−a))
		place: growth.Mul(p).Sub(q).Quo(p.Sub(q).Mul(growth.Add(unit))),
		tilt:  endsOf(p.Sub(growth.Mul(q))),
		rise:  endsOf(growth.Sub(unit)),
	}
}

// first returns the least a above θ(c+1), where θ is c.place and c the number of clones. If the precision of θ does
// not determine it, the result may be wrong by one.
func (c *clones) first() int64 {
	x := new(big.Float).SetPrec(c.weights.bits).SetInt64(c.c + 1)
	n, _ := x.Mul(x, c.place.Lo()).Int64()
	return n + 1
}

// from starts the sum at the given number of clones.
func (c *clones) from(clones int64) {
	c.c = clones
	c.a = c.first()
	even := c.weights.zero()
	even.lo.SetInt64(1)
	even.hi.SetInt64(1)
	fair := newBinomial(clones, even)
	w := fair.start()
	w.to(c.a - 1)
	c.b, c.tail = w.f.copy(), c.weights.zero()
	for w.j < clones {
		w.up()
		c.tail.add(w.f)
		if rest, done := w.after(fair.total.lo); done {
			c.tail.hi.Add(c.tail.hi, rest)
			break
		}
	}
	c.b.quo(fair.total)
	c.tail.quo(fair.total)
}

// more increases c by one, in the notation of Shuffle: T_{c+1}(a) = T_c(a) + b_c(a−1)/2 and b_{c+1}(a−1) =
// b_c(a−1)·(c+1)/(2(c+2−a)). Since θ < 1, a stays or increases by one. If a increases, T_c(a+1) = T_c(a) − b_c(a)
// and b_c(a) = b_c(a−1)·(c+1−a)/a.
func (c *clones) more() {
	half := c.b.copy()
	half.lo.SetMantExp(half.lo, -1)
	half.hi.SetMantExp(half.hi, -1)
	c.tail.add(half)
	c.b = half
	c.b.scale(c.c+1, c.c+2-c.a)
	c.c++
	for next := c.first(); c.a < next; c.a++ {
		c.b.scale(c.c+1-c.a, c.a)
		c.tail.lo.Sub(c.tail.lo, c.b.hi)
		c.tail.hi.Sub(c.tail.hi, c.b.lo)
		if c.tail.lo.Sign() < 0 {
			c.tail.lo.SetInt64(0)
		}
	}
}

// excess returns δ_c(ε), in the notation of Shuffle.
func (c *clones) excess() ends {
	x := c.b.copy()
	x.mul(c.tilt)
	y := c.tail.copy()
	y.mul(c.rise)
	x.lo.Sub(x.lo, y.hi)
	x.hi.Sub(x.hi, y.lo)
	for _, end := range []*big.Float{x.lo, x.hi} {
		if end.Sign() < 0 {
			end.SetInt64(0)
		}
	}
	return x
}

// Epsilon returns an ε, rounded up to 17 digits, at which the shuffled reports are (ε, d)-differentially private.
// It is within a share of 10⁻⁶ of the least ε with Delta(ε) ≤ d, or it is ClosedForm if that is less. It takes the
// time of about twenty calls of Delta.
func (s *Shuffle) Epsilon(d privacy.Delta) privacy.Epsilon {
	high := s.ClosedForm(d)
	target := exact.FloatDown(d.Rat())
	if target <= 0 {
		return high
	}
	low := privacy.Epsilon{}
	if _, upper := s.Delta(low); upper <= target {
		return low
	}
	// ln δ(ε) is nearly linear, or falls more and more steeply. So bisect, because a secant would not be faster.
	for range 60 {
		gap := new(big.Rat).Sub(high.Rat(), low.Rat())
		if gap.Cmp(new(big.Rat).Mul(high.Rat(), exact.DecimalStep(6))) <= 0 {
			break
		}
		middle := epsilonOf(exact.CeilDigits(gap.Add(low.Rat(), gap.Mul(gap, big.NewRat(1, 2))), 17))
		if _, upper := s.Delta(middle); upper <= target {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
