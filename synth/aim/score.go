package aim

import (
	"fmt"
	"math"
	"math/big"
)

// Score is the score of one candidate: weight times (‖x − model‖₁ − penalty) for the exact counts x of its marginal.
// All parts are integers that are fixed before the counts are read. A high score means that the model is far from the
// rows, further than it would be after a measurement.
type Score struct {
	Attributes []int
	Weight     int64
	Model      []int64 // the model's counts, rounded
	Penalty    int64   // [ExpectedError] of the model after a measurement, rounded
}

// maxCount is the largest absolute value of a score's count.
const maxCount = 1 << 53

// NewScore returns the score of a candidate for the counts that a model has, if the candidate would be measured with
// Gaussian noise of this standard deviation. It rounds the counts. They must not be NaN.
func NewScore(r Marginal, counts []float64, deviation float64) (*Score, error) {
	if !(deviation >= 0) || r.Weight <= 0 {
		return nil, fmt.Errorf(
			"aim: the score of %v has weight %d and deviation %v: use positive ones", r.Attributes, r.Weight, deviation,
		)
	}
	s := &Score{Attributes: r.Attributes, Weight: r.Weight, Model: make([]int64, len(counts))}
	for i, v := range counts {
		if math.IsNaN(v) {
			return nil, fmt.Errorf("aim: cell %d of %v has no count", i, r.Attributes)
		}
		s.Model[i] = int64(math.Round(max(-maxCount, min(v, maxCount))))
	}
	s.Penalty = int64(math.Round(min(ExpectedError(counts, deviation), maxCount)))
	return s, nil
}

// Of returns the score of a table of counts, which must have one count for each cell.
//
// Sensitivity. If a unit has at most r rows, one unit's presence changes the score by at most r times the weight. If
// one unit is exchanged for another (change-one), the score changes by at most 2r times the weight.
//
// Proof. Weight, model and penalty do not depend on the rows of this round, so they are constants. Each row is in at
// most one cell, so r rows change the counts x to x′ with ‖x − x′‖₁ ≤ r. The reverse triangle inequality gives
// |‖x − m‖₁ − ‖x′ − m‖₁| ≤ ‖x − x′‖₁ ≤ r for any table m. Multiplication by the weight gives the first claim. An
// exchange removes one unit and adds another, which gives the second claim by the triangle inequality. Both bounds are
// attained: rows in a cell whose count is at least the model's, exchanged with rows in a cell whose count is below it
// by r or more. All terms are integers, so no rounding adds to the difference. ∎
func (s *Score) Of(counts []int64) (*big.Int, error) {
	if len(counts) != len(s.Model) {
		return nil, fmt.Errorf("aim: the marginal of %v has %d cells, not %d", s.Attributes, len(s.Model), len(counts))
	}
	sum, distance := big.NewInt(-s.Penalty), new(big.Int)
	for i, v := range counts {
		distance.Sub(big.NewInt(v), big.NewInt(s.Model[i]))
		sum.Add(sum, distance.Abs(distance))
	}
	return sum.Mul(sum, big.NewInt(s.Weight)), nil
}

// Sensitivity returns how far one unit of at most rows rows can move any of these scores: see [Score.Of].
func Sensitivity(scores []*Score, rows int64, changeOne bool) *big.Int {
	most := int64(0)
	for _, s := range scores {
		most = max(most, s.Weight)
	}
	out := big.NewInt(most)
	out.Mul(out, big.NewInt(rows))
	if changeOne {
		out.Lsh(out, 1)
	}
	return out
}

// The error of a nearly empty cell: nearEmpty times its count, and leaked of a standard deviation.
const nearEmpty, leaked = 2, 0.2

// ExpectedError returns the L₁ error that a model is expected to have in a marginal after its measurement, for the
// model's counts and the standard deviation of the noise of a cell. A measured cell is off by √(2/π)·deviation in the
// mean. A cell that the model has nearly no rows in is off by less: counts are not negative, and other measurements
// bound it, so little of the noise gets into the model. The published error is √(2/π)·deviation for each cell. It keeps
// marginals of many empty cells, such as those of an amount that is mostly 0, from being measured.
//
// The two constants are those of lower errors on the census table, among six pairs at ε = 1. They decide which marginal
// is selected, and no privacy: the counts are released ones.
func ExpectedError(counts []float64, deviation float64) float64 {
	sum, full := 0.0, math.Sqrt(2/math.Pi)*deviation
	for _, n := range counts {
		sum += min(full, nearEmpty*max(n, 0)+leaked*deviation)
	}
	return sum
}
