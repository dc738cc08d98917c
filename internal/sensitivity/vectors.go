package sensitivity

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/privacy"
)

// entry bounds what one row adds to one entry of a sum: a number from lo ≤ 0 to hi ≥ 0. In the squared L2 norm, the
// entry has the given weight.
type entry struct {
	lo, hi *big.Int
	weight int64
}

// OfVectors returns how far the vector of a sum of row vectors, over all entries of all cells, can move. With
// doubled, entries off the diagonal of a symmetric product count twice in L2Squared (mechanism.SymmetricGaussian).
//
// Claim: the vector moves by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm.
//
// Proof. At most m = Caps.Rows rows of a unit count, and the unit's own rows alone decide which. Each row is in one
// cell. It adds t to the cell, where t is (1), x, x yᵀ, or the upper triangle of x xᵀ, and x and y are the integer
// coordinates of its blocks. For every counting row, let A₁ bound ‖x‖₁ and let A₂ bound ‖x‖₂² (see Norms), and
// let B₁ and B₂ bound the same norms of y.
//
//   - ‖t‖₁ ≤ N₁ and ‖t‖₂² ≤ N₂. For the count, both are 1. For x, they are A₁ and A₂. For x yᵀ, Σ|x_a y_b| =
//     ‖x‖₁‖y‖₁ ≤ A₁B₁ and Σ(x_a y_b)² = ‖x‖₂²‖y‖₂² ≤ A₂B₂. For the triangle, Σ_{a≤b} |x_a x_b| = (‖x‖₁² + ‖x‖₂²)/2
//     ≤ (A₁² + A₂)/2. With doubled entries off the diagonal, Σ_a x_a⁴ + 2Σ_{a<b} x_a²x_b² = ‖x‖₂⁴ ≤ A₂², which is
//     also a bound without doubling.
//   - Each entry of t is in [l_e, h_e], which follows from the ranges of the coordinates. So ‖t‖₁ ≤ Σ max(−l_e,
//     h_e), and likewise for ‖t‖₂².
//
// Let N₁ and N₂ be the smaller of these bounds. Let c be the contribution of one unit to the vector. It is a sum of
// at most m such t, each in its cell. By the triangle inequality, ‖c‖₁ ≤ mN₁ and ‖c‖₂ ≤ m√N₂. (With doubled
// entries, ‖·‖₂ is a norm too.)
//
// Under add/remove, the vectors differ by c. Under change-one, they differ by c − c′. So they differ by at most
// 2mN₁ in L1, and ‖c − c′‖₂² = ‖c‖² + ‖c′‖² − 2c·c′ ≤ 4m²N₂. It is at most 2m²N₂ if c·c′ ≥ 0, which holds in two
// cases. First, each entry has one sign (l_e = 0 or h_e = 0). Second, for the triangle with doubled entries, c·c′
// is, cell by cell, the inner product tr(CC′) of symmetric matrices that are sums of x xᵀ, which is Σ(x·x′)² ≥ 0.
// With one cell, each entry of c and of c′ is in [m·l_e, m·h_e], so they differ by at most m(h_e − l_e). Both
// results are at least 1, so a sum that is 0 by its bounds gets noise too. ∎
func OfVectors(b *bounded.Statement, s *bounded.VectorSum, n privacy.Neighbours, doubled bool) Bound {
	all := entries(b, s, doubled)
	rowL1, rowL2 := rowNorms(b, s)
	apart1, apart2, signed := new(big.Int), new(big.Int), true
	most1, most2 := new(big.Int), new(big.Int)
	for _, e := range all {
		reach := exact.Larger(new(big.Int).Neg(e.lo), e.hi)
		width := new(big.Int).Sub(e.hi, e.lo)
		signed = signed && (e.lo.Sign() == 0 || e.hi.Sign() == 0)
		add := func(l1, l2 *big.Int, x *big.Int) {
			l1.Add(l1, x)
			square := new(big.Int).Mul(x, x)
			l2.Add(l2, square.Mul(square, big.NewInt(e.weight)))
		}
		add(most1, most2, reach)
		add(apart1, apart2, width)
	}
	l1, l2squared := new(big.Int).Set(exact.Smaller(rowL1, most1)), new(big.Int).Set(exact.Smaller(rowL2, most2))
	if n == privacy.ChangeOne {
		l1.Lsh(l1, 1)
		l2squared.Lsh(l2squared, 1)
		if !signed && (!s.Symmetric() || !doubled) {
			l2squared.Lsh(l2squared, 1)
		}
		if b.Cells() == 1 {
			l1, l2squared = exact.Smaller(l1, apart1), exact.Smaller(l2squared, apart2)
		}
	}
	rows := big.NewInt(b.Caps.Rows)
	l1 = new(big.Int).Mul(l1, rows)
	l2squared = new(big.Int).Mul(l2squared, rows.Mul(rows, rows))
	one := big.NewInt(1)
	return Bound{L1: exact.Larger(l1, one), L2Squared: exact.Larger(l2squared, one)}
}

