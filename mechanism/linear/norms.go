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
	bound, attained, first := new(big.Int), new(big.Int), 0
	for i, p := range s.products {
		norms := p.norms(squared)
		most, at := big.NewInt(1), 0
		for k, of := range norms {
			j, top := of.largest()
			most.Mul(most, top)
			at = at*p[k].columns + j
		}
		if i == 0 {
			first = at
		}
		bound.Add(bound, most)
		attained.Add(attained, p.norm(norms, first))
	}
	switch {
	case len(s.products) == 1 || attained.Cmp(bound) == 0:
		return bound
	case bound.BitLen() <= 63:
		return new(big.Int).SetUint64(s.largestWord(squared))
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

// largestWord returns the largest norm of a column, if all are below 2⁶³.
func (s Strategy) largestWord(squared bool) uint64 {
	sums := make([]uint64, s.columns)
	for _, p := range s.products {
		product := []uint64{1}
		for k, of := range p.norms(squared) {
			next := make([]uint64, 0, len(product)*p[k].columns)
			for _, a := range product {
				for j := range p[k].columns {
					next = append(next, a*of.word(j))
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

// norms returns the norms of the columns of each matrix.
func (p Product) norms(squared bool) []columnNorms {
	out := make([]columnNorms, len(p))
	for k, m := range p {
		if out[k].words = m.wordNorms(squared); out[k].words == nil {
			out[k].wide = m.norms(squared)
		}
	}
	return out
}

// norm returns the norm of a column of the product, from the norms of the matrices' columns.
func (p Product) norm(norms []columnNorms, column int) *big.Int {
	out := big.NewInt(1)
	for k, m := range slices.Backward(p) {
		out.Mul(out, norms[k].at(column%m.columns))
		column /= m.columns
	}
	return out
}

// columnNorms are the norms of a matrix's columns: words if all are below 2⁶³, and otherwise integers of any size.
type columnNorms struct {
	words []uint64
	wide  []*big.Int
}

func (n columnNorms) at(j int) *big.Int {
	if n.words != nil {
		return new(big.Int).SetUint64(n.words[j])
	}
	return n.wide[j]
}

// word returns the norm modulo 2⁶⁴.
func (n columnNorms) word(j int) uint64 {
	if n.words != nil {
		return n.words[j]
	}
	return n.wide[j].Uint64()
}

// largest returns the first column with the largest norm, and this norm.
func (n columnNorms) largest() (int, *big.Int) {
	if n.words != nil {
		top := slices.Max(n.words)
		return slices.Index(n.words, top), new(big.Int).SetUint64(top)
	}
	top := slices.MaxFunc(n.wide, (*big.Int).Cmp)
	return slices.Index(n.wide, top), top
}
