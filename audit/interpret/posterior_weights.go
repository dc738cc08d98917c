package interpret

import (
	"fmt"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
)

// weights holds, for each dataset, its prior times its likelihood, divided by e^shift. shift is the largest Log of
// a possible dataset.
type weights struct {
	each  []exact.Interval
	can   []bool // whether each weight is above 0
	shift *big.Rat
	sum   exact.Interval
	none  bool // every weight is 0
	bits  uint
}

// precision returns the number of binary digits for computing beliefs. The beliefs with and without a person's data
// may differ by as little as the logarithms of the likelihoods do. So small differences between these logarithms
// need more digits.
func precision(lists ...[]Likelihood) uint {
	const usual, most = 192, 4096
	bits := usual
	for _, list := range lists {
		for x := range list {
			apart := new(big.Rat).Sub(list[x].log(), list[0].log())
			if apart.Sign() != 0 {
				bits = max(bits, usual-new(big.Float).SetRat(apart).MantExp(nil))
			}
		}
	}
	return uint(min(bits, most))
}

// least is a logarithm so small that e^least is negligible beside a weight of 1. For a smaller logarithm, the
// weight is taken as the interval from 0 to e^least.
const least = -4096

func weigh(prior []*big.Rat, likelihoods []Likelihood, memo map[string]exact.Interval, bits uint) (weights, error) {
	w := weights{each: make([]exact.Interval, len(prior)), can: make([]bool, len(prior)), none: true, bits: bits}
	for x, l := range likelihoods {
		if prior[x] == nil || prior[x].Sign() < 0 || l.Factor != nil && l.Factor.Sign() < 0 {
			return weights{}, fmt.Errorf("%w: priors and likelihoods must not be negative", account.ErrParameter)
		}
		if w.can[x] = prior[x].Sign() > 0 && l.Factor != nil && l.Factor.Sign() > 0; !w.can[x] {
			continue
		}
		if w.none || l.log().Cmp(w.shift) > 0 {
			w.none, w.shift = false, l.log()
		}
	}
	zero := exact.IntervalOf(new(big.Rat), bits)
	w.sum = zero
	for x, l := range likelihoods {
		w.each[x] = zero
		if w.can[x] {
			weight := exact.IntervalOf(prior[x], bits).Mul(exact.IntervalOf(l.Factor, bits))
			w.each[x] = weight.Mul(decay(new(big.Rat).Sub(l.log(), w.shift), memo, bits))
			w.sum = w.sum.Add(w.each[x])
		}
	}
	return w, nil
}

// decay returns e^r for r ≤ 0. memo caches the results.
func decay(r *big.Rat, memo map[string]exact.Interval, bits uint) exact.Interval {
	name := r.RatString()
	if x, ok := memo[name]; ok {
		return x
	}
	limit := new(big.Rat).SetInt64(least)
	var x exact.Interval
	if r.Cmp(limit) < 0 {
		x = exact.Hull(exact.IntervalOf(new(big.Rat), bits), exact.IntervalOf(limit, bits).Exp())
	} else {
		x = exact.IntervalOf(r, bits).Exp()
	}
	memo[name] = x
	return x
}

func (w weights) any(event func(int) bool) bool {
	for x := range w.each {
		if w.can[x] && event(x) {
			return true
		}
	}
	return false
}

func (w weights) part(event func(int) bool) exact.Interval {
	sum := exact.IntervalOf(new(big.Rat), w.bits)
	for x := range w.each {
		if event(x) {
			sum = sum.Add(w.each[x])
		}
	}
	return sum
}

func (w weights) share(event func(int) bool) Between {
	if w.none || len(w.each) == 0 {
		return Between{math.NaN(), math.NaN()}
	}
	lower, upper := w.part(event).Quo(w.sum).Floats()
	return Between{max(lower, 0), min(upper, 1)}
}