// entries returns the bounds of each entry of a sum. A coordinate has the bounds of its measure, or the Most
// of its block if that is smaller. A product has the smallest and the largest product of the bounds. A square is
// not negative.
func entries(b *bounded.Statement, s *bounded.VectorSum, doubled bool) (out []entry) {
	ends := coordinateEnds(b)
	zero, one := new(big.Int), big.NewInt(1)
	for _, t := range b.RowVectors.Terms(s) {
		e := entry{zero, one, 1}
		switch {
		case t.B >= 0:
			e.lo, e.hi = zero, zero
			for _, x := range ends[t.A] {
				for _, y := range ends[t.B] {
					p := new(big.Int).Mul(x, y)
					if t.A != t.B || x == y {
						e.lo, e.hi = exact.Smaller(e.lo, p), exact.Larger(e.hi, p)
					}
				}
			}
			if doubled && s.Symmetric() && t.A != t.B {
				e.weight = 2
			}
		case t.A >= 0:
			e.lo, e.hi = exact.Smaller(ends[t.A][0], zero), exact.Larger(ends[t.A][1], zero)
		}
		out = append(out, e)
	}
	return out
}

// coordinateEnds returns the smallest and the largest value of each coordinate.
func coordinateEnds(b *bounded.Statement) [][2]*big.Int {
	out := make([][2]*big.Int, len(b.Measures))
	for _, k := range b.RowVectors.Blocks {
		for i := k.First; i < k.First+k.Size; i++ {
			lo, hi := b.Measures[i].Lo, b.Measures[i].Hi
			// scaling moves a coordinate towards 0, and its magnitude is at most the norm of the vector
			if k.Scale > 0 {
				lo, hi = max(min(lo, 0), -k.Most), min(max(hi, 0), k.Most)
			}
			out[i] = [2]*big.Int{big.NewInt(lo), big.NewInt(hi)}
		}
	}
	return out
}

// rowNorms returns N₁ and N₂ of OfVectors, from the norms of the blocks.
func rowNorms(b *bounded.Statement, s *bounded.VectorSum) (l1, l2squared *big.Int) {
	if s.Kind == bounded.SumOne {
		return big.NewInt(1), big.NewInt(1)
	}
	l1, l2squared = Norms(b, b.RowVectors.Blocks[s.I])
	if s.Kind == bounded.SumFirst {
		return l1, l2squared
	}
	other1, other2 := Norms(b, b.RowVectors.Blocks[s.J])
	if !s.Symmetric() {
		return new(big.Int).Mul(l1, other1), new(big.Int).Mul(l2squared, other2)
	}
	half := new(big.Int).Mul(l1, l1)
	half.Add(half, l2squared).Add(half, big.NewInt(1)).Rsh(half, 1)
	return half, new(big.Int).Mul(l2squared, l2squared)
}

// Norms returns bounds on the coordinates of a block in every counting row, in grid units: A₁ ≥ ‖x‖₁ and A₂ ≥ ‖x‖₂².
// Both follow from the ranges of the coordinates. If the statement enforces Most = R, they also follow from R: ‖x‖₁ ≤ R
// implies ‖x‖₂ ≤ ‖x‖₁ ≤ R, and ‖x‖₂ ≤ R implies ‖x‖₁ ≤ √d·R.
func Norms(b *bounded.Statement, k bounded.Block) (l1, l2squared *big.Int) {
	l1, l2squared = box(b.Measures[k.First:k.First+k.Size], coordinateEnds(b)[k.First:k.First+k.Size])
	if k.Scale == 0 {
		return l1, l2squared
	}
	most := big.NewInt(k.Most)
	square := new(big.Int).Mul(most, most)
	if k.Norm == bounded.NormL2 {
		most = CeilRoot(new(big.Int).Mul(square, big.NewInt(int64(k.Size))))
	}
	return exact.Smaller(l1, most), exact.Smaller(l2squared, square)
}

// Box returns bounds on the norms of vectors whose coordinates lie within the measures' bounds: on the L1 norm, and on
// the square of the L2 norm.
func Box(coordinates []*bounded.Measure) (l1, l2squared *big.Int) { return box(coordinates, nil) }

// box returns bounds on the norms of vectors whose coordinates lie within ends, or within the measures' own bounds
// if ends is nil.
func box(coordinates []*bounded.Measure, ends [][2]*big.Int) (l1, l2squared *big.Int) {
	l1, l2squared = new(big.Int), new(big.Int)
	for i, m := range coordinates {
		reach := exact.Larger(new(big.Int).Abs(big.NewInt(m.Lo)), new(big.Int).Abs(big.NewInt(m.Hi)))
		if ends != nil {
			reach = new(big.Int).Abs(ends[i][0])
			reach = exact.Larger(reach, new(big.Int).Abs(ends[i][1]))
		}
		l1.Add(l1, reach)
		l2squared.Add(l2squared, new(big.Int).Mul(reach, reach))
	}
	return l1, l2squared
}

// CeilRoot returns ⌈√n⌉.
func CeilRoot(n *big.Int) *big.Int {
	r := new(big.Int).Sqrt(n)
	if new(big.Int).Mul(r, r).Cmp(n) < 0 {
		r.Add(r, big.NewInt(1))
	}
	return r
}
