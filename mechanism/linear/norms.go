package linear

import (
	"math/big"
	"slices"
)

// Norms returns the largest L1 norm of a column of the strategy, and the largest squared L2 norm. Both are exact.
//
// Proof. A column of a Kronecker product is the Kronecker product of one column of each matrix. So its L1 norm and its
// squared L2 norm are the products of theirs. A column of a stack has the sum of its products' norms. Norms are not
// negative, so the product of the largest norms is the largest norm of a single product. For a stack, the sum of these
// is a bound, which is exact if one column attains all of them. Otherwise Norms compares all columns. ∎
func (s Strategy) Norms() (l1, l2squared *big.Int) { return s.largest(false), s.largest(true) }

// largest returns the largest norm of a column: the L1 norm, or the square of the L2 norm. It keeps the norms of one
// product at a time.
func (s Strategy) largest(squared bool) *big.Int {
	bound, attained := s.boundOnNorms(squared)
	switch {
	case attained:
		return bound
	case bound.BitLen() <= 128:
		return s.largestTwo(squared)
	}
	sums := make([]big.Int, s.columns)
	for _, p := range s.products {
		norms := p.norms(squared)
		for j := range sums {
			sums[j].Add(&sums[j], p.norm(norms, j))
		}
	}
	most := new(big.Int)
	for j := range sums {
		if sums[j].Cmp(most) > 0 {
			most = &sums[j]
		}
	}
	return most
}

// boundOnNorms returns the sum of the products' largest norms of a column, and whether one column is known to attain it.
func (s Strategy) boundOnNorms(squared bool) (bound *big.Int, attained bool) {
	bound, sum, first := new(big.Int), new(big.Int), 0 // sum is the norm of the column with the first product's largest norm
	for i, p := range s.products {
		norms := p.norms(squared)
		most, at := big.NewInt(1), 0
		for k, of := range norms {
			j, top := largest(of)
			most.Mul(most, top.integer())
			at = at*p[k].columns + j
		}
		if i == 0 {
			first = at
		}
		bound.Add(bound, most)
		sum.Add(sum, p.norm(norms, first))
	}
	return bound, len(s.products) == 1 || sum.Cmp(bound) == 0
}

// largestTwo returns the largest norm of a column, if all are below 2¹²⁸. It computes modulo 2¹²⁸, so partial products may
// overflow.
func (s Strategy) largestTwo(squared bool) *big.Int {
	sums := make([]twoWords, s.columns)
	product, next := make([]twoWords, 0, s.columns), make([]twoWords, 0, s.columns)
	for _, p := range s.products {
		product = append(product[:0], twoWords{lo: 1})
		for _, of := range p.norms(squared) {
			next = next[:0]
			for _, a := range product {
				for _, b := range of {
					next = append(next, a.times(b))
				}
			}
			product, next = next, product
		}
		for j, n := range product {
			sums[j] = sums[j].plus(n)
		}
	}
	_, most := largest(sums)
	return most.integer()
}

// norms returns the norms of the columns of each matrix.
func (p Product) norms(squared bool) [][]twoWords {
	out := make([][]twoWords, len(p))
	for k, m := range p {
		out[k] = m.norms(squared)
	}
	return out
}

// norm returns the norm of a column of the product, from the norms of the matrices' columns.
func (p Product) norm(norms [][]twoWords, column int) *big.Int {
	out := big.NewInt(1)
	for k, m := range slices.Backward(p) {
		out.Mul(out, norms[k][column%m.columns].integer())
		column /= m.columns
	}
	return out
}

// largest returns the index of the first largest norm, and this norm.
func largest(norms []twoWords) (at int, most twoWords) {
	for j, n := range norms {
		if most.less(n) {
			at, most = j, n
		}
	}
	return at, most
}

// norms returns the L1 norm of each column, or the squares of the L2 norms. An entry is at most MaxEntry = 2⁴⁰ and a
// matrix has at most MaxSide = 2²² rows, so they are at most 2¹⁰².
func (m Matrix) norms(squared bool) []twoWords {
	// a run adds to a difference array, whose prefix sums are the norms
	out := make([]twoWords, m.columns+1)
	for _, row := range m.rows {
		for _, r := range row {
			v := twoWords{lo: uint64(max(r.Value, -r.Value))}
			if squared {
				v = v.times(v)
			}
			out[r.From] = out[r.From].plus(v)
			out[r.To] = out[r.To].minus(v)
		}
	}
	for j := 1; j < m.columns; j++ {
		out[j] = out[j].plus(out[j-1])
	}
	return out[:m.columns]
}
