package quantile

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Joint releases several quantiles at once by JointExp, the exponential mechanism over all of them [Gillenwater,
// Joseph & Kulesza 2021]. It differs from the paper: the domain is divided into bins, and ties are spread.
//
// Bins and levels: the domain is cut into Bins bins of equal width, except that the last may be narrower. Each bin
// has R levels, where R is the number of ranks. A place is a level of a bin. Places are ordered by bin, and then by
// level, from 0. A row's mass is spread evenly over the levels of its bin: (2l + 1)/(2R) of the mass is before
// level l. So a value that many rows share can answer many ranks.
//
// The output is a sequence of places o_1 ≤ … ≤ o_k, and then a uniform integer from the bin of each place, sorted.
// Let n_j be the mass between o_{j−1} and o_j, where n_1 is all mass before o_1 and n_{k+1} all mass after o_k. Let
// g_j be the difference of the ranks at j and j − 1, with 0 and 1 at the ends, and let n be the number of rows. The
// sequence has probability ∝ w·exp(−c·d), where d = Σ_j |n_j − g_j·n|. The public weight w is the product of the
// widths of the bins, and of 1/γ! for every place that occurs γ times.
//
// Claim: Joint is Epsilon-differentially private, with c = ε₀/(2Δ), or 64 if that is less, and ε₀ a little below ε.
// Proof of the sensitivity, with m = MaxRows: let an additional row add x_j ≥ 0 to n_j, Σx_j = 1. Then d changes by
// at most Σ|x_j − g_j|. This is convex in x, so it is at most its value at a vertex: (1 − g_i) + Σ_{j≠i} g_j = 2(1
// − g_i). So Δ = 2m(1 − min g) under AddRemove. Under ChangeOne, let r rows leave and s ≥ r rows come. Pair the r
// rows that leave with r rows that come. A pair changes d by at most Σ|x_j − x′_j| ≤ 2, and each of the s − r other
// rows by at most 2. So Δ = 2m. The exponential mechanism then loses at most 2cΔ = ε₀, and it is ε₀-bounded-range
// [McSherry & Talwar 2007; Durfee & Rogers 2019].
//
// Arithmetic: floats compute the weights, by sums and products of positive numbers only (jointWeights). Given these
// weights, the draw is exact. So every sequence has its probability up to a factor within exp(±η), with a public η
// (rounding). The loss then grows by at most 2η, and the range by at most 4η. exp(−c) is rounded upwards, which
// corresponds to a smaller c, so its rounding adds no loss. ε₀ = ε − 4η leaves both loss and range at most ε. ∎
type Joint struct {
	Domain
	mechanism.Unit
	// increasing, from 0 (the least value) to 1 (the greatest), with a common denominator of at most 10,000; at
	// most 100 ranks
	Ranks   []*big.Rat
	Bins    int // Bins·len(Ranks)² is at most 2²³
	Epsilon privacy.Epsilon
}

const (
	maxJointRanks = 100
	maxJointTable = 1 << 23 // the most entries of a table, of 16 bytes each
	maxJointRate  = 64      // the largest c of [Joint]; a larger one would not improve any answer noticeably
)

// joint holds the values that the public parameters determine before any data are read.
type joint struct {
	Joint
	targets
	width  int64 // the width of a bin, in integers
	levels int64 // R, the number of levels of a bin
	c      *big.Rat
	rate   *big.Rat // c/(2R·den), the factor of the scores in the exponent
	powers *powers  // the powers of exp(−rate)
}

func (m Joint) prepare() (*joint, error) {
	if err := checkRelease(m.Domain, m.Unit, m.Epsilon); err != nil {
		return nil, err
	}
	k := len(m.Ranks)
	if k < 1 || k > maxJointRanks || m.Bins < 1 || m.Bins > maxJointTable/(k*k) {
		return nil, fmt.Errorf(
			"%w: joint quantiles need 1 to %d ranks, and from 1 to 2^23/(number of ranks)² bins",
			mechanism.ErrParameter,
			maxJointRanks,
		)
	}
	t, err := targetsOf(m.Ranks)
	if err != nil {
		return nil, err
	}
	j := &joint{Joint: m, targets: t, levels: int64(k)}
	bins := int64(m.Bins)
	j.width = (m.points()-1)/bins + 1
	epsilon := new(big.Rat).Sub(m.Epsilon.Rat(), new(big.Rat).Mul(m.rounding(), big.NewRat(4, 1)))
	if epsilon.Sign() <= 0 {
		return nil, fmt.Errorf("%w: epsilon is too small: it is within the rounding error of the arithmetic",
			mechanism.ErrParameter)
	}
	j.c = epsilon.Quo(epsilon, new(big.Rat).Mul(big.NewRat(2, 1), j.delta()))
	if most := big.NewRat(maxJointRate, 1); j.c.Cmp(most) > 0 {
		j.c = most
	}
	j.rate = new(big.Rat).Quo(j.c, new(big.Rat).SetInt64(2*j.levels*t.den))
	j.powers = powersOf(exact.IntervalOf(new(big.Rat).Neg(j.rate), 256).Exp().Hi())
	return j, nil
}

// gap returns g_{i+1}·den for i = 0 … k, where g is the difference of neighbouring ranks: see [Joint].
func (j *joint) gap(i int) int64 {
	switch {
	case i == 0:
		return j.at[0]
	case i == len(j.at):
		return j.den - j.at[i-1]
	}
	return j.at[i] - j.at[i-1]
}

// delta returns Δ, the sensitivity of the distance d: see [Joint].
func (j *joint) delta() *big.Rat {
	if j.Neighbours == privacy.ChangeOne {
		return big.NewRat(2*j.MaxRows, 1)
	}
	least := j.den
	for i := range len(j.at) + 1 {
		least = min(least, j.gap(i))
	}
	wide := big.NewRat(2*(j.den-least), j.den)
	return wide.Mul(wide, big.NewRat(j.MaxRows, 1))
}

// rounding returns η, which bounds the effect of rounding on the logarithm of a sequence's probability. Let K be
// the largest number of cells (cellsOf). A number in the tables is off by at most D = k(K + 8k + 20) roundings
// (jointWeights). So a term of a draw is off by T = D + 8k + 20 roundings, its share of the sum by 2T, and the draw
// itself by 2K more (lottery). There are at most 2k draws. A rounding is a factor within 1 ± 2⁻⁵³, and exp(−2⁻⁵²) <
// 1 − 2⁻⁵³.
func (m Joint) rounding() *big.Rat {
	k := int64(len(m.Ranks))
	cells := int64(m.Bins)*(k+1) + 1
	roundings := 2 * k * (2*(k*(cells+8*k+20)+8*k+20) + 2*cells)
	return big.NewRat(roundings, 1<<52)
}

// Release draws the quantiles in increasing order, in two passes over the data. The error is ErrParameter, also if
// Epsilon is within the error of the arithmetic (about 10⁻⁸), or comes from the scan. Time and memory depend on the
// data. They grow at most in proportion to Bins·len(Ranks)³ and Bins·len(Ranks)².
func (m Joint) Release(data mechanism.Ordered) (OrderStatistics, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(source, data)
}

func (m Joint) release(src *entropy.Source, data mechanism.Ordered) (OrderStatistics, error) {
	j, err := m.prepare()
	if err != nil {
		return OrderStatistics{}, err
	}
	rows, err := countRows(data, m.Domain)
	if err != nil {
		return OrderStatistics{}, err
	}
	cells, err := j.cellsOf(data, rows)
	if err != nil {
		return OrderStatistics{}, err
	}
	return OrderStatistics{Values: newJointWeights(j, cells, rows).values(src), Loss: privacy.PureLoss(m.Epsilon)}, nil
}

// BoundedRange returns the loss under zCDP: ε²/8, a quarter of the ε²/2 of a pure loss [Cesar & Rogers 2021].
func (m Joint) BoundedRange() privacy.Loss {
	return privacy.ZCDPLoss(m.Epsilon.BoundedRange(), privacy.Delta{})
}

// RankError returns a bound on the difference between each output's rank and the sought rank, in addition to half
// of the best sequence's d. The bound holds with probability at least 1 − beta. It is (k·ln(N·R) + ln(1/β) +
// η)/(2c) for N integers in the domain, in rows, rounded up. The error is ErrParameter.
//
// Proof: the weights w add up to (N·R)ᵏ/k!, and the best sequence has a weight of at least 1/k!. So d exceeds that
// of the best sequence by more than t with probability at most (N·R)ᵏ·exp(−ct + η). The numbers n_j − g_j·n add up
// to 0, so none of their partial sums exceeds d/2 in magnitude. ∎
func (m Joint) RankError(beta float64) (float64, error) {
	j, err := m.prepare()
	if err != nil {
		return 0, err
	}
	if err := parameter.Probability(beta); err != nil {
		return 0, err
	}
	places := new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(m.points()), big.NewInt(j.levels)))
	log := exact.MulUp(float64(j.levels), exact.LogUp(exact.FloatUp(places)))
	log = exact.AddUp(exact.SubUp(log, exact.LogDown(beta)), exact.FloatUp(m.rounding()))
	return exact.MulUp(exact.FloatUp(new(big.Rat).Quo(big.NewRat(1, 2), j.c)), log), nil
}

