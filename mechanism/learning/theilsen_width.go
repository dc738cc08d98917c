package learning

import (
	"math"
	"math/big"

	"dither/privacy"
)

// This comment derives the half-widths of the intervals of TheilSen. The candidates are half-widths h₀ < h₁ < … <
// h₃₂. Each is 2^⅓ times the one before, and the last is the whole domain.
//
// Slope: let s be the released slope. S(h) is the lesser of two differences. The first is the number of pairs whose
// slopes are surely below s + 1 + h, minus the number of other pairs. The second is the number of pairs whose
// slopes are not below s − h, minus the number of other pairs. S increases with h. The draw seeks the least h for
// which S(h)/(n − 1) is at least an offset T(n) = a + b·n. The score of h_k is −d, with
//
//	W_k = S(h_k)/(n − 1) − T(n),  d(h_k) = max(0, −W_k, W_{k−1}),  W_{−1} = −∞, W₃₂ = ∞.
//
// d is 0 for some h.
//
// Lemma 2. Claim: an additional row changes d by a number in [−3/2 − b, 3/2 + b]. Proof: each difference, and so
// the lesser of two, changes by at most n. S ∈ [−N, N], so S/(n − 1) changes by at most 1 + ½, as in Lemma 1 (see
// TheilSen). T changes by b. A maximum changes by no more than one of its terms. ∎ So r = (3 + 2b)·m under
// AddRemove. A replaced row changes S/(n − 1) by at most 2, and T not at all. So r = max(4, 3 + 2b)·m under
// ChangeOne.
//
// Middle: let s be the released slope and h its half-width. Consider all slopes from s − h to s + 1 + h. S(w) is
// the lesser of two differences. The first is the number of rows with y − slope·x below middle + 1 + w for all
// these slopes, minus the number of other rows. The second is the number of rows with y − slope·x at least middle −
// w for all these slopes, minus the number of other rows. These scores are not divided by n − 1. A row changes S by
// at most 1 and d by at most 1 + b, so r = (2 + 2b)·m, and max(4, 2 + 2b)·m under ChangeOne.
//
// Coverage. Suppose that the rows are drawn independently, with y = middle + slope·x + a residual. The residual is
// independent of x, with median 0 and a continuous distribution. The slope and the middle are within their domains.
// If the slope's interval lies below the true slope θ, all pairs that are surely below its upper end are below θ.
// Then S(h)/(n − 1) is at most Kendall's sum at θ divided by n − 1, for all s and h. The other side is symmetric.
// The distribution of Kendall's sum does not depend on that of the residuals. It is approximately normal, with mean
// 0 and a variance of at most (n + 7)/9 [Kendall 1938; Sen 1968].
//
// By the inequality of the means, √(n + 7) ≤ ((n + 7)/σ + σ)/2 for all σ > 0. The right-hand side is a tangent that
// is above the root for every n, even if Rows is wrong, and touches it at n + 7 = σ². T is z/3 times that tangent
// plus a margin, which d exceeds with a probability below 1 %, by the bound of Exponential. So the slope's interval
// fails with probability 2.5 %: 1.5 % for Kendall's sum, with z = Φ⁻¹(0.9925), and 1 % for the draw. The middle's
// interval fails with another 2.5 %. Its sum is one of n signs, with variance n. So both intervals hold together
// with 95 %, up to the normal approximation. The tests simulate the coverage. This model ignores that rows are
// clamped to the ranges.

// offset is the threshold T(n) = a + b·n of a half-width's draw, and the range r of the changes of that draw's
// scores between neighbours.
type offset struct {
	a, b  int64 // in units of 1/offsetUnit
	moves *big.Rat
}

const (
	ladderSteps = 32
	offsetUnit  = 1 << 10
	// farOffset is larger than every possible score.
	farOffset = 1 << 23
)

var (
	zOfWidths = big.NewRat(2433, 1000) // Φ⁻¹(0.9925), rounded up
	// logOfWidths is ln 32 + ln 100, rounded up. With probability 99 %, the drawn candidate has d ≤ r/ε times this
	// number.
	logOfWidths = big.NewRat(8071, 1000)
)

// WidthConfidence is the joint confidence of the intervals of slope and middle.
const WidthConfidence = "0.95"

