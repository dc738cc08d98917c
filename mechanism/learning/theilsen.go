package learning

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// TheilSen releases a line through points (x, y) that is robust to outliers. Its slope is the median of the slopes
// of all pairs of points [Theil 1950; Sen 1968]. Its height at the middle of x's range is the median of the points'
// residuals for that slope. The exponential mechanism draws both. On request, it also draws the half-width of an
// interval around each. TheilSen is for few rows, because the number of pairs grows with the square of the number
// of rows.
//
// Units: x and y are mapped to integers by a function of each row alone, according to their public ranges X and Y.
// x becomes an integer of magnitude at most 2²³, and y one of at most 2²⁹. So each range has a width of 1 in units
// of 2⁻²⁴ and 2⁻³⁰. Everything below is computed in integers.
//
// Slope. The slope of a pair with different x is rounded down to a multiple of 2⁻¹⁵ and clamped to [−4, 4). (A line
// that stays within Y's range over a quarter of X's range is no steeper.) Each of these 2¹⁸ multiples o is a
// candidate. Let N be the number of such pairs, B(o) the number of slopes below o, and A(o) the number at or below
// o. For n rows,
//
//	D(o) = max(0, 2B(o) − N, N − 2A(o)),  u(o) = D(o)/(n − 1),
//
// and u = 0 for fewer than two rows. The output is o with P(o) ∝ exp(−ε·u(o)/r), exactly.
//
// Lemma 1. Claim: an additional row changes u by a number in [−3/2, 1], for all candidates, and a removed row by
// the negative of such a number. Proof: let k ≤ n be the number of additional pairs. Each adds 1 to N, and 0 or 1
// to B and to A. So it changes 2B − N and N − 2A by 1, up or down. D becomes D′ with |D′ − D| ≤ n. With D ≤ N ≤ n(n
// − 1)/2 and n ≥ 2,
//
//	D′/n − D/(n − 1) = (D′ − D)/n − D/(n(n − 1)) ∈ [−1 − ½, 1].
//
// For n = 1 the change is D′ ∈ {0, 1}, and for n = 0 there is none. A replaced row changes D by at most n − 1 for
// the pairs that leave, and by as much for the pairs that come. So it changes u by a number in [−2, 2]. ∎
//
// If the changes of all scores lie in an interval of length r, the exponential mechanism at rate ε/r is
// ε-differentially private and ε-bounded-range (see Exponential). A unit's rows, at most m = MaxRows, come or go
// one after the other, so r = 5m/2 under AddRemove. Under ChangeOne, j ≤ m rows become k ≤ m others. Of these,
// min(j, k) are replaced, and the rest come or go, so r = 4m suffices.
//
// n is not public, although the scores' unit depends on it. The lemma covers this. No pairing depends on chance or
// on the order of rows. Pairs that share a row change together, so a row may be in all of its pairs. (A matching
// puts each row in one pair. It changes as much in proportion to its pairs, but has fewer of them. A matching that
// an additional row does not disturb has even fewer.)
//
// Middle. Let s be the midpoint of the released slope's step. Each row's residual y − s·x is rounded down to a
// multiple of 2⁻¹⁶ and clamped to Y's range. The median of the n residuals is chosen as the median slope is, with D
// as the score. A row that comes or goes changes D by at most 1, so r = 2m, and 4m under ChangeOne.
//
// Half-widths. After the slope and the middle, further draws choose half-widths from a fixed list of 33, which does
// not depend on the data (theilsen_width.go). Each draw treats the earlier releases as public parameters, so the
// losses add up.
//
// Thinning. If more than 8,192 rows are expected, each row takes part with probability 2⁻ᵗ, independently. Claim:
// thinning does not increase the loss. Proof: fix which of the neighbours' common rows take part, and couple the
// rows that are replaced. Then the thinned datasets are neighbours or equal. The output is a mixture over these
// choices, with the same weights on both sides. A mixture of pairs that all have a loss has that loss:
// probabilities by their sum, and Rényi divergences by joint quasi-convexity [van Erven & Harremoës 2014, Theorem
// 13]. ∎
type TheilSen struct {
	mechanism.Unit
	X, Y Range
	Rows int64 // the approximate number of rows; no privacy proof depends on it
	// Slope and Middle are the losses of the two estimates. SlopeWidth and MiddleWidth are the losses of their
	// half-widths. SlopeWidth and MiddleWidth are 0 if no intervals are wanted.
	Slope, Middle, SlopeWidth, MiddleWidth privacy.Epsilon
}

