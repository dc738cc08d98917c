package linear

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

// Product is the Kronecker product of its matrices. The number of its rows and of its columns is the product of the
// matrices' numbers. The index of the last matrix changes fastest, as the last key of a GROUP BY does.
type Product []Matrix

// Strategy is a stack of products: the queries of all products on one vector. It is immutable. The zero value is
// invalid.
type Strategy struct {
	products []Product
	columns  int
	rows     []int // of each product
	all      int
	work     int64
}

// NewStrategy returns the stack of the products, which must have the same number of columns. It returns ErrParameter
// if a product is empty, if the numbers of columns differ, and if the strategy exceeds a limit of this package.
func NewStrategy(products ...Product) (Strategy, error) {
	if len(products) < 1 || len(products) > MaxProducts {
		return Strategy{}, wrong("a strategy has between 1 and %d products", MaxProducts)
	}
	s, runs, work := Strategy{}, 0, 0.0
	for i, p := range products {
		if len(p) < 1 || len(p) > MaxFactors {
			return Strategy{}, wrong("product %d has %d matrices; it has between 1 and %d", i+1, len(p), MaxFactors)
		}
		rows, columns := 1, 1
		for k, m := range p {
			if m.columns == 0 {
				return Strategy{}, wrong("matrix %d of product %d is the zero value", k+1, i+1)
			}
			runs += m.runs
			// both factors are at most MaxSide+1, so the products fit into 64 bits
			rows, columns = min(rows*m.Rows(), MaxSide+1), min(columns*m.columns, MaxSide+1)
		}
		s.all += rows
		if rows > MaxSide || columns > MaxSide || s.all > MaxSide || runs > MaxRuns {
			return Strategy{}, wrong("a strategy has at most %d rows, %d columns and %d runs of equal entries",
				MaxSide, MaxSide, MaxRuns)
		}
		if i > 0 && columns != s.columns {
			return Strategy{}, wrong("product %d has %d columns, and product 1 has %d", i+1, columns, s.columns)
		}
		size, steps := p.work(columns)
		if work += steps; size > MaxSide || work > MaxWork {
			return Strategy{}, wrong("product %d takes too many steps or too much memory to apply", i+1)
		}
		s.columns, s.work = columns, int64(work)
		s.rows, s.products = append(s.rows, rows), append(s.products, append(Product(nil), p...))
	}
	return s, nil
}

// work returns the largest number of values that applying the product to the given number of columns keeps at once,
// and about how many additions it takes.
func (p Product) work(columns int) (size, steps float64) {
	left, right := 1.0, float64(columns)
	for _, m := range p {
		steps += left * right
		right /= float64(m.columns)
		steps += left * right * float64(m.runs+len(m.rows))
		left *= float64(len(m.rows))
		size = max(size, left*right)
	}
	return size, steps
}

// Rows returns the number of queries.
func (s Strategy) Rows() int { return s.all }

// Columns returns the number of entries of the vector that the queries read.
func (s Strategy) Columns() int { return s.columns }

// Work returns about how many additions Apply takes. It is at most MaxWork.
func (s Strategy) Work() int64 { return s.work }

// Products returns the products of the stack. The caller must not change them.
func (s Strategy) Products() []Product { return s.products }

// Signless reports whether no entry of any matrix is negative. Then no entry of the strategy is.
func (s Strategy) Signless() bool {
	for _, p := range s.products {
		for _, m := range p {
			if !m.signless() {
				return false
			}
		}
	}
	return true
}

