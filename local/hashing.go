package local

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"math/bits"

	"dither/internal/parallel"
	"dither/local/internal/coin"
	"dither/privacy"
)

// prime is 2⁶¹ − 1.
const prime = 1<<61 - 1

// hash maps values to g cells: a polynomial over the integers modulo 2⁶¹ − 1, scaled down to 0 … g − 1.
//
// If its coefficients are uniform, the polynomials of degree 1 are pairwise independent, and those of degree 2
// independent for any three values [Wegman & Carter 1981]. A cell receives ⌊P/g⌋ or ⌈P/g⌉ of the P residues. So two
// values share a cell with a probability within g/P < 10⁻¹³ of 1/g, which the estimators take for 1/g.
type hash struct{ c2, c1, c0 uint64 }

func (h hash) cell(v, g uint64) uint64 { return cellOf(h.residue(v), g) }

// residue returns the polynomial at v.
func (h hash) residue(v uint64) uint64 {
	x := add61(mul61(h.c1, v), h.c0)
	if h.c2 != 0 {
		x = add61(x, mul61(h.c2, mul61(v, v)))
	}
	return x
}

// cellOf scales a residue down.
func cellOf(x, g uint64) uint64 {
	high, low := bits.Mul64(x, g)
	return high<<3 | low>>61
}

// mul61 returns a·b modulo 2⁶¹ − 1, for a and b below it.
func mul61(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return add61(high<<3|low>>61, low&prime)
}

// add61 returns a + b modulo 2⁶¹ − 1, for a and b of at most 2⁶¹ − 1.
func add61(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

// publicHash returns the hash function with a number, of the family that a seed selects. It is public.
func publicHash(seed uint64, number uint64) hash {
	var text [16]byte
	binary.BigEndian.PutUint64(text[:8], seed)
	binary.BigEndian.PutUint64(text[8:], number)
	d := sha256.Sum256(text[:])
	at := func(i int) uint64 { return binary.BigEndian.Uint64(d[8*i:]) % prime }
	return hash{at(0), at(1), at(2)}
}

// cells returns g = round(e^ε) + 1, the number of cells with the least variance [Wang, Blocki, Li & Jha 2017], at
// most 2¹⁶. Any number is private.
func cells(e privacy.Epsilon) uint64 {
	return min(coin.Round(coin.Exp(e, 1, 1))+1, 1<<16)
}

// olh is optimized local hashing: each person draws a hash function, and sends it with the k-ary response to the cell
// of the value. A report supports the values whose cell is the sent one.
//
// Claim: olh is ε-differentially private between any two values. Proof: the hash function is drawn without the value.
// Given the function, the cell is a response of two equal cells or of two different ones (see response). ∎
type olh struct{ response }

func newOLH(p Params) scheme { return olh{newResponse(cells(p.Epsilon), p.Epsilon)} }

func (s olh) size() int                 { return 61 + 61 + width(s.k) }
func (s olh) shared() float64           { return 0 }
func (s olh) sends(r []byte) bool       { return hashedReport(r, s.k).sent(s.k) }
func (s olh) work(n, v float64) float64 { return n * v }
func (s olh) tally() tally              { return &hashed{g: s.k} }

// support returns p = 1 − ℓ and q = 1/g: a report supports another value if its sent cell is that value's cell, which
// is uniform given the true value's cell.
func (s olh) support() (p, q *big.Rat) { return s.truth(), new(big.Rat).Quo(whole(1), whole(s.k)) }

func (s olh) randomize(c coin.Chooser, v uint64, report []byte) {
	h := hash{c1: c.Below(prime), c0: c.Below(prime)}
	put(report, 0, 61, h.c1)
	put(report, 61, 61, h.c0)
	put(report, 122, width(s.k), s.draw(c, h.cell(v, s.k)))
}

// hashedCell is a report of olh: the hash function and a cell.
type hashedCell struct{ c1, c0, cell uint64 }

func hashedReport(report []byte, g uint64) hashedCell {
	return hashedCell{get(report, 0, 61), get(report, 61, 61), get(report, 122, width(g))}
}

// sent reports whether a function has such coefficients and cells.
func (r hashedCell) sent(g uint64) bool { return r.c1 < prime && r.c0 < prime && r.cell < g }

// hashed is the tally of olh. It keeps the reports, because each has its own hash function.
type hashed struct {
	g       uint64
	reports []hashedCell
}

func (t *hashed) add(report []byte) { t.reports = append(t.reports, hashedReport(report, t.g)) }

func (t *hashed) support(values []uint64) []int64 {
	out := make([]int64, len(values))
	const block = 64
	parallel.Each((len(values)+block-1)/block, func(b int) {
		part, into := values[b*block:min((b+1)*block, len(values))], out[b*block:]
		for _, r := range t.reports {
			h := hash{c1: r.c1, c0: r.c0}
			for i, v := range part {
				if h.cell(v, t.g) == r.cell {
					into[i]++
				}
			}
		}
	})
	return out
}

func (t *hashed) merge(other tally) { t.reports = append(t.reports, other.(*hashed).reports...) }