// Range is the public range of x or of y. It must not be read off the rows.
type Range struct{ Low, High *big.Rat }

// Line is a released line. Slopes are in units of 2^-SlopeBits of Y's range over X's range. Middles are in units of
// 2^-MiddleBits of Y's range, measured from its middle.
type Line struct {
	Slope, Middle int64 // the estimates, rounded down: each is between this integer and this integer plus 1
	// the intervals reach from Slope − SlopeWidth to Slope + 1 + SlopeWidth, and likewise for Middle; 0 if there
	// are none
	SlopeWidth, MiddleWidth int64
	Loss                    privacy.Loss
}

const (
	// SlopeBits is the number of binary digits of a slope after the point.
	SlopeBits = 15
	// MiddleBits is the number of binary digits of a middle after the point.
	MiddleBits = 16
	// SteepestSlope is the largest magnitude of a slope, in multiples of Y's range over X's range.
	SteepestSlope = 4
	// FarthestMiddle is the largest magnitude of a middle, in multiples of Y's range.
	FarthestMiddle = 0.5

	// steepest and farthestMiddle are SteepestSlope and FarthestMiddle in the integer units of Line.
	steepest       = SteepestSlope << SlopeBits
	farthestMiddle = 1 << (MiddleBits - 1)

	xBits, yBits = 24, 30
	// If more than pairedRows rows are expected, about that many of them take part. maxPaired is the most rows
	// whose pairs are computed, which would take most of a day.
	pairedRows = 1 << 13
	maxPaired  = 1 << 22
)

func (m TheilSen) check() error {
	for _, r := range []Range{m.X, m.Y} {
		if r.Low == nil || r.High == nil || r.Low.Cmp(r.High) >= 0 {
			return fmt.Errorf("%w: the lower end of a range must be below its upper end", mechanism.ErrParameter)
		}
		if size := new(big.Rat).Sub(r.High, r.Low); !parameter.Within(size, 100) || !withinOrZero(r.Low, 100) ||
			!withinOrZero(r.High, 100) {
			return fmt.Errorf("%w: a range must be within ±2^100 and wider than 2^-100", mechanism.ErrParameter)
		}
	}
	if m.Rows < 1 || m.Rows > opaque.MaxRows {
		return fmt.Errorf("%w: the approximate number of rows must be from 1 to 2^40", mechanism.ErrParameter)
	}
	if m.SlopeWidth.IsZero() != m.MiddleWidth.IsZero() {
		return fmt.Errorf("%w: SlopeWidth and MiddleWidth must both be 0, or both be above 0", mechanism.ErrParameter)
	}
	if err := parameter.Unit(m.Neighbours, m.MaxRows); err != nil {
		return err
	}
	for _, e := range m.losses() {
		if err := parameter.Rate(e); err != nil {
			return err
		}
	}
	return nil
}

// Usable returns ErrParameter if a release with these parameters is impossible.
func (m TheilSen) Usable() error { return m.check() }

func withinOrZero(r *big.Rat, bits int) bool {
	return r.Sign() == 0 || parameter.Within(new(big.Rat).Abs(r), bits)
}

// losses returns the loss of each draw.
func (m TheilSen) losses() []privacy.Epsilon {
	if m.SlopeWidth.IsZero() {
		return []privacy.Epsilon{m.Slope, m.Middle}
	}
	return []privacy.Epsilon{m.Slope, m.Middle, m.SlopeWidth, m.MiddleWidth}
}

