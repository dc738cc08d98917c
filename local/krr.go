package local

import (
	"math/big"

	"dither/local/internal/coin"
	"dither/privacy"
)

// response is k-ary randomized response on 0 … k − 1, as a part of other mechanisms: a lie with probability ℓ, else
// the truth. A lie is uniform among the other values.
//
// Claim: it is ε-differentially private between any two values. Proof: the probability of the truth is 1 − ℓ, and
// that of another value ℓ/(k − 1). newResponse rounds ℓ up from (k − 1)/(e^ε + k − 1). So (1 − ℓ)(k − 1)/ℓ ≤ e^ε,
// and it is above 1, since the rounding is far less than e^ε − 1. These are the only two probabilities of a report,
// so this is the largest ratio [Kairouz, Oh & Viswanath 2014]. ∎
type response struct {
	k   uint64
	lie coin.Coin
}

func newResponse(k uint64, e privacy.Epsilon) response {
	others := coin.Whole(k - 1)
	return response{k, coin.Up(others.Quo(coin.Exp(e, 1, 1).Add(others)))}
}

// draw returns the randomized value of v.
func (r response) draw(c coin.Chooser, v uint64) uint64 {
	lie := c.Toss(r.lie)
	other := c.Below(r.k - 1) // drawn in any case, so that the number of choices does not depend on the lie
	if other >= v {
		other++
	}
	if lie {
		return other
	}
	return v
}

// truth returns the probability of the truth, and each returns that of each other value.
func (r response) truth() *big.Rat { return r.lie.Tails() }

func (r response) each() *big.Rat {
	return new(big.Rat).Quo(r.lie.Rat(), whole(r.k-1))
}

func (r response) ratio() *big.Rat { return new(big.Rat).Quo(r.truth(), r.each()) }

func whole(n uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n)) }

// krr is k-ary randomized response. The report is a value, and supports this value.
type krr struct{ response }

func newKRR(p Params) scheme { return krr{newResponse(p.Values, p.Epsilon)} }

// newCoins is the randomized response of the textbooks [Warner 1965]. If a first fair coin shows heads, the answer is
// true. Otherwise a second fair coin is the answer. Hence the answer is false with probability 1/4, and the loss is
// exactly ln 3.
func newCoins(Params) scheme { return krr{response{2, coin.Of(big.NewRat(1, 4))}} }

func (s krr) size() int                 { return width(s.k) }
func (s krr) support() (p, q *big.Rat)  { return s.truth(), s.each() }
func (s krr) shared() float64           { return 0 }
func (s krr) sends(report []byte) bool  { return get(report, 0, s.size()) < s.k }
func (s krr) work(_, v float64) float64 { return v }
func (s krr) tally() tally              { return &counts{size: s.size(), by: make([]int64, s.k)} }

func (s krr) randomize(c coin.Chooser, v uint64, report []byte) {
	put(report, 0, s.size(), s.draw(c, v))
}

// counts is the tally of krr.
type counts struct {
	size int
	by   []int64
}

func (t *counts) add(report []byte) { t.by[get(report, 0, t.size)]++ }

func (t *counts) support(values []uint64) []int64 { return pick(t.by, values) }
func (t *counts) merge(other tally)               { sum(t.by, other.(*counts).by) }

// pick returns the numbers of the given values.
func pick(by []int64, values []uint64) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = by[v]
	}
	return out
}

// sum adds numbers to others.
func sum(into, from []int64) {
	for i, x := range from {
		into[i] += x
	}
}
