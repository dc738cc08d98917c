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

// TheilSen releases a line through points (x, y) that is robust to outliers. Its slope is the median of the slopes of
// all pairs of points [Theil 1950; Sen 1968]. Its height at the middle of x's range is the median of the points'
// residuals for that slope. The exponential mechanism chooses both and, on request, how far the truth may be from each.
// It is for few rows, because the number of pairs is their square.
//
// X and Y are brought to their ranges, which are public, by a function of each row alone: x to an integer of a size of
// at most 2²³, and y of at most 2²⁹, so that either range has a width of 1 in units of 2⁻²⁴ and 2⁻³⁰.
// All that follows is in integers.
//
// Slope. The slope of a pair of different x is rounded down to a multiple of 2⁻¹⁵ and held within [−4, 4): a
// line that stays within Y's range over a quarter of X's is no steeper. Each of these 2¹⁸ multiples o is a
// candidate. Of N such pairs let B(o) be the slopes below o, A(o) those at or below o, and
//
//	D(o) = max(0, 2B(o) − N, N − 2A(o)),  u(o) = D(o)/(n − 1)
//
// for n rows, u = 0 for fewer than two. The output is o with P(o) ∝ exp(−ε·u(o)/r), exactly.
//
// Lemma 1. A row that comes moves u by a number of [−3/2, 1], for all candidates, and one that goes by the opposite.
// With it come k ≤ n pairs. Each adds 1 to N, and 0 or 1 to B and to A, so that 2B − N and N − 2A move by 1 one
// way or the other: D becomes D′, |D′ − D| ≤ n. With D ≤ N ≤ n(n − 1)/2 and n ≥ 2,
//
//	D′/n − D/(n − 1) = (D′ − D)/n − D/(n(n − 1)) ∈ [−1 − ½, 1];
//
// for n = 1 it is D′ ∈ {0, 1}, and for n = 0 nothing. A row that is replaced moves D by at most n − 1 for the
// pairs that go and as many for those that come: u by a number of [−2, 2].
//
// Where the movements of all scores lie in an interval of length r, the exponential mechanism at a rate of ε/r is
// ε-differentially private and ε-bounded-range (see Exponential). A unit's rows come or go one after the other, m =
// MaxRows at most: r = 5m/2 under AddRemove. Under ChangeOne j ≤ m rows become k ≤ m others: min(j, k) are
// replaced, and the rest come or go, so that r = 4m is enough.
//
// The lemma covers the fact that n is not public although the scores' unit depends on it. No pairing depends on chance
// or on the order of rows: pairs that share a row change together, so a row may be in all of them. (A matching, in
// which each row is in one pair, changes by as much in proportion to its pairs, and has fewer of them; a matching that
// one more row does not upset has fewer still.)
//
// Middle. With the slope s that was released, in the middle of its step, a row leaves y − s·x, rounded down to a
// multiple of 2⁻¹⁶ and held within Y's range. Of n such numbers the median is chosen in the same way by D alone,
// which a row that comes or goes moves by at most 1: r = 2m, and 4m under ChangeOne.
//
// Half-widths. With slope and middle released, further draws choose half-widths from a ladder of 33, which the data
// have no part in (theilsen_width.go). Each draw is made with what was released before it as a public parameter, so
// their losses add up.
//
// Thinning. Where more than 8,192 rows are expected, each takes part with a probability of 2⁻ᵗ, independently.
// Given which of the rows that neighbours share do, and coupling those that are replaced, the two remain neighbours or
// become equal; and a mixture, with the same weights on both sides, of pairs that a loss holds for has that loss:
// probabilities by their sum, and Rényi divergences by their joint quasi-convexity [van Erven & Harremoës 2014,
// Theorem 13].
type TheilSen struct {
	mechanism.Unit
	X, Y Range
	Rows int64 // roughly how many there are; no promise depends on it
	// Slope and Middle are the losses of the estimates; SlopeWidth and MiddleWidth those of their half-widths, both 0
	// for none.
	Slope, Middle, SlopeWidth, MiddleWidth privacy.Epsilon
}

// Range is the range of a number, from public knowledge.
type Range struct{ Low, High *big.Rat }

// Line is a released line, in the units of TheilSen: 2^-SlopeBits of Y's range over X's, and 2^-MiddleBits of Y's range
// about its middle.
type Line struct {
	Slope, Middle           int64 // the truth lies between this and this plus 1
	SlopeWidth, MiddleWidth int64 // the interval reaches this far below, and above plus 1; 0 without an interval
	Loss                    privacy.Loss
}

const (
	// SlopeBits is the resolution of slopes, in bits.
	SlopeBits = 15
	// MiddleBits is the resolution of middles, in bits.
	MiddleBits = 16
	// SteepestSlope is the largest size of a slope, in parts of Y's range over X's.
	SteepestSlope = 4
	// FarthestMiddle is the largest distance of a middle from 0, in parts of Y's range.
	FarthestMiddle = 0.5

	// steepest is the largest slope, and farthestMiddle the largest middle, in integers.
	steepest       = SteepestSlope << SlopeBits
	farthestMiddle = 1 << (MiddleBits - 1)

	xBits, yBits = 24, 30
	// pairedRows is how many rows are paired if more are expected. The pairs of maxPaired rows would take most of a
	// day.
	pairedRows = 1 << 13
	maxPaired  = 1 << 22
)

