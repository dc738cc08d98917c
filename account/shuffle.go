package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// MostShuffled bounds the reports that Shuffled counts term by term.
const MostShuffled = 10_000_000

// Shuffle is amplification by shuffling: n people each send one report of an ε₀-differentially private local
// randomizer, and only the shuffled reports are seen. Its loss is stated under change-one: one person's value is
// replaced by another.
//
// The theorem [Feldman, McMillan & Talwar 2021]. A local randomizer's law at any value is at least e^−ε₀ times
// that at any other, so it is a mixture of three: with weight e^−ε₀/2 the law at the first person's value, with as
// much that at the value that replaces it, and a rest. So each of the other n−1 is with probability e^−ε₀ a
// clone of the first person, before or after by a fair coin; and the first person's own law is, by randomized response
// at ε₀, one of two that are the same for both datasets. What tells the datasets apart is then no more than two
// counts, of a law P or its mirror Q: with C ~ Bin(n−1, e^−ε₀) clones, A ~ Bin(C, ½) of them of the first kind
// and Δ ~ Bernoulli(e^ε₀/(1+e^ε₀)), P is of (A+Δ, C−A+1−Δ) and Q of (A+1−Δ, C−A+Δ). All people use
// one randomizer; or, if their data are shuffled before anybody reports, the i-th in that order may use one that is
// chosen by the reports before it [ibid., Theorem 3.1]. It must not depend on who reports: where person i sends i
// along, nothing is hidden, and the loss is ε₀.
//
// Given C = c, the ratio of P to Q rises in the first count a. So with p = e^ε₀/(1+e^ε₀), b_c the law Bin(c, ½),
// T_c(a) its tail from a on, and the least a at which the ratio exceeds e^ε,
//
//	δ_c(ε) = P(≥ a) − e^ε·Q(≥ a) = (p − e^ε(1−p))·b_c(a−1) − (e^ε−1)·T_c(a),
//
// and δ(ε) is the mean of δ_c over C.
type Shuffle struct {
	n     int64
	local privacy.Epsilon
	bits  uint
}

// NewShuffle takes the number of people and the local ε₀. n below 1 or beyond MostShuffled, and an ε₀ beyond
// privacy.MaxEpsilon, is ErrParameter.
func NewShuffle(n int64, local privacy.Epsilon) (*Shuffle, error) {
	switch {
	case n < 1 || n > MostShuffled:
		return nil, fmt.Errorf("%w: 1 to %d reports are shuffled, not %d", ErrParameter, MostShuffled, n)
	case local.Rat().Cmp(big.NewRat(privacy.MaxEpsilon, 1)) > 0:
		return nil, fmt.Errorf("%w: a local ε beyond %d", ErrParameter, privacy.MaxEpsilon)
	}
	return &Shuffle{n, local, certainty}, nil
}

// ClosedForm is the ε of shuffled reports at d in closed form, rounded up to 17 digits [Feldman, McMillan & Talwar
// 2021, Theorem 3.1]:
//
//	ln(1 + (e^ε₀−1)/(e^ε₀+1)·(8√(e^ε₀·ln(4/δ)/n) + 8e^ε₀/n)),  where ε₀ ≤ ln(n/(16·ln(2/δ))),
//
// and ε₀ itself if that is less, or if the condition does not hold: shuffling cannot reveal more than the reports.
func (s *Shuffle) ClosedForm(d privacy.Delta) privacy.Epsilon {
	if d.IsZero() || s.local.IsZero() {
		return s.local
	}
	n, e := number(s.n), exact.IntervalOf(s.local.Rat(), s.bits)
	growth := e.Exp()
	// ln(4/δ) = ln 4 + ln(1/δ), and so for 2.
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

// Delta brackets the clones' δ(e), in a time that grows as √n. The upper end is the promise of shuffled reports. The
// lower end is the least that this theorem can promise; shuffling may do better.
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
			sum.hi.Add(sum.hi, rest) // δ_c is at most 1
			break
		}
		w.up()
	}
	sum.hi.Add(sum.hi, skipped)
	sum.quo(c.weights.total)
	sum.hi.Add(sum.hi, c.unsure)
	return max(0, floatBelow(sum.lo)), min(1, floatAbove(sum.hi))
}

// clones is the sum at work: at c clones, and at the a of δ_c.
type clones struct {
	weights *binomial      // of C
	place   exact.Interval // θ: the ratio exceeds e^ε where a > θ(c+1)
	tilt    ends           // p − e^ε(1−p)
	rise    ends           // e^ε − 1
	unsure  *big.Float     // bounds what a δ_c misses where a is one off, since θ is only nearly known
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
	// θ is known to a share η far below 2⁻²⁰², and P(a) − e^ε·Q(a) at an a that is such a share off θ(c+1) is
	// at most 2e^ε·η.
	unsure := growth.Add(unit).Hi()
	return &clones{
		unsure:  unsure.SetMantExp(unsure, -200),
		weights: newBinomial(s.n-1, endsOf(unit.Quo(odds.Sub(unit)))),
		// p·a + q(c+1−a) > e^ε(q·a + p(c+1−a)), solved for a.
		place: growth.Mul(p).Sub(q).Quo(p.Sub(q).Mul(growth.Add(unit))),
		tilt:  endsOf(p.Sub(growth.Mul(q))),
		rise:  endsOf(growth.Sub(unit)),
	}
}

// first is the least a above θ(c+1), or, where the precision cannot tell, one next to it.
func (c *clones) first() int64 {
	x := new(big.Float).SetPrec(c.weights.bits).SetInt64(c.c + 1)
	n, _ := x.Mul(x, c.place.Lo()).Int64()
	return n + 1
}

// from begins at c clones.
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

// more goes to one more clone: T_{c+1}(a) = T_c(a) + b_c(a−1)/2 and b_{c+1}(a−1) = b_c(a−1)·(c+1)/(2(c+2−a)).
// Since θ < 1 the new a is the old one or the next: T_c(a+1) = T_c(a) − b_c(a) and b_c(a) = b_c(a−1)·(c+1−a)/a.
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

// excess is δ_c(ε).
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

// Epsilon is an ε, rounded up to 17 digits, at which shuffled reports are (ε, d)-differentially private: the clones'
// least to within 10⁻⁶ of it, or the closed form's where that is less. It takes the time of some twenty calls of
// Delta.
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
	// ln δ(ε) is nearly straight, or falls more and more steeply: halve, where a chord does not help.
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