// slopeOffset returns the threshold T of the slope's half-width: z/6·((n + 7)/σ + σ) plus the margin, with z and σ
// of the derivation above.
func (m TheilSen) slopeOffset() offset {
	sigma := rootAboveInt(m.paired() + 7)
	part := new(big.Rat).Mul(zOfWidths, big.NewRat(1, 6))
	b := upToUnits(new(big.Rat).Mul(part, big.NewRat(1, sigma)))
	o := offset{b: b, moves: m.widthMoves(3, b)}
	a := new(big.Rat).Mul(part, big.NewRat(sigma, 1))
	o.a = upToUnits(a.Add(a, big.NewRat(7*b, offsetUnit)).Add(a, margin(o.moves, m.SlopeWidth)))
	return o
}

// middleOffset returns the threshold T of the middle's half-width: z/2·(n/σ + σ), plus 1 for the steps of a sum of
// signs, plus the margin, with z and σ of the derivation above.
func (m TheilSen) middleOffset() offset {
	sigma := rootAboveInt(m.paired())
	part := new(big.Rat).Mul(zOfWidths, big.NewRat(1, 2))
	b := upToUnits(new(big.Rat).Mul(part, big.NewRat(1, sigma)))
	o := offset{b: b, moves: m.widthMoves(2, b)}
	a := new(big.Rat).Mul(part, big.NewRat(sigma, 1))
	o.a = upToUnits(a.Add(a, big.NewRat(1, 1)).Add(a, margin(o.moves, m.MiddleWidth)))
	return o
}

// widthMoves returns (rows + 2b)·m, and at least 4m under ChangeOne: the range of the changes of a half-width's
// scores between neighbours. b is in units of 1/offsetUnit.
func (m TheilSen) widthMoves(rows, b int64) *big.Rat {
	r := new(big.Rat).Add(big.NewRat(rows, 1), big.NewRat(2*b, offsetUnit))
	if four := big.NewRat(4, 1); m.Neighbours == privacy.ChangeOne && r.Cmp(four) < 0 {
		r = four
	}
	return r.Mul(r, big.NewRat(m.MaxRows, 1))
}

// margin returns r/ε·(ln 32 + ln 100), where r is moves: the part of a half-width's threshold that allows for the
// error of the draw.
func margin(moves *big.Rat, e privacy.Epsilon) *big.Rat {
	t := new(big.Rat).Quo(moves, e.Rat())
	return t.Mul(t, logOfWidths)
}

// upToUnits returns a number in units of 1/offsetUnit, rounded up, and at most farOffset.
func upToUnits(r *big.Rat) int64 {
	if r.Cmp(big.NewRat(farOffset, 1)) >= 0 {
		return farOffset * offsetUnit
	}
	n := new(big.Int).Mul(r.Num(), big.NewInt(offsetUnit))
	n.Add(n, r.Denom()).Sub(n, big.NewInt(1))
	return n.Quo(n, r.Denom()).Int64()
}

// rootAboveInt returns √n, rounded up.
func rootAboveInt(n int64) int64 { return ceilSqrt(big.NewInt(n)).Int64() }

// ladder returns the half-widths for a domain: the last is the domain's width, and each one before is 2^-⅓ times
// the next, rounded up.
func ladder(domain int64) [ladderSteps + 1]int64 {
	parts := [3]int64{1 << 30, 852229451, 676414964} // 2^-⅓ and 2^-⅔ in parts of 2^30, rounded up
	var out [ladderSteps + 1]int64
	for j := range out {
		down := uint(30 + j/3)
		out[ladderSteps-j] = (domain*parts[j%3] + 1<<down - 1) >> down
	}
	return out
}

// shortfalls returns the distance d of each half-width of the ladder, times den·offsetUnit. The comment at the type
// offset defines d and S. sums has S for each half-width, den is the number by which S is divided, and rows is the
// number of rows.
func (o offset) shortfalls(sums [ladderSteps + 1]int64, rows, den int64) []int64 {
	t := (o.a + o.b*rows) * den
	// W_{−1} = −∞
	out, before := make([]int64, len(sums)), int64(math.MinInt64)
	for k, sum := range sums {
		out[k] = max(0, before)
		if k < ladderSteps {
			out[k] = max(out[k], t-sum*offsetUnit)
		}
		before = sum*offsetUnit - t
	}
	return out
}