func (m TheilSen) check() error {
	for _, r := range []Range{m.X, m.Y} {
		if r.Low == nil || r.High == nil || r.Low.Cmp(r.High) >= 0 {
			return fmt.Errorf("%w: a range has a lower and an upper end", mechanism.ErrParameter)
		}
		if size := new(big.Rat).Sub(r.High, r.Low); !parameter.Within(size, 100) || !withinOrZero(r.Low, 100) ||
			!withinOrZero(r.High, 100) {
			return fmt.Errorf("%w: a range within 2^100 either way, and wider than 2^-100", mechanism.ErrParameter)
		}
	}
	if m.Rows < 1 || m.Rows > opaque.MaxRows {
		return fmt.Errorf("%w: about how many rows there are is a number from 1 to 2^40", mechanism.ErrParameter)
	}
	if m.SlopeWidth.IsZero() != m.MiddleWidth.IsZero() {
		return fmt.Errorf("%w: there are intervals for both, or for neither", mechanism.ErrParameter)
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

// Usable returns ErrParameter if nothing can be released with such parameters.
func (m TheilSen) Usable() error { return m.check() }

func withinOrZero(r *big.Rat, bits int) bool {
	return r.Sign() == 0 || parameter.Within(new(big.Rat).Abs(r), bits)
}

// losses are those of the draws.
func (m TheilSen) losses() []privacy.Epsilon {
	if m.SlopeWidth.IsZero() {
		return []privacy.Epsilon{m.Slope, m.Middle}
	}
	return []privacy.Epsilon{m.Slope, m.Middle, m.SlopeWidth, m.MiddleWidth}
}

// Loss is that of all draws.
func (m TheilSen) Loss() privacy.Loss {
	var total privacy.Epsilon
	for _, e := range m.losses() {
		total = total.Plus(e)
	}
	return privacy.PureLoss(total)
}

// BoundedRange is the loss as zCDP: the sum of ε²/8 [Cesar & Rogers 2021].
func (m TheilSen) BoundedRange() privacy.Loss {
	var total privacy.Rho
	for _, e := range m.losses() {
		total = total.Plus(e.BoundedRange())
	}
	return privacy.ZCDPLoss(total, privacy.Delta{})
}

// Thinning is t: a row takes part with probability 2⁻ᵗ.
func (m TheilSen) Thinning() int {
	return bits.Len64(uint64(max(m.Rows, 1)-1) / pairedRows)
}

// paired is roughly how many rows take part.
func (m TheilSen) paired() int64 { return max(m.Rows>>m.Thinning(), 1) }

// moves is r of the slope's and of the middle's draw.
func (m TheilSen) moves() (slope, middle *big.Rat) {
	if m.Neighbours == privacy.ChangeOne {
		return big.NewRat(4*m.MaxRows, 1), big.NewRat(4*m.MaxRows, 1)
	}
	return big.NewRat(5*m.MaxRows, 2), big.NewRat(2*m.MaxRows, 1)
}

// Moves returns, for the ledger, the range r of the changes of each draw's scores between neighbours.
func (m TheilSen) Moves() []*big.Rat {
	slope, middle := m.moves()
	if m.SlopeWidth.IsZero() {
		return []*big.Rat{slope, middle}
	}
	return []*big.Rat{slope, middle, m.slopeOffset().moves, m.middleOffset().moves}
}

// DrawnLine is the expected error of a draw, to first order: for the expected number of rows, spread evenly over X's
// range, with normal residuals.
type DrawnLine struct {
	// roughly what it adds to the error, as a standard deviation, in parts of Y's range (over X's range, for the slope)
	Noise  float64
	Astray float64 // roughly the probability that it falls anywhere in the domain, independently of the rows
}

// Expected says so of slope and middle, for residuals of a standard deviation of the given part of Y's range. Scores
// rise on either side of the median by so much as there are slopes of pairs, or rows, at it; so what is chosen is
// Laplace-distributed about it, but for the rest of the domain, where scores are near n/2, or n.
func (m TheilSen) Expected(residual float64) (slope, middle DrawnLine) {
	n := float64(m.paired())
	r, q := m.moves()
	// n·E|x − x′|·f(0), f the density of the difference of two residuals
	perSlope := n / 3 / (2 * residual * math.Sqrt(math.Pi))
	perMiddle := 2 * n / (residual * math.Sqrt(2*math.Pi)) // 2n·f(0), f that of a residual
	of := func(r *big.Rat, e privacy.Epsilon, per, far, domain float64) DrawnLine {
		c := exact.FloatDown(e.Rat()) / exact.FloatUp(r)
		anywhere := domain * math.Exp(-c*far)
		return DrawnLine{min(math.Sqrt2/(c*per), domain/math.Sqrt(12)), anywhere / (anywhere + 2/(c*per))}
	}
	return of(r, m.Slope, perSlope, n/2, 2*SteepestSlope), of(q, m.Middle, perMiddle, n, 2*FarthestMiddle)
}

// TellsIntervals reports that, with as many rows as are expected, half-widths short of the whole domain are sought at
// no more than three quarters of the largest sums that there can be: else intervals would seldom have ends.
func (m TheilSen) TellsIntervals() bool {
	if m.SlopeWidth.IsZero() {
		return false
	}
	n := m.paired()
	slope, middle := m.slopeOffset(), m.middleOffset()
	return 8*(slope.a+slope.b*n) <= 3*n*offsetUnit && 4*(middle.a+middle.b*n) <= 3*n*offsetUnit
}
