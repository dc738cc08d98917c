package ours

import (
	"math/big"

	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// smooth is of datasets of at most two rows of 0…3. Of a dataset x with the median f, the noise is S/α times a
// standard Cauchy variable, where S is the largest of e^(−βk)·A_k, A_k the most that one row more or less moves the
// median of any dataset at most k rows away [Nissim, Raskhodnikova & Smith 2007, Definitions 2.2 and 3.1], which is
// looked for among all of them.
//
// β is 3e/4, and α the largest with α² ≤ 2(cosh e − 1) and α² ≤ 2e^β(cosh e − cosh β), e the loss of
// one row: with these it is e-differentially private, as package mechanism proves. There α is rounded down, by a share
// of some 10⁻¹⁵, so that its noise is wider than that of this law.
func smooth() Subject {
	return smoothSubject("smooth", "the median of at most two rows of 0…3 with noise that fits the data", orderUnit, 2)
}

func smoothSubject(name, about string, unit mechanism.Unit, rows int) Subject {
	const upper = 3
	m := quantile.Smooth{Domain: quantile.Domain{Lower: 0, Upper: upper}, Unit: unit, Epsilon: epsilonOf(1, 1)}
	data, names := multisets(upper+1, rows)
	near := neighboursOf(data, unit)
	pair := [2]int{place(data), place(data, 0)}
	if unit.Neighbours == privacy.ChangeOne {
		pair = [2]int{place(data, 0), place(data, upper)}
	}
	return subject(Subject{
		Name: name, About: about,
		Source: "Nissim, Raskhodnikova & Smith 2007",
		domain: domain{inputs: names, pair: pair, draw: func(i int) (drawn, error) {
			out, err := m.Release(ordered(data[i]))
			return plain(out.Loss, out.Values...), err
		}},
		law: func() (*Law, error) {
			_, outputs := vectors(1, 0, upper)
			for i := range outputs {
				outputs[i] = label(i)
			}
			_, steps := joins(unit)
			e := new(big.Rat).Quo(m.Epsilon.Rat(), big.NewRat(steps, 1))
			all, _ := multisets(upper+1, 2*rows+1)
			l, err := roundedLaw(names, near, outputs, func(i int) (p []exact.Interval) {
				half := exact.IntervalOf(big.NewRat(1, 2), smoothBits)
				scale := cauchyScale(e, data[i], all, upper)
				f := half.Mul(exact.IntervalOf(big.NewRat(twiceMedian(data[i], upper), 1), smoothBits))
				before := exact.IntervalOf(new(big.Rat), smoothBits)
				for o := int64(0); o < upper; o++ { // f + s·Z < o + ½
					x := exact.IntervalOf(big.NewRat(2*o+1, 2), smoothBits).Sub(f).Quo(scale)
					upTo := half.Add(arctan(x).Quo(exact.Pi(smoothBits)))
					p, before = append(p, upTo.Sub(before)), upTo
				}
				return p
			})
			if err == nil {
				l.Ideal = true
			}
			return l, err
		},
	})
}

const smoothBits = 192

// twiceMedian is x_⌊c⌋ + x_⌈c⌉ of n values in order, c = (n + 1)/2, and of none the sum of the domain's ends, 0
// and upper.
func twiceMedian(rows []int64, upper int64) int64 {
	if len(rows) == 0 {
		return upper
	}
	return rows[(len(rows)-1)/2] + rows[len(rows)/2]
}

// cauchyScale is S/α. all are datasets of enough rows: those at most n rows more than the n, and their neighbours.
// Where all n rows are gone, one row moves the median by half of the domain, which is the most that is possible: terms
// of k > n are less than that of n.
func cauchyScale(e *big.Rat, rows []int64, all [][]int64, upper int64) exact.Interval {
	twice := make([]int64, len(rows)+1) // of A_k
	for _, near := range all {
		k := rowsApart(rows, near)
		if k > len(rows) {
			continue
		}
		for _, beside := range all {
			if rowsApart(near, beside) != 1 {
				continue
			}
			moved := twiceMedian(near, upper) - twiceMedian(beside, upper)
			twice[k] = max(twice[k], moved, -moved)
		}
	}
	of := func(r *big.Rat) exact.Interval { return exact.IntervalOf(r, smoothBits) }
	beta := new(big.Rat).Mul(e, big.NewRat(3, 4))
	largest := of(new(big.Rat))
	for k, a := range twice {
		term := of(big.NewRat(a, 2)).Mul(of(new(big.Rat).Mul(beta, big.NewRat(int64(-k), 1))).Exp())
		if term.Lo().Cmp(largest.Lo()) > 0 {
			largest = term
		}
	}
	cosh := func(x *big.Rat) exact.Interval {
		return of(x).Exp().Add(of(new(big.Rat).Neg(x)).Exp()).Quo(of(big.NewRat(2, 1)))
	}
	two := of(big.NewRat(2, 1))
	square := two.Mul(cosh(e).Sub(of(big.NewRat(1, 1))))
	if other := two.Mul(of(beta).Exp()).Mul(cosh(e).Sub(cosh(beta))); other.Hi().Cmp(square.Hi()) < 0 {
		square = other
	}
	return largest.Quo(square.Sqrt())
}

// arctan is Euler's series x/(1 + x²)·Σ_k Π_{j≤k} (2j/(2j+1))·yᵏ, y = x²/(1 + x²), for |x| ≤ 1, where all
// terms after one come to less than it; beyond it is ±π/2 − arctan 1/x.
func arctan(x exact.Interval) exact.Interval {
	of := func(num, den int64) exact.Interval { return exact.IntervalOf(big.NewRat(num, den), smoothBits) }
	zero, one := of(0, 1), of(1, 1)
	half := exact.Pi(smoothBits).Mul(of(1, 2))
	switch {
	case x.Hi().Sign() < 0:
		return zero.Sub(arctan(zero.Sub(x)))
	case x.Lo().Cmp(big.NewFloat(1)) > 0:
		return half.Sub(arctan(one.Quo(x)))
	}
	square := x.Mul(x)
	y := square.Quo(one.Add(square))
	sum, term := zero, x.Quo(one.Add(square))
	for k := int64(1); k <= smoothBits; k++ {
		sum = sum.Add(term)
		term = term.Mul(y).Mul(of(2*k, 2*k+1))
	}
	return sum.Add(exact.Hull(zero.Sub(term), term))
}
