package noise

import (
	"math/big"

	"dither/internal/exact"
)

// AbsoluteStep returns the step r for which a staircase of length Δ and ε has the least E|X|, where X is the noise.
// It is near Δ/(1 + exp(ε/2)). Invalid parameters are ErrScale.
//
// This least E|X| is optimal: no noise that does not depend on the value, and makes an integer of sensitivity Δ
// ε-differentially private, has a smaller one [Geng & Viswanath 2014, the discrete case].
func AbsoluteStep(length *big.Int, epsilon *big.Rat) (*big.Int, error) {
	return bestStep(length, epsilon, func(s stepped, r *big.Int) *big.Float {
		return s.add(s.mul(s.ratio, s.weight(r)), s.sum(sumFirst, r))
	})
}

// SquaredStep returns the step r for which a staircase of length Δ and ε has the least E X², where X is the noise.
// Invalid parameters are ErrScale.
func SquaredStep(length *big.Int, epsilon *big.Rat) (*big.Int, error) {
	return bestStep(length, epsilon, func(s stepped, r *big.Int) *big.Float {
		quadratic := s.mul(s.mul(s.ratio, s.weight(r)), s.quadratic)
		linear := s.mul(s.add(s.ratio, s.ratio), s.sum(sumFirst, r))
		return s.add(s.add(quadratic, linear), s.sum(sumSquares, r))
	})
}

// stepped holds the terms of a staircase's error that do not depend on the step r, as floats with the given number
// of bits. Δ and b are those of [Staircase].
type stepped struct {
	bits             uint
	length           *big.Int
	b                *big.Float
	ratio, quadratic *big.Float // Δb/(1 − b) and Δ(1 + b)/(1 − b)
}

// bestStep returns the step r from 1 to Δ with the least error. Up to a constant factor, the error is
// numerator(r)/D(r), where D is the divisor of [Staircase]. For both errors, the numerator is convex in a real r ≥
// 1, because b < 1 and the sums of the first powers are convex (see Staircase.moments). D is a positive linear
// function. So the quotient decreases up to the best r and increases after it, and bisection finds it.
//
// The floats have enough bits to compare neighbours, whose relative difference is about Δ⁻³(1 − b)². A wrong
// comparison would cost negligible accuracy, and no privacy, because every r is private.
func bestStep(length *big.Int, epsilon *big.Rat, numerator func(stepped, *big.Int) *big.Float) (*big.Int, error) {
	if err := checkStairs(length, epsilon); err != nil {
		return nil, err
	}
	tiny := max(0, epsilon.Denom().BitLen()-epsilon.Num().BitLen()+1) // 1 − b is about 2^(−tiny)
	s := stepped{bits: uint(256 + 6*length.BitLen() + 4*tiny), length: length}
	s.b = exact.IntervalOf(new(big.Rat).Neg(epsilon), s.bits).Exp().Lo()
	one := s.of(big.NewInt(1))
	s.ratio = s.quo(s.mul(s.of(length), s.b), s.sub(one, s.b))
	s.quadratic = s.quo(s.mul(s.of(length), s.add(one, s.b)), s.sub(one, s.b))
	errorAt := func(r *big.Int) *big.Float {
		divisor := s.sub(s.mul(s.of(big.NewInt(2)), s.weight(r)), s.sub(one, s.b))
		return s.quo(numerator(s, r), divisor)
	}
	low, high := big.NewInt(1), new(big.Int).Set(length)
	for low.Cmp(high) < 0 {
		middle := new(big.Int).Add(low, high)
		middle.Rsh(middle, 1)
		next := new(big.Int).Add(middle, big.NewInt(1))
		if errorAt(next).Cmp(errorAt(middle)) >= 0 {
			high = middle
		} else {
			low = next
		}
	}
	return low, nil
}

// weight returns Σ w over 0 ≤ j < Δ, where w = 1 for j < r and w = b = exp(−ε) for j ≥ r. sum returns the sum with
// other summands in place of 1, such as j.
func (s stepped) weight(r *big.Int) *big.Float {
	return s.sum(func(x *big.Int) *big.Int { return new(big.Int).Set(x) }, r)
}

func (s stepped) sum(power func(*big.Int) *big.Int, r *big.Int) *big.Float {
	low, all := power(r), power(s.length)
	return s.add(s.of(low), s.mul(s.b, s.of(all.Sub(all, low))))
}

func (s stepped) float() *big.Float              { return new(big.Float).SetPrec(s.bits) }
func (s stepped) of(x *big.Int) *big.Float       { return s.float().SetInt(x) }
func (s stepped) add(x, y *big.Float) *big.Float { return s.float().Add(x, y) }
func (s stepped) sub(x, y *big.Float) *big.Float { return s.float().Sub(x, y) }
func (s stepped) mul(x, y *big.Float) *big.Float { return s.float().Mul(x, y) }
func (s stepped) quo(x, y *big.Float) *big.Float { return s.float().Quo(x, y) }