// Loss returns the loss of all draws together.
func (m TheilSen) Loss() privacy.Loss {
	var total privacy.Epsilon
	for _, e := range m.losses() {
		total = total.Plus(e)
	}
	return privacy.PureLoss(total)
}

// BoundedRange returns the loss under zCDP: the sum of ε²/8 over the draws [Cesar & Rogers 2021].
func (m TheilSen) BoundedRange() privacy.Loss {
	var total privacy.Rho
	for _, e := range m.losses() {
		total = total.Plus(e.BoundedRange())
	}
	return privacy.ZCDPLoss(total, privacy.Delta{})
}

// Thinning returns t: a row takes part with probability 2⁻ᵗ.
func (m TheilSen) Thinning() int {
	return bits.Len64(uint64(max(m.Rows, 1)-1) / pairedRows)
}

// paired returns the approximate number of rows that take part.
func (m TheilSen) paired() int64 { return max(m.Rows>>m.Thinning(), 1) }

// moves returns r, the range of the changes of the scores between neighbours, for the draws of the slope and of the
// middle.
func (m TheilSen) moves() (slope, middle *big.Rat) {
	if m.Neighbours == privacy.ChangeOne {
		return big.NewRat(4*m.MaxRows, 1), big.NewRat(4*m.MaxRows, 1)
	}
	return big.NewRat(5*m.MaxRows, 2), big.NewRat(2*m.MaxRows, 1)
}

// Moves returns, for the ledger, the range r of the changes of the scores between neighbours, for each draw.
func (m TheilSen) Moves() []*big.Rat {
	slope, middle := m.moves()
	if m.SlopeWidth.IsZero() {
		return []*big.Rat{slope, middle}
	}
	return []*big.Rat{slope, middle, m.slopeOffset().moves, m.middleOffset().moves}
}

// DrawnLine is the expected error of one draw, to first order. It assumes the expected number of rows, x spread
// evenly over X's range, and normal residuals.
type DrawnLine struct {
	// the approximate standard deviation of the draw's noise, in multiples of Y's range (for the slope, of Y's
	// range over X's range)
	Noise  float64
	Astray float64 // the approximate probability that the draw falls anywhere in the domain, independently of the rows
}

// Expected returns the expected errors of the slope and the middle. residual is the standard deviation of the
// residuals, as a fraction of Y's range. Near the median, the score grows on each side in proportion to the density
// of slopes, or of residuals. So the draw has a Laplace distribution around the median. The rest of the domain,
// where scores are near n/2 or n for n rows, is accounted for by Astray.
func (m TheilSen) Expected(residual float64) (slope, middle DrawnLine) {
	n := float64(m.paired())
	r, q := m.moves()
	// n·E|x − x′|·f(0), where f is the density of the difference of two residuals
	perSlope := n / 3 / (2 * residual * math.Sqrt(math.Pi))
	perMiddle := 2 * n / (residual * math.Sqrt(2*math.Pi)) // 2n·f(0), where f is the density of a residual
	of := func(r *big.Rat, e privacy.Epsilon, per, far, domain float64) DrawnLine {
		c := exact.FloatDown(e.Rat()) / exact.FloatUp(r)
		anywhere := domain * math.Exp(-c*far)
		return DrawnLine{min(math.Sqrt2/(c*per), domain/math.Sqrt(12)), anywhere / (anywhere + 2/(c*per))}
	}
	return of(r, m.Slope, perSlope, n/2, 2*SteepestSlope), of(q, m.Middle, perMiddle, n, 2*FarthestMiddle)
}

// TellsIntervals reports whether intervals are likely to be shorter than the domain. It compares the sums that the
// half-widths must reach, for the expected number of rows, with three quarters of the largest possible sums.
func (m TheilSen) TellsIntervals() bool {
	if m.SlopeWidth.IsZero() {
		return false
	}
	n := m.paired()
	slope, middle := m.slopeOffset(), m.middleOffset()
	return 8*(slope.a+slope.b*n) <= 3*n*offsetUnit && 4*(middle.a+middle.b*n) <= 3*n*offsetUnit
}
