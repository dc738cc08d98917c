package account

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// MostRanges is the largest number of mechanisms whose composition OptimalRange computes.
const MostRanges = 512

// OptimalRange is the optimal composition of k mechanisms of range ε that are all fixed before the first output, such
// as exponential mechanisms with loss ε. Some such mechanisms reach its curve, so no other function of k and ε bounds
// their joint δ more tightly. It does not hold if a mechanism is chosen after an output: then the composition may lose
// more.
//
// A mechanism has range ε if its losses, for any two neighbours, lie in an interval [t−ε, t]. The worst one has two
// outputs, with the losses t and t−ε. The first has the probabilities p = (e^−t − e^−ε)/(1 − e^−ε) on one side, and
// e^t·p on the other. If i of k outputs are of the second kind, the whole loss is kt − iε. Of all k-tuples of shifts t,
// equal ones are the worst, and the best of them is among the k+1 numbers t(l) = (e + (l+1)ε)/(k+1), held within [0,
// ε]:
//
//	δ(e) = max over l of Σ_i C(k,i)·p^(k−i)·(1−p)^i·max(0, e^(kt−iε) − e^e), with t = t(l)
//
// [Dong, Durfee & Rogers 2020, "Optimal Differential Privacy Composition for Exponential Mechanisms", ICML, Theorem 3].
// The figures are certified, because the terms are added as intervals.
type OptimalRange struct {
	k       int64
	epsilon *big.Rat
}

// NewOptimalRange returns the composition of k mechanisms of range epsilon. It returns ErrParameter for a k below 1 or
// beyond MostRanges, and for an ε that is 0 or beyond 100.
func NewOptimalRange(k int64, epsilon privacy.Epsilon) (*OptimalRange, error) {
	e := epsilon.Rat()
	if k < 1 || k > MostRanges || e.Sign() <= 0 || e.Cmp(big.NewRat(100, 1)) > 0 {
		return nil, fmt.Errorf("%w: the optimal composition of ranges supports 1 to %d mechanisms, with an ε above 0 and at most 100",
			ErrParameter, MostRanges)
	}
	return &OptimalRange{k, e}, nil
}

// Delta returns a lower and an upper bound of δ(e).
func (o *OptimalRange) Delta(e privacy.Epsilon) (lower, upper float64) {
	for l := range o.k + 1 {
		low, high := o.at(l, e.Rat())
		lower, upper = max(lower, low), max(upper, high)
	}
	return lower, upper
}

// shift returns t(l).
func (o *OptimalRange) shift(l int64, e *big.Rat) *big.Rat {
	t := new(big.Rat).Mul(o.epsilon, big.NewRat(l+1, 1))
	t.Add(t, e)
	return t.Quo(t, big.NewRat(o.k+1, 1))
}

// at returns bounds of the sum for t(l). With the probabilities of the first side, the i-th term is
// C(k,j)·r^j·(1−r)^(k−j)· max(0, 1 − e^(e−loss)), for j = k−i and r = e^t·p. The odds of r are (1 − e^(t−ε))/(e^(t−ε) −
// e^−ε).
func (o *OptimalRange) at(l int64, e *big.Rat) (lower, upper float64) {
	t := o.shift(l, e)
	left := new(big.Rat).Sub(o.epsilon, t)
	if t.Sign() <= 0 || left.Sign() <= 0 { // all mass is at a loss of 0
		return 0, 0
	}
	loss := func(j int64) *big.Rat { // kt − (k−j)ε
		all := new(big.Rat).Mul(t, big.NewRat(o.k, 1))
		return all.Sub(all, new(big.Rat).Mul(o.epsilon, big.NewRat(o.k-j, 1)))
	}
	above := new(big.Rat).Quo(new(big.Rat).Sub(e, loss(0)), o.epsilon)
	first := exact.FloorRat(above).Int64() + 1 // the least j with loss(j) > e, as loss(j) = loss(0) + jε
	if first > o.k {
		return 0, 0
	}
	first = max(first, 0)
	bits := uint(certainty) + zeros(o.epsilon) + zeros(t) + zeros(left)
	power := func(x *big.Rat) exact.Interval { return exact.IntervalOf(x, bits).Exp() }
	whole, near, far := exact.IntervalOf(one, bits), power(new(big.Rat).Neg(left)), power(new(big.Rat).Neg(o.epsilon))
	odds := endsOf(whole.Sub(near))
	odds.quo(endsOf(near.Sub(far)))
	b := newBinomial(o.k, odds)
	d := b.excess(first, endsOf(power(new(big.Rat).Sub(e, loss(first)))), endsOf(far))
	d.quo(b.total)
	return max(0, floatBelow(d.lo)), min(1, floatAbove(d.hi))
}

// Epsilon returns a lower and an upper bound of the least ε ≥ 0 with δ(ε) ≤ d. They are some 10⁻⁹ apart: floats find
// the place, and certified figures of δ on both sides of it make the bounds.
func (o *OptimalRange) Epsilon(d privacy.Delta) (lower, upper float64) {
	goal := d.Rat()
	all, _ := new(big.Rat).Mul(o.epsilon, big.NewRat(o.k, 1)).Float64()
	aim, _ := goal.Float64()
	low, high := 0.0, all
	for range 60 {
		if m := low + (high-low)/2; o.about(m) > aim {
			low = m
		} else {
			high = m
		}
	}
	upper = exact.FloatUp(new(big.Rat).Mul(o.epsilon, big.NewRat(o.k, 1))) // certain, by basic composition
	for step := 1e-9; step < 1; step *= 30 {
		x := high + step*all
		if x >= upper {
			break
		}
		if _, most := o.Delta(floatEpsilon(x)); most <= exact.FloatDown(goal) {
			upper = x
			break
		}
	}
	for step := 1e-9; step < 1; step *= 30 {
		x := high - step*all
		if x <= 0 {
			break
		}
		if least, _ := o.Delta(floatEpsilon(x)); least > exact.FloatUp(goal) {
			return x, upper
		}
	}
	return 0, upper
}

// floatEpsilon returns a finite x ≥ 0 as an ε.
func floatEpsilon(x float64) privacy.Epsilon { return epsilonOf(new(big.Rat).SetFloat64(x)) }

// about returns δ(e) in floats, without any promise.
func (o *OptimalRange) about(e float64) (delta float64) {
	epsilon, _ := o.epsilon.Float64()
	k := float64(o.k)
	factorial := make([]float64, o.k+1) // logarithms
	for i := range factorial {
		factorial[i], _ = math.Lgamma(float64(i) + 1)
	}
	for l := range o.k + 1 {
		t := (e + float64(l+1)*epsilon) / (k + 1)
		if !(t > 0 && t < epsilon) {
			continue
		}
		r := -math.Expm1(t-epsilon) / -math.Expm1(-epsilon) // e^t·p
		yes, no, sum := math.Log(r), math.Log1p(-r), 0.0
		for i := int64(0); i <= o.k; i++ {
			loss := k*t - float64(i)*epsilon
			if loss <= e {
				break
			}
			mass := factorial[o.k] - factorial[i] - factorial[o.k-i] + float64(o.k-i)*yes + float64(i)*no
			sum -= math.Exp(mass) * math.Expm1(e-loss)
		}
		delta = max(delta, sum)
	}
	return delta
}