// cell is a range of places (see [Joint]) that have the same mass before them, and so the same score. It is a level
// of a bin that has rows, or all levels of a run of bins that have none. By the multinomial theorem, the weights of
// all sequences of γ places within a cell add up to weight^γ/γ!.
type cell struct {
	before    int64 // the mass before the cell, in units of 1/(2R) of a row
	weight    scaled
	low, high int64 // the cell covers the integers low … high
}

// cellsOf returns the cells in order: at most one per rank for each bin, one for each run of empty bins before a
// bin, and one at the end.
func (j *joint) cellsOf(data mechanism.Ordered, rows int64) ([]cell, error) {
	var cells []cell
	// next is the first integer that is not yet in a cell; count is the number of rows of the bin that begins there
	next, seen, count := j.Lower, int64(0), int64(0)
	empty := func(until int64) {
		if width := uint64(until) - uint64(next); width > 0 {
			weight := scaledOf(float64(width)).times(scaledOf(float64(j.levels)))
			cells = append(cells, cell{2 * j.levels * seen, weight, next, until - 1})
			next = until
		}
	}
	full := func() {
		if count == 0 {
			return
		}
		last := j.Upper
		if last-next >= j.width {
			last = next + j.width - 1
		}
		for l := range j.levels {
			cells = append(cells, cell{2*j.levels*seen + (2*l+1)*count, scaledOf(float64(last - next + 1)), next, last})
		}
		seen += count
		next, count = last+1, 0
	}
	err := eachAgain(data, j.Domain, rows, func(value, n int64) {
		begin := value - (value-j.Lower)%j.width
		if count > 0 && begin != next {
			full()
		}
		if count == 0 {
			empty(begin)
		}
		count += n
	})
	full()
	empty(j.Upper + 1)
	return cells, err
}
