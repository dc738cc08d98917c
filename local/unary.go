package local

import (
	"math/big"

	"dither/local/internal/coin"
	"dither/privacy"
)

// unary sends one bit for each value. The bit of the true value is 1 with probability own, and each other bit with
// probability other < own, independently. A report supports the values whose bits are 1.
//
// Claim: unary is ε-differentially private between any two values, with e^ε = own(1 − other)/(other(1 − own)). Proof:
// the reports about two values differ in the laws of two bits only. The ratio of the probabilities of the one is at
// most own/other, and that of the other at most (1 − other)/(1 − own). Both are attained together, by the report with
// a 1 and a 0 there [Wang, Blocki, Li & Jha 2017]. ∎
type unary struct {
	k          uint64
	own, other coin.Coin
}

// newSUE is symmetric unary encoding, the basic one-time RAPPOR [Erlingsson, Pihur & Korolova 2014]. Each bit is
// flipped with probability f, rounded up from 1/(e^(ε/2) + 1). So ((1 − f)/f)² ≤ e^ε.
func newSUE(p Params) scheme {
	f := flip(p.Epsilon, 2)
	return unary{p.Values, coin.Of(f.Tails()), f}
}

// newOUE is optimized unary encoding [Wang, Blocki, Li & Jha 2017]: own is ½ exactly, and other is rounded up from
// 1/(e^ε + 1). So (1 − other)/other ≤ e^ε.
func newOUE(p Params) scheme {
	return unary{p.Values, coin.Of(big.NewRat(1, 2)), flip(p.Epsilon, 1)}
}

// flip returns the coin of 1/(e^(ε/parts) + 1), rounded up.
func flip(e privacy.Epsilon, parts int64) coin.Coin {
	one := coin.Whole(1)
	return coin.Up(one.Quo(coin.Exp(e, 1, parts).Add(one)))
}

// odds returns p(1 − q)/(q(1 − p)).
func odds(p, q *big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	up := new(big.Rat).Mul(p, new(big.Rat).Sub(one, q))
	return up.Quo(up, new(big.Rat).Mul(q, new(big.Rat).Sub(one, p)))
}

func (s unary) size() int                 { return int(s.k) }
func (s unary) support() (p, q *big.Rat)  { return s.own.Rat(), s.other.Rat() }
func (s unary) ratio() *big.Rat           { return odds(s.support()) }
func (s unary) shared() float64           { return 0 }
func (s unary) sends([]byte) bool         { return true }
func (s unary) work(_, v float64) float64 { return v }
func (s unary) tally() tally              { return &bitSums{by: make([]int64, s.k)} }
func (s unary) randomize(c coin.Chooser, v uint64, report []byte) {
	for i := range s.k {
		toss := s.other
		if i == v {
			toss = s.own
		}
		if c.Toss(toss) {
			report[i/8] |= 0x80 >> (i % 8)
		}
	}
}

// bitSums is the tally of reports with one bit for each value.
type bitSums struct {
	by []int64
}

func (t *bitSums) add(report []byte) { eachBit(report, func(at int) { t.by[at]++ }) }

func (t *bitSums) support(values []uint64) []int64 { return pick(t.by, values) }
func (t *bitSums) merge(other tally)               { sum(t.by, other.(*bitSums).by) }

// rappor is basic RAPPOR, without a Bloom filter [Erlingsson, Pihur & Korolova 2014]: the permanent response to a
// value is that of newSUE, which a device keeps forever. Each report is an instantaneous response to it: a bit is
// flipped once more, with probability 1/4.
//
// Claim: however many reports a device sends about one value, together they are ε-differentially private, and
// observers of one report have the smaller loss of ratio. Proof: all reports are computed from the permanent
// response, which is that private (see unary), with independent coins. One report has independent bits, whose
// probabilities are own = (1 − f)·3/4 + f/4 and other = f·3/4 + (1 − f)/4, so the proof of unary holds. ∎
//
// For several values, see [Device].
type rappor struct {
	unary
	again coin.Coin
}

func newRappor(p Params) scheme { return rappor{newSUE(p).(unary), coin.Of(big.NewRat(1, 4))} }

func (s rappor) support() (p, q *big.Rat) {
	stay, turn := s.again.Tails(), s.again.Rat()
	mix := func(x coin.Coin) *big.Rat {
		out := new(big.Rat).Mul(x.Rat(), stay)
		return out.Add(out, new(big.Rat).Mul(x.Tails(), turn))
	}
	return mix(s.own), mix(s.other)
}

func (s rappor) ratio() *big.Rat { return odds(s.support()) }

func (s rappor) randomize(c coin.Chooser, v uint64, report []byte) { reportOf(s, c, v, report) }

// instant turns a permanent response into a report.
func (s rappor) instant(c coin.Chooser, report []byte) {
	for i := range s.k {
		if c.Toss(s.again) {
			report[i/8] ^= 0x80 >> (i % 8)
		}
	}
}
