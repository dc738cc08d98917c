package local

import (
	"math/big"

	"dither/local/internal/coin"
)

// subset is subset selection [Wang et al. 2016; Ye & Barg 2018]: the report is a set of w values. It omits the true
// value with probability out, and is uniform among the sets of its kind. A report supports its members.
//
// Claim: subset is ε-differentially private between any two values. Proof: a set with the true value has probability
// (1 − out)/C(k−1, w−1), and one without it out/C(k−1, w). newSubset rounds out up from (k − w)/(w·e^ε + k − w). So
// the ratio, (1 − out)(k − w)/(out·w), is at most e^ε. It is above 1, since the rounding is far less than e^ε − 1. ∎
type subset struct {
	k, w uint64
	out  coin.Coin
}

func newSubset(p Params) scheme {
	// w = round(k/(e^ε + 1)), at least 1; any w is private
	grown := coin.Exp(p.Epsilon, 1, 1)
	w := min(max(coin.Round(coin.Whole(p.Values).Quo(grown.Add(coin.Whole(1)))), 1), p.Values-1)
	rest := coin.Whole(p.Values - w)
	return subset{p.Values, w, coin.Up(rest.Quo(coin.Whole(w).Mul(grown).Add(rest)))}
}

func (s subset) size() int                 { return int(s.k) }
func (s subset) shared() float64           { return 0 }
func (s subset) work(_, v float64) float64 { return v }
func (s subset) tally() tally              { return &bitSums{by: make([]int64, s.k)} }

// sends checks that the set has w values.
func (s subset) sends(report []byte) bool {
	size := uint64(0)
	eachBit(report, func(int) { size++ })
	return size == s.w
}

func (s subset) support() (p, q *big.Rat) {
	// another value is one of w − 1 of k − 1 if the true one is in the set, and one of w of k − 1 if not
	p = s.out.Tails()
	q = new(big.Rat).Mul(p, whole(s.w-1))
	q.Add(q, new(big.Rat).Mul(s.out.Rat(), whole(s.w)))
	return p, q.Quo(q, whole(s.k-1))
}

func (s subset) ratio() *big.Rat {
	r := new(big.Rat).Quo(s.out.Tails(), s.out.Rat())
	return r.Mul(r, new(big.Rat).Quo(whole(s.k-s.w), whole(s.w)))
}

// randomize draws a uniform subset of the other values by Floyd's method [Bentley & Floyd 1987]: for j from the
// difference of the sizes, a uniform number up to j enters, or j if that number has entered already.
func (s subset) randomize(c coin.Chooser, v uint64, report []byte) {
	set := func(i uint64) { report[i/8] |= 0x80 >> (i % 8) }
	size := s.w
	if !c.Toss(s.out) {
		set(v)
		size--
	}
	// value i of the other values is i, or i + 1 from the true value on
	place := func(i uint64) uint64 {
		if i >= v {
			return i + 1
		}
		return i
	}
	for j := s.k - 1 - size; j < s.k-1; j++ {
		i := c.Below(j + 1)
		if at := place(i); report[at/8]&(0x80>>(at%8)) != 0 {
			i = j
		}
		set(place(i))
	}
}