// Digest returns the SHA-256 digest of an encoding that determines the products and their matrices.
func (s Strategy) Digest() string {
	h := sha256.New()
	b := append([]byte("dither strategy 1\n"), byte(len(s.products)>>8), byte(len(s.products)))
	for _, p := range s.products {
		b = append(b, byte(len(p)))
		for _, m := range p {
			b = m.encode(b)
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// Reach returns the largest L1 norm of a row: no query differs by more than Reach times as much as the vector's entries
// do.
func (s Strategy) Reach() *big.Int {
	most := new(big.Int)
	for _, p := range s.products {
		if r := p.reach(); r.Cmp(most) > 0 {
			most = r
		}
	}
	return most
}

// reach returns the largest L1 norm of a row, the product of the matrices' numbers.
func (p Product) reach() *big.Int {
	out := big.NewInt(1)
	for _, m := range p {
		out.Mul(out, m.widest())
	}
	return out
}

// Apply returns the exact answers of the strategy's queries on x, as opaque as x: first all rows of the first product.
// x must have as many values as the strategy has columns; otherwise Apply returns ErrParameter. No other argument makes
// it fail.
//
// most is a public bound on the magnitudes of the values, or nil. It only chooses the arithmetic. If it proves that all
// answers are below 2⁶³, Apply computes modulo 2⁶⁴. The ring of integers modulo 2⁶⁴ has the same sums and products, so
// intermediate results may overflow, and the answers are exact. Apply checks the bound, and otherwise uses integers of
// any size. Then the running time depends on no value within the bound.
func (s Strategy) Apply(x []mechanism.Exact, most *big.Int) ([]mechanism.Exact, error) {
	if len(x) != s.columns {
		return nil, wrong("%d values for %d columns", len(x), s.columns)
	}
	out := make([]mechanism.Exact, 0, s.all)
	var words []int64
	var wide []*big.Int
	for _, p := range s.products {
		if words == nil && wide == nil {
			words, wide = opened(x, most)
		}
		if words != nil && fits(p, most) {
			out = append(out, opaque.NewExacts(p.words(words))...)
			continue
		}
		if wide == nil {
			wide = all(x)
		}
		for _, v := range p.wide(wide) {
			out = append(out, opaque.NewExact(v))
		}
	}
	return out, nil
}

// opened returns the values as words if all are within the bound, which has at most 62 bits. Otherwise it returns the
// integers themselves.
func opened(x []mechanism.Exact, most *big.Int) (words []int64, wide []*big.Int) {
	if most == nil || most.BitLen() > 62 {
		return nil, all(x)
	}
	words = make([]int64, len(x))
	bound := most.Int64()
	for i, e := range x {
		word, ok := opaque.OpenWord(e)
		if !ok || word > bound || word < -bound {
			return nil, all(x)
		}
		words[i] = word
	}
	return words, nil
}

// all returns the integers of exact values.
func all(x []mechanism.Exact) []*big.Int {
	out := make([]*big.Int, len(x))
	for i, e := range x {
		out[i] = opaque.Open(e)
	}
	return out
}

// fits reports whether all answers of p are below 2⁶³ in magnitude if the values are at most most.
func fits(p Product, most *big.Int) bool {
	return new(big.Int).Mul(p.reach(), most).BitLen() <= 63
}

// words applies the product modulo 2⁶⁴, matrix by matrix. x is not changed.
func (p Product) words(x []int64) []int64 {
	left, right := 1, len(x)
	for _, m := range p {
		right /= m.columns
		out := make([]int64, left*len(m.rows)*right)
		sums := make([]int64, (m.columns+1)*right) // sums[j*right+r] is the sum of the first j entries
		for l := range left {
			for j := range m.columns {
				in, before, after := x[(l*m.columns+j)*right:][:right], sums[j*right:][:right], sums[(j+1)*right:][:right]
				for r := range right {
					after[r] = before[r] + in[r]
				}
			}
			for i, row := range m.rows {
				to := out[(l*len(m.rows)+i)*right:][:right]
				for _, run := range row {
					from, until := sums[run.From*right:][:right], sums[run.To*right:][:right]
					for r := range right {
						to[r] += run.Value * (until[r] - from[r])
					}
				}
			}
		}
		x, left = out, left*len(m.rows)
	}
	return x
}

// wide is words for integers of any size.
func (p Product) wide(x []*big.Int) []*big.Int {
	left, right := 1, len(x)
	term := new(big.Int)
	for _, m := range p {
		right /= m.columns
		out := make([]*big.Int, left*len(m.rows)*right)
		for i := range out {
			out[i] = new(big.Int)
		}
		sums := make([]*big.Int, (m.columns+1)*right)
		for i := range sums {
			sums[i] = new(big.Int)
		}
		for l := range left {
			for j := range m.columns {
				for r := range right {
					sums[(j+1)*right+r].Add(sums[j*right+r], x[(l*m.columns+j)*right+r])
				}
			}
			for i, row := range m.rows {
				for _, run := range row {
					for r := range right {
						term.Sub(sums[run.To*right+r], sums[run.From*right+r])
						term.Mul(term, big.NewInt(run.Value))
						to := out[(l*len(m.rows)+i)*right+r]
						to.Add(to, term)
					}
				}
			}
		}
		x, left = out, left*len(m.rows)
	}
	return x
}
