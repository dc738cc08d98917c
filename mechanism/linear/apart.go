package linear

import (
	"math/big"
	"slices"
)

const (
	// pairWork is the largest number of steps that comparing the columns of matrices takes.
	pairWork = 1 << 28
	// mostKinds is the largest number of kinds of pairs that are combined with those of the next matrix.
	mostKinds = 1 << 12
	// mostPairs is the largest number of pairs, one for each product of each kind, that combining kinds takes.
	mostPairs = 1 << 20
)

// pair describes two columns a and b of a matrix: their norms, and how much they have in common.
type pair struct{ a, b, common int64 }

// Apart returns bounds on the differences v·a − v′·b, where a and b are columns of the strategy, and v and v′ are
// integers from lo ≤ 0 to hi ≥ 0: on their L1 norm, and on their squared L2 norm. The bound on the squared L2 norm is
// exact. A result is nil if it would take too many steps. That depends on the strategy alone.
//
// Claim: both results are bounds. Proof. A norm is convex, so the largest norm is attained with v and v′ in {lo, hi}.
//
//   - ‖va − v′b‖₂² = v²‖a‖₂² + v′²‖b‖₂² − 2vv′·a·b. Inner products of Kronecker products are products of inner
//     products, and those of stacks are sums of inner products.
//   - For v = v′, ‖va − vb‖₁ = |v|(‖a‖₁ + ‖b‖₁ − 2c), where c = Σ min(|a_i|, |b_i|) over the rows i in which a and b
//     have the same sign. Otherwise one of v and v′ is lo and the other hi, and ‖va − v′b‖₁ ≤ |v|·‖a‖₁ + |v′|·‖b‖₁.
//     For a Kronecker product, c is at least the product of the matrices' numbers: if two columns have the same sign in
//     a row of each matrix, they have the same sign in the product of these rows. The minimum of two products of
//     magnitudes is at least the product of the minima. For a stack, c is the sum of the products' numbers.
//
// The largest value over all pairs of columns is found by kinds: all pairs of columns of a matrix with the same norms
// and the same c (or inner product) are one kind. A pair of columns of the strategy is a choice of one kind for each
// factor. ∎
func (s Strategy) Apart(lo, hi *big.Int) (l1, l2squared *big.Int) {
	by := s.aligned()
	if by == nil {
		return nil, nil
	}
	return apart(by, lo, hi, false), apart(by, lo, hi, true)
}

// aligned returns the matrices by factor and then by product, if the factors of all products have the same numbers of
// columns. Otherwise it multiplies the matrices of each product out, if that is little work, or returns nil.
func (s Strategy) aligned() [][]Matrix {
	if s.sameFactors() {
		by := make([][]Matrix, len(s.products[0]))
		for _, p := range s.products {
			for k, m := range p {
				by[k] = append(by[k], m)
			}
		}
		return by
	}
	if float64(s.columns)*float64(s.columns)*float64(s.all) > pairWork {
		return nil
	}
	var out []Matrix
	for _, p := range s.products {
		m, err := p.multiplied()
		if err != nil { // an entry is too large
			return nil
		}
		out = append(out, m)
	}
	return [][]Matrix{out}
}

// sameFactors reports whether the factors of all products have the same numbers of columns.
func (s Strategy) sameFactors() bool {
	columns := func(a, b Matrix) bool { return a.columns == b.columns }
	return !slices.ContainsFunc(s.products, func(p Product) bool { return !slices.EqualFunc(p, s.products[0], columns) })
}

// multiplied returns the product as one matrix. It returns ErrParameter if an entry exceeds MaxEntry.
func (p Product) multiplied() (Matrix, error) {
	out := [][]int64{{1}}
	for _, m := range p {
		right := m.Dense()
		next := make([][]int64, 0, len(out)*len(right))
		for _, a := range out {
			for _, b := range right {
				row := make([]int64, 0, len(a)*len(b))
				for _, x := range a {
					for _, y := range b {
						v := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
						if v.BitLen() > 62 {
							return Matrix{}, wrong("an entry of the product is too large")
						}
						row = append(row, v.Int64())
					}
				}
				next = append(next, row)
			}
		}
		out = next
	}
	return Dense(out)
}

