package stream

import (
	"math/big"
	"math/bits"

	"dither/privacy"
)

// L2Squared returns the squared L2 sensitivity of all releases together. The parameters must be valid.
//
// Claim: the releases' exact parts Cx of two neighbouring histories are at most √L2Squared apart. Proof: let m_t be the
// number of rows of the unit that count in period t, in all cells together. [Continual.Advance] ensures Σ m_t ≤ R =
// Rows, and m_t ≤ p = PerPeriod. Let c_t be the columns of C, and G = CᵀC. Let d_g be the numbers of the unit's rows in
// cell g, by period.
//
//  1. In any case ‖Cd‖₂ ≤ R·max_t ‖c_t‖₂, by the triangle inequality over the rows. Equality holds if all rows arrive in
//     the period with the longest column. This is the result if p = R.
//  2. The squared norm Σ_g ‖C·d_g‖² is convex, so its maximum over {0 ≤ Σ_g d_{g,t} ≤ p, Σ m_t ≤ R} is at a vertex. There
//     all rows of a period are in one cell. With R = pq + s and 0 ≤ s < p, each of at most q periods has p rows, and at
//     most one more has s. Let t_0 < t_1 < … be these periods, and m_a the rows of t_a. Then t_b ≥ b, and
//     t_b − t_a ≥ b − a. The squared norm is at most Σ_ab m_a·m_b·|G_{t_a t_b}|. We may add rows up to q periods with p
//     rows and one with s, as far as there are so many periods, because the sums below have no negative term.
//  3. Suppose that C is Toeplitz, that no entry is negative, and that its first column f does not increase. Then G_ij =
//     Σ_u f_u·f_{u+j−i} for i ≤ j, over u < n − j. It does not increase with j, nor with j − i. So the squared norm is at
//     most Σ_ab m_a·m_b·G_ab: the first periods are the worst ones. The result is the largest such sum, over the place of
//     the period with s rows. Equality holds for a unit whose rows arrive in these periods, all in one cell.
//  4. Otherwise let g(d) be the largest |G_ij| with |i − j| ≥ d. Then the squared norm is at most Σ_ab m_a·m_b·g(|a − b|).
//     Of all places of the period with s rows, an end is the worst: there it takes away the least of the sum with p rows
//     in all of them, because g does not increase. The result is the smaller one of this sum and the bound of 1.
//
// This is the bound B for add-remove neighbours. If one unit is replaced by another (change-one neighbours), the
// difference is that of two such vectors Ca and Cb, and ‖Ca − Cb‖² = ‖Ca‖² + ‖Cb‖² − 2⟨Ca, Cb⟩. The inner product is a sum
// of entries of G, one for each row of a and each row of b in the same cell. So it is at least −R²ν, where −ν is the
// smallest entry of G, or 0 if that is positive. By the triangle inequality, ‖Ca − Cb‖² is also at most 4B. The result is
// the smaller one of 2B + 2R²ν and 4B. If no entry of C is negative, ν = 0. ∎
func (m Continual) L2Squared() *big.Int {
	f := m.factor()
	squared := new(big.Int).Mul(big.NewInt(m.Rows), big.NewInt(m.Rows))
	out := new(big.Int).Mul(squared, big.NewInt(f.longest))
	if p := m.perPeriod(); p < m.Rows {
		if spread := f.spread(m.Rows, p); spread.Cmp(out) < 0 {
			out = spread
		}
	}
	if m.Neighbours == privacy.AddRemove {
		return out
	}
	twice := new(big.Int).Lsh(out, 1)
	if f.positive {
		return twice
	}
	f.multiply()
	apart := squared.Mul(squared, big.NewInt(f.negative))
	apart.Add(apart.Lsh(apart, 1), twice)
	if four := out.Lsh(out, 2); four.Cmp(apart) < 0 {
		return four
	}
	return apart
}

// perPeriod returns the most rows of one unit that count in one period.
func (m Continual) perPeriod() int64 {
	if m.PerPeriod == 0 {
		return m.Rows
	}
	return min(m.PerPeriod, m.Rows)
}

// spread returns the bound of 3 or 4 in the proof of [Continual.L2Squared].
func (f *Factor) spread(rows, p int64) *big.Int {
	// the periods with p rows, followed by one period with s rows, if s > 0
	full, s := f.Periods(), int64(0)
	if rows/p < int64(full) {
		full, s = int(rows/p), rows%p
	}
	periods := full
	if s > 0 {
		periods++
	}
	if f.decreasing() {
		return f.first(periods, p, s)
	}
	f.multiply()
	g := f.envelope
	total, alone := new(big.Int), new(big.Int) // Σ_ab g(|a − b|), and Σ_a g(a)
	term := new(big.Int)
	for d := range periods {
		times := int64(2 * (periods - d))
		if d == 0 {
			times = int64(periods)
		}
		total.Add(total, term.Mul(big.NewInt(g[d]), big.NewInt(times)))
		alone.Add(alone, big.NewInt(g[d]))
	}
	return lowered(total, alone, big.NewInt(g[0]), p, s)
}

// first returns the largest ‖Cm‖² for p rows in each of the first periods but one, which has s rows; if s is 0, all have p.
// C is Toeplitz, and no entry is negative.
func (f *Factor) first(periods int, p, s int64) *big.Int {
	n := f.Periods()
	sums := make([]uint64, n) // C·1 over the first periods; below 2³¹·MaxPeriods
	total, sum := wide{}, uint64(0)
	for t := range n {
		sum += uint64(f.column[t])
		if t >= periods {
			sum -= uint64(f.column[t-periods])
		}
		sums[t] = sum
		total.add(sum, sum)
	}
	if s == 0 {
		return lowered(total.big(), new(big.Int), new(big.Int), p, s)
	}
	most := new(big.Int)
	for k := range periods {
		alone, norm := wide{}, wide{}
		for t := k; t < n; t++ {
			e := uint64(f.column[t-k])
			alone.add(e, sums[t])
			norm.add(e, e)
		}
		if v := lowered(total.big(), alone.big(), norm.big(), p, s); v.Cmp(most) > 0 {
			most = v
		}
	}
	return most
}

// wide is a sum of products, of 128 bits.
type wide struct{ high, low uint64 }

// add adds the product of two numbers. The sum must be below 2¹²⁸.
func (w *wide) add(a, b uint64) {
	high, low := bits.Mul64(a, b)
	var carry uint64
	w.low, carry = bits.Add64(w.low, low, 0)
	w.high, _ = bits.Add64(w.high, high, carry)
}

func (w wide) big() *big.Int {
	out := new(big.Int).SetUint64(w.high)
	return out.Add(out.Lsh(out, 64), new(big.Int).SetUint64(w.low))
}

// lowered returns ‖C(p·1 − (p − s)·e)‖² from ‖C·1‖², the inner product of C·1 and Ce, and ‖Ce‖². With s = 0, no period has
// fewer rows, and the result is p²·‖C·1‖².
func lowered(total, alone, norm *big.Int, p, s int64) *big.Int {
	all := new(big.Int).Mul(total, big.NewInt(p))
	all.Mul(all, big.NewInt(p))
	if s == 0 {
		return all
	}
	less := big.NewInt(p - s)
	all.Sub(all, new(big.Int).Mul(new(big.Int).Mul(alone, less), big.NewInt(2*p)))
	return all.Add(all, new(big.Int).Mul(new(big.Int).Mul(norm, less), less))
}
