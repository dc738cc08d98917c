package local

import (
	"math/big"
	"slices"

	"dither/local/internal/coin"
)

// dbit is d-bit flipping with memory [Ding, Kulkarni & Yekhanin 2017]. A device draws d of the k values forever, its
// positions. The response to a value has a bit for each position: 1 if it is the value, and then flipped with
// probability f. The device keeps the response, and each report is the whole response. A report supports the
// positions whose bit is 1.
//
// Claim: one report is ε∞-differentially private between any two values. Proof: the positions are drawn without the
// value. Given these, at most min(d, 2) bits have different laws under two values, each with the ratio (1 − f)/f. And f
// is rounded up from 1/(e^(ε∞/2) + 1), or from 1/(e^ε∞ + 1) if d is 1, so that their product is at most e^ε∞. ∎
//
// There is no instantaneous response: a change of the value that changes the response is seen at once.
type dbit struct {
	k, d uint64
	flip coin.Coin
}

func newDBit(p Params) scheme {
	d, parts := p.positions(), int64(2)
	if d == 1 {
		parts = 1 // at most one bit has different laws
	}
	return dbit{p.Values, d, flip(p.Epsilon, parts)}
}

// positions returns d: 1 by default.
func (p Params) positions() uint64 {
	if p.Positions == 0 {
		return 1
	}
	return min(p.Positions, p.Values)
}

func (s dbit) size() int                 { return int(s.d)*width(s.k) + int(s.d) }
func (s dbit) shared() float64           { return 0 }
func (s dbit) work(_, v float64) float64 { return v }
func (s dbit) tally() tally              { return &positioned{s, make([]int64, s.k)} }

// ratio is that of one position, (1 − f)/f, if d is 1: then at most one bit differs.
func (s dbit) ratio() *big.Rat {
	r := new(big.Rat).Quo(s.flip.Tails(), s.flip.Rat())
	if s.d == 1 {
		return r
	}
	return r.Mul(r, r)
}

func (s dbit) support() (p, q *big.Rat) {
	drawn := new(big.Rat).Quo(whole(s.d), whole(s.k))
	return new(big.Rat).Mul(drawn, s.flip.Tails()), new(big.Rat).Mul(drawn, s.flip.Rat())
}

func (s dbit) randomize(c coin.Chooser, v uint64, report []byte) { reportOf(s, c, v, report) }

// sends checks that the positions increase.
func (s dbit) sends(report []byte) bool {
	w := width(s.k)
	at := func(i int) uint64 { return get(report, i*w, w) }
	for i := range int(s.d) {
		if at(i) >= s.k || i > 0 && at(i) <= at(i-1) {
			return false
		}
	}
	return true
}

// The parts of a device: see memoised. A state is the position that has the value, or d for none.

func (s dbit) begin(c coin.Chooser) public {
	var own public
	for j := s.k - s.d; j < s.k; j++ { // Floyd's method, as in subset
		i := c.Below(j + 1)
		if slices.Contains(own, i) {
			i = j
		}
		own = append(own, i)
	}
	slices.Sort(own)
	return own
}

func (s dbit) state(own public, v uint64) uint64 {
	if i := slices.Index(own, v); i >= 0 {
		return uint64(i)
	}
	return s.d
}
func (s dbit) states() uint64           { return min(s.d+1, s.k) }
func (s dbit) memory() int              { return int(s.d) }
func (s dbit) permanentRatio() *big.Rat { return s.ratio() }

func (s dbit) keep(c coin.Chooser, _ public, state uint64, memo []byte) {
	for i := range s.d {
		if c.Toss(s.flip) != (i == state) {
			put(memo, int(i), 1, 1)
		}
	}
}

func (s dbit) send(_ coin.Chooser, own public, memo, report []byte) {
	w := width(s.k)
	for i, v := range own {
		put(report, i*w, w, v)
		put(report, int(s.d)*w+i, 1, get(memo, i, 1))
	}
}

func (s dbit) valid(own public, memo []byte) bool {
	for i, v := range own {
		if v >= s.k || i > 0 && v <= own[i-1] {
			return false
		}
	}
	return uint64(len(own)) == s.d && padded(memo, s.memory())
}

// positioned is the tally of dbit.
type positioned struct {
	s  dbit
	by []int64
}

func (t *positioned) add(report []byte) {
	w := width(t.s.k)
	for i := range int(t.s.d) {
		t.by[get(report, i*w, w)] += int64(get(report, int(t.s.d)*w+i, 1))
	}
}

func (t *positioned) support(values []uint64) []int64 { return pick(t.by, values) }
func (t *positioned) merge(other tally)               { sum(t.by, other.(*positioned).by) }