// apart returns the bound of [Strategy.Apart] on the L1 norm, or on the square of the L2 norm. by lists the matrices by
// factor and then by product.
func apart(by [][]Matrix, lo, hi *big.Int, squared bool) *big.Int {
	work := 0.0
	for _, all := range by {
		for _, m := range all {
			work += float64(m.columns) * float64(m.columns) * float64(len(m.rows))
		}
	}
	if work > pairWork {
		return nil
	}
	// a kind lists, for each product, the norms of two columns and what they have in common
	kinds, pairs := [][]*big.Int{ones(3 * len(by[0]))}, mostPairs
	for _, all := range by {
		of := kindsOf(all, squared)
		if of == nil || len(of)*len(kinds) > 64*mostKinds {
			return nil
		}
		if pairs -= len(of) * len(kinds) * len(all); pairs < 0 {
			return nil
		}
		if kinds = combined(kinds, of); len(kinds) > mostKinds {
			return nil
		}
	}
	most := new(big.Int)
	for _, k := range kinds {
		a, b, common := new(big.Int), new(big.Int), new(big.Int)
		for i := 0; i < len(k); i += 3 {
			a.Add(a, k[i])
			b.Add(b, k[i+1])
			common.Add(common, k[i+2])
		}
		for _, v := range []*big.Int{lo, hi} {
			for _, w := range []*big.Int{lo, hi} {
				if d := distance(a, b, common, v, w, squared); d.Cmp(most) > 0 {
					most = d
				}
			}
		}
	}
	return most
}

// distance bounds the norm of va − wb, from the norms of a and b and what they have in common.
func distance(a, b, common, v, w *big.Int, squared bool) *big.Int {
	if squared {
		x := new(big.Int).Mul(v, v)
		y := new(big.Int).Mul(w, w)
		z := new(big.Int).Mul(v, w)
		z.Lsh(z.Mul(z, common), 1)
		x.Add(x.Mul(x, a), y.Mul(y, b))
		return x.Sub(x, z)
	}
	x, y := new(big.Int).Abs(v), new(big.Int).Abs(w)
	out := new(big.Int).Mul(x, a)
	out.Add(out, y.Mul(y, b))
	if v.Cmp(w) == 0 {
		out.Sub(out, x.Lsh(x.Mul(x, common), 1))
	}
	return out
}

func ones(n int) []*big.Int {
	out := make([]*big.Int, n)
	for i := range out {
		out[i] = big.NewInt(1)
	}
	return out
}

// combined returns the kinds of pairs of the columns of a Kronecker product, without repeats.
func combined(left [][]*big.Int, right map[string][]pair) (out [][]*big.Int) {
	seen := map[string]bool{}
	for _, l := range left {
		for _, r := range right {
			k := make([]*big.Int, 0, len(l))
			var text []byte
			for i, p := range r {
				for j, x := range [3]int64{p.a, p.b, p.common} {
					y := new(big.Int).Mul(l[3*i+j], big.NewInt(x))
					k, text = append(k, y), append(y.Append(text, 36), ' ')
				}
			}
			if !seen[string(text)] {
				seen[string(text)] = true
				out = append(out, k)
			}
		}
	}
	return out
}

// kindsOf returns the kinds of pairs of columns of matrices with the same columns, each with one pair for each matrix.
// It returns nil if a number may exceed 63 bits.
func kindsOf(all []Matrix, squared bool) map[string][]pair {
	n := all[0].columns
	var norms [][]twoWords
	var dense [][][]int64
	for _, m := range all {
		of := m.norms(squared)
		for _, x := range of {
			if x.hi != 0 || x.lo>>62 != 0 { // by the Cauchy–Schwarz inequality, an inner product is at most the larger norm
				return nil
			}
		}
		norms, dense = append(norms, of), append(dense, transposed(m))
	}
	out := map[string][]pair{}
	of := make([]pair, len(all))
	var key []byte
	for i := range n {
		for j := range n {
			key = key[:0]
			for p := range all {
				of[p] = pair{int64(norms[p][i].lo), int64(norms[p][j].lo), common(dense[p][i], dense[p][j], squared)}
				key = of[p].append(key)
			}
			if _, known := out[string(key)]; !known {
				if out[string(key)] = append([]pair(nil), of...); len(out) > 64*mostKinds || len(out)*len(all) > mostPairs {
					return nil
				}
			}
		}
	}
	return out
}

// append appends the pair's bytes.
func (p pair) append(b []byte) []byte {
	for _, x := range [3]int64{p.a, p.b, p.common} {
		for shift := 0; shift < 64; shift += 8 {
			b = append(b, byte(x>>shift))
		}
	}
	return b
}

// transposed returns the matrix's columns.
func transposed(m Matrix) [][]int64 {
	out := make([][]int64, m.columns)
	for j := range out {
		out[j] = make([]int64, len(m.rows))
	}
	for i, row := range m.rows {
		for _, r := range row {
			for j := r.From; j < r.To; j++ {
				out[j][i] = r.Value
			}
		}
	}
	return out
}

// common returns the inner product of two columns if squared, and otherwise the sum of min(|a_i|, |b_i|) over the rows
// in which they have the same sign. The inner product is computed modulo 2⁶⁴, and is below 2⁶³ in magnitude.
func common(a, b []int64, squared bool) (sum int64) {
	if squared {
		for i, x := range a {
			sum += x * b[i]
		}
		return sum
	}
	for i, x := range a {
		switch y := b[i]; {
		case x > 0 && y > 0:
			sum += min(x, y)
		case x < 0 && y < 0:
			sum += min(-x, -y)
		}
	}
	return sum
}
