package local

import (
	"math/big"

	"dither/internal/exact"
	"dither/local/internal/coin"
	"dither/privacy"
)

// loloha is longitudinal local hashing [Arcolezi, Pinzón, Palamidessi & Gambs 2023]. A device draws one hash function
// forever. It keeps the k-ary response to each of the g cells forever, the permanent response, with ε∞. Each report
// is a k-ary response to the permanent response of the value's cell, the instantaneous response.
//
// Claim: one report is ε₁-differentially private between any two values, and less than ε∞. Proof: the hash function is
// drawn without the value. With a and b, the ratios of the permanent and of the instantaneous response, the
// probability of a cell is proportional to ab + g − 1 if it is the value's, and to a + b + g − 2 if it is another. The
// quotient increases in a and in b. It is e^ε₁ for a = e^ε∞ and b = (e^ε₁(a + g − 2) − g + 1)/(a − e^ε₁), and both
// ratios are rounded down. ∎
//
// The guarantee of many reports is that of [Device].
type loloha struct {
	permanent, instant response
}

// newLOLOHA takes the number of cells with the least variance for ε₁. Any number is private, and fewer cells have fewer
// states.
func newLOLOHA(p Params) scheme { return lolohaOf(cells(p.first()), p.Epsilon, p.first()) }

func lolohaOf(g uint64, e, first privacy.Epsilon) loloha {
	a, r, others := coin.Exp(e, 1, 1), coin.Exp(first, 1, 1), coin.Whole(g-1)
	b := r.Mul(a.Add(coin.Whole(g - 2))).Sub(others).Quo(a.Sub(r))
	return loloha{newResponse(g, e), response{g, lieOf(b, others)}}
}

// lieOf returns the coin of (k − 1)/(ratio + k − 1), rounded up.
func lieOf(ratio, others exact.Interval) coin.Coin { return coin.Up(others.Quo(ratio.Add(others))) }

func (s loloha) size() int                 { return olh{s.permanent}.size() }
func (s loloha) shared() float64           { return 0 }
func (s loloha) tally() tally              { return &hashed{g: s.permanent.k} }
func (s loloha) sends(r []byte) bool       { return hashedReport(r, s.permanent.k).sent(s.permanent.k) }
func (s loloha) work(n, v float64) float64 { return n * v }

// truth returns the probability of a report with the value's own cell.
func (s loloha) truth() *big.Rat {
	stay := new(big.Rat).Mul(s.permanent.truth(), s.instant.truth())
	back := new(big.Rat).Mul(s.permanent.lie.Rat(), s.instant.each())
	return stay.Add(stay, back)
}

func (s loloha) support() (p, q *big.Rat) {
	return s.truth(), new(big.Rat).Quo(whole(1), whole(s.permanent.k))
}

func (s loloha) ratio() *big.Rat {
	own := s.truth()
	each := new(big.Rat).Sub(whole(1), own)
	return own.Quo(own, each.Quo(each, whole(s.permanent.k-1)))
}

func (s loloha) randomize(c coin.Chooser, v uint64, report []byte) { reportOf(s, c, v, report) }

// first returns ε₁: half of ε∞ by default.
func (p Params) first() privacy.Epsilon {
	if p.First.IsZero() {
		return p.Epsilon.Share(1, 2)
	}
	return p.First
}

// The parts of a device: see memoised.

func (s loloha) begin(c coin.Chooser) public {
	return public{c.Below(prime), c.Below(prime)}
}

func (s loloha) state(own public, v uint64) uint64 {
	return hash{c1: own[0], c0: own[1]}.cell(v, s.permanent.k)
}
func (s loloha) states() uint64           { return s.permanent.k }
func (s loloha) memory() int              { return width(s.permanent.k) }
func (s loloha) permanentRatio() *big.Rat { return s.permanent.ratio() }

func (s loloha) keep(c coin.Chooser, _ public, state uint64, memo []byte) {
	put(memo, 0, s.memory(), s.permanent.draw(c, state))
}

func (s loloha) send(c coin.Chooser, own public, memo, report []byte) {
	put(report, 0, 61, own[0])
	put(report, 61, 61, own[1])
	put(report, 122, s.memory(), s.instant.draw(c, get(memo, 0, s.memory())))
}

func (s loloha) valid(own public, memo []byte) bool {
	return len(own) == 2 && own[0] < prime && own[1] < prime && padded(memo, s.memory()) &&
		get(memo, 0, s.memory()) < s.permanent.k
}
