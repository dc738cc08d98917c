package learning

import (
	"math"
	"math/big"

	"dither/privacy"
)

// How far the truth may be from an estimate. Candidates are the half-widths h₀ < h₁ < … < h₃₂ of a ladder,
// each 2^⅓ times the one before; the last one is the whole domain.
//
// Of the slope: with the released s, and S(h) the lesser of "pairs whose slopes are surely below s + 1 + h, less the
// other pairs" and of "pairs whose slopes are not below s − h, less the others". S rises with h. Sought is the least
// h whose S(h)/(n − 1) is not below an offset T(n) = a + b·n: the score of h_k is −d, with
//
//	W_k = S(h_k)/(n − 1) − T(n),  d(h_k) = max(0, −W_k, W_{k−1}),  W_{−1} = −∞, W₃₂ = ∞,
//
// which is 0 for some h.
//
// Lemma 2. A row that comes moves d by a number of [−3/2 − b, 3/2 + b]: each sum, and so the lesser of two, moves
// by at most n, and S ∈ [−N, N], so that S/(n − 1) moves by at most 1 + ½, as in Lemma 1; T moves by b; a
// maximum of numbers moves by no more than one of them. So r = (3 + 2b)·m under AddRemove. A row that is replaced
// moves S/(n − 1) by at most 2, and T not: under ChangeOne r = max(4, 3 + 2b)·m.
//
// Of the middle: with slope s and its half-width h released, and all slopes from s − h to s + 1 + h in mind, S(w) is
// the lesser of "rows whose y less any such slope times x is below the middle + 1 + w, less the others" and of "rows
// for which it is not below the middle − w, less the others". Here scores are not divided: a row moves S by at most
// 1, d by 1 + b, r = (2 + 2b)·m, and max(4, 2 + 2b)·m under ChangeOne.
//
// Coverage. Let the rows be drawn independently, y = middle + slope·x + a residual that is independent of x, of median
// 0, and of a continuous distribution; and let both be within the domain. If the interval of the slope misses the truth
// θ above, all pairs that are surely below its end are below θ, so that S(h)/(n − 1) is at most Kendall's sum at θ
// over n − 1, whatever s and h are; likewise below. Its distribution does not depend on that of residuals, and is
// about normal of mean 0 and a variance of at most (n + 7)/9 [Kendall 1938; Sen 1968]. By the inequality of the means
// √(n + 7) ≤ ((n + 7)/σ + σ)/2 for all σ > 0: a tangent, which lies above for every n, however wrong Rows is,
// and touches where n + 7 = σ². T is z/3 of that tangent and a margin, which d exceeds with a probability below 1 %,
// by the bound of Exponential. So the interval fails with probability 2.5 %: 1.5 % for Kendall's sum, z =
// Φ⁻¹(0.9925), and 1 % for the draw. The middle's fails with 2.5 % more: there the sum is that of n signs, of
// variance n. So both hold together with 95 %, but for the normal approximation; coverage is simulated in the tests.
// That rows are held within the ranges is not in this model.

// offset is T, with the r of its draw.
type offset struct {
	a, b  int64 // in parts of offsetUnit
	moves *big.Rat
}

const (
	ladderSteps = 32
	offsetUnit  = 1 << 10
	// farOffset is above every possible score.
	farOffset = 1 << 23
)

var (
	zOfWidths = big.NewRat(2433, 1000) // Φ⁻¹(0.9925), rounded up
	// logOfWidths is ln 32 + ln 100, rounded up: with probability 99 % no candidate is drawn whose d is above r/ε times
	// that.
	logOfWidths = big.NewRat(8071, 1000)
)

// WidthConfidence is the joint confidence of the intervals of slope and middle.
const WidthConfidence = "0.95"

// slopeOffset is T of the slope's half-width: z/6·((n + 7)/σ + σ) and the margin.
func (m TheilSen) slopeOffset() offset {
	sigma := rootAboveInt(m.paired() + 7)
	part := new(big.Rat).Mul(zOfWidths, big.NewRat(1, 6))
	b := upToUnits(new(big.Rat).Mul(part, big.NewRat(1, sigma)))
	o := offset{b: b, moves: m.widthMoves(3, b)}
	a := new(big.Rat).Mul(part, big.NewRat(sigma, 1))
	o.a = upToUnits(a.Add(a, big.NewRat(7*b, offsetUnit)).Add(a, margin(o.moves, m.SlopeWidth)))
	return o
}

// middleOffset is T of the middle's: z/2·(n/σ + σ), 1 for the steps of a sum of signs, and the margin.
func (m TheilSen) middleOffset() offset {
	sigma := rootAboveInt(m.paired())
	part := new(big.Rat).Mul(zOfWidths, big.NewRat(1, 2))
	b := upToUnits(new(big.Rat).Mul(part, big.NewRat(1, sigma)))
	o := offset{b: b, moves: m.widthMoves(2, b)}
	a := new(big.Rat).Mul(part, big.NewRat(sigma, 1))
	o.a = upToUnits(a.Add(a, big.NewRat(1, 1)).Add(a, margin(o.moves, m.MiddleWidth)))
	return o
}

// widthMoves is (rows + 2b)·m, and at least 4m under ChangeOne.
func (m TheilSen) widthMoves(rows, b int64) *big.Rat {
	r := new(big.Rat).Add(big.NewRat(rows, 1), big.NewRat(2*b, offsetUnit))
	if four := big.NewRat(4, 1); m.Neighbours == privacy.ChangeOne && r.Cmp(four) < 0 {
		r = four
	}
	return r.Mul(r, big.NewRat(m.MaxRows, 1))
}

// margin is r/ε·(ln 32 + ln 100).
func margin(moves *big.Rat, e privacy.Epsilon) *big.Rat {
	t := new(big.Rat).Quo(moves, e.Rat())
	return t.Mul(t, logOfWidths)
}

// upToUnits is a number in parts of offsetUnit, rounded up, and at most farOffset.
func upToUnits(r *big.Rat) int64 {
	if r.Cmp(big.NewRat(farOffset, 1)) >= 0 {
		return farOffset * offsetUnit
	}
	n := new(big.Int).Mul(r.Num(), big.NewInt(offsetUnit))
	n.Add(n, r.Denom()).Sub(n, big.NewInt(1))
	return n.Quo(n, r.Denom()).Int64()
}

// rootAboveInt is √n, rounded up.
func rootAboveInt(n int64) int64 { return ceilSqrt(big.NewInt(n)).Int64() }

// ladder are the half-widths up to a domain's: the last is the domain's, and each before it 2^-⅓ of the next, rounded
// up.
func ladder(domain int64) [ladderSteps + 1]int64 {
	parts := [3]int64{1 << 30, 852229451, 676414964} // 2^-⅓ and 2^-⅔ in parts of 2^30, rounded up
	var out [ladderSteps + 1]int64
	for j := range out {
		down := uint(30 + j/3)
		out[ladderSteps-j] = (domain*parts[j%3] + 1<<down - 1) >> down
	}
	return out
}

// shortfalls are the d of a ladder's half-widths times den·offsetUnit; den is the divisor of S, and sums are the S of
// each.
func (o offset) shortfalls(sums [ladderSteps + 1]int64, rows, den int64) []int64 {
	t := (o.a + o.b*rows) * den
	// the half-width before the first is too small, whatever the rows are
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
