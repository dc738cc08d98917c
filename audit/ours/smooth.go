package ours

import (
	"math/big"

	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// smooth returns the subject for the median of at most two rows with values 0…3. The noise on the median of a
// dataset x is S/α times a standard Cauchy variable. S is the largest value of e^(−βk)·A_k, where A_k is the
// largest change of the median by adding or removing one row, over all datasets that differ from x in at most k
// rows [Nissim, Raskhodnikova & Smith 2007, Definitions 2.2 and 3.1]. The law computes A_k by a search through all
// these datasets.
//
// Let e be the loss of one row. Then β is 3e/4, and α is the largest number with α² ≤ 2(cosh e − 1) and α² ≤
// 2e^β(cosh e − cosh β). With these parameters the mechanism is e-differentially private, as package mechanism
// proves. The mechanism rounds α down by a relative 10⁻¹⁵ or so, so its noise is slightly wider than that of this
// law.
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
				for o := int64(0); o < upper; o++ { // the event f + s·Z < o + ½, for the median f and the noise s·Z
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

// twiceMedian returns twice the median of rows in ascending order: x_⌊c⌋ + x_⌈c⌉ with c = (n + 1)/2. The median of
// no rows is the middle of the domain [0, upper].
func twiceMedian(rows []int64, upper int64) int64 {
	if len(rows) == 0 {
		return upper
	}
	return rows[(len(rows)-1)/2] + rows[len(rows)/2]
}

// cauchyScale returns S/α, as defined at [smooth]. For n rows, the list `all` must contain every dataset that
// differs in at most n rows, and the neighbours of these datasets.
//
// The search ends at k = n. If all n rows are removed, one row moves the median by half of the domain. This is the
// largest change possible, so the terms for k > n are smaller than the term for n.
func cauchyScale(e *big.Rat, rows []int64, all [][]int64, upper int64) exact.Interval {
	twice := make([]int64, len(rows)+1) // 2·A_k
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

// arctan returns arctan x. For |x| ≤ 1 it sums Euler's series x/(1 + x²)·Σ_k Π_{j≤k} (2j/(2j+1))·yᵏ with y = x²/(1
// + x²). In this series, the sum of all terms after one term is less than that term. For other x it uses arctan x =
// ±π/2 − arctan 1/x.
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
