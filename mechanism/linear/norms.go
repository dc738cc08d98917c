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

// largest returns the largest norm of a column: the L1 norm, or the square of the L2 norm.
func (s Strategy) largest(squared bool) *big.Int {
	norms := make([][][]*big.Int, len(s.products)) // by product, matrix and column
	bound, first := new(big.Int), 0
	for i, p := range s.products {
		most, at := big.NewInt(1), 0
		for _, m := range p {
			of := m.norms(squared)
			norms[i] = append(norms[i], of)
			top := slices.MaxFunc(of, (*big.Int).Cmp)
			most.Mul(most, top)
			at = at*m.columns + slices.Index(of, top)
		}
		if bound.Add(bound, most); i == 0 {
			first = at
		}
	}
	if len(s.products) == 1 || s.norm(norms, first).Cmp(bound) == 0 {
		return bound
	}
	if bound.BitLen() <= 63 {
		return new(big.Int).SetUint64(s.largestWord(norms))
	}
	most := new(big.Int)
	for j := range s.columns {
		if n := s.norm(norms, j); n.Cmp(most) > 0 {
			most = n
		}
	}
	return most
}

// norm returns the norm of a column, from the norms of the matrices' columns.
func (s Strategy) norm(norms [][][]*big.Int, column int) *big.Int {
	sum := new(big.Int)
	for i, p := range s.products {
		term, rest := big.NewInt(1), column
		for k, m := range slices.Backward(p) {
			term.Mul(term, norms[i][k][rest%m.columns])
			rest /= m.columns
		}
		sum.Add(sum, term)
	}
	return sum
}

// largestWord returns the largest norm of a column, if all are below 2⁶³.
func (s Strategy) largestWord(norms [][][]*big.Int) uint64 {
	sums := make([]uint64, s.columns)
	for i := range s.products {
		product := []uint64{1}
		for _, of := range norms[i] {
			next := make([]uint64, 0, len(product)*len(of))
			for _, a := range product {
				for _, b := range of {
					next = append(next, a*b.Uint64())
				}
			}
			product = next
		}
		for j, n := range product {
			sums[j] += n
		}
	}
	return slices.Max(sums)
}
