package plan

import (
	"math"
	"math/big"
	"math/bits"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// Variances says how the variances of a question are measured, where the number of units is declared.
type Variances int

// The ways.
const (
	VariancesAlone  Variances = iota // by a spread, if nothing else in the question shares a sum with the variance
	VariancesOfSums                  // from the sums of an average, as before spreads were measured
)

// A variance over a declared number n of rows is computed from two sums, Σd and Σd², or from their spread V = n·Σd² − (Σd)²
// alone (bounded.Spread). VAR_POP is V/n², and VAR_SAMP is V/(n(n − 1)). Let R be the length of the range, and ε the price.
//
//   - By the spread, the noise on VAR_SAMP has the scale R²/(nε), as that of a mechanism which adds Laplace noise to the
//     variance itself.
//   - By the sums, each has half of ε, and the noise on Σd counts 2|m| times, where m is the average less the middle of the
//     range. To first order, the standard deviation is √(1/4 + 16m²/R²) times as much as by the spread: half as much in the
//     middle of the range, and twice as much at its ends.
//
// So which is better depends on the rows, and the choice must not. Alone, the variance is measured by the spread, whose error
// is the same for all data. Beside an average, the sums are measured anyway, and serve both.

// mostSpreadUnits is the largest declared number of units of a spread: its square is the divisor of a variance.
const mostSpreadUnits = 1 << 31

// alone returns V/(n(n − less)) for the spread V of x over n rows: VAR_POP if less is 0, and VAR_SAMP if it is 1. It
// returns nil if the variance is computed from sums.
//
// Claim: engines compute the spread without overflow in 127 bits, for rows of any content. Proof. There are at most n rows
// (policy.Table.Units), and each contributes d with |d| ≤ M, where n·M < 2^63 (spreadMeasure). So n·Σd² and (Σd)² are at most
// n²M² < 2^126, and so is their difference. ∎
//
// Claim: the rounding of reals moves the spread by at most n(n − 1)·R, for a range of R grid units. Proof. Let t be the
// difference of two rows in grid units, and r that of the rounded values. Each of the two is rounded by at most 1/2, so
// |r − t| ≤ 1. And |r|, |t| ≤ R, so |r² − t²| = |r − t|·|r + t| ≤ 2R. There are n(n − 1)/2 pairs. ∎
func (m *momentsOf) alone(less int64) *Post {
	b, x := m.b, m.x[0]
	if b.original.Variances == VariancesOfSums || b.fromSums[x.expr.String()] {
		return nil
	}
	n := b.unitsWith(m.counted)
	if n < 2 || n > mostSpreadUnits {
		return nil
	}
	of := spreadMeasure(x.expr, n, m.at)
	if of == nil {
		return nil
	}
	if b.spreads == nil {
		b.spreads = map[string]*bounded.Expr{}
	}
	b.spreads[x.expr.String()] = x.expr
	most := m.spread(0, 0) * (float64(n) / float64(n-less)) * (1 + 0x1p-50)
	return b.use(unpricedAggregate{of: Average, sum: of, rows: n * (n - less), hi: most})
}

// spreadMeasure returns the measure of the spread of x over n rows, or nil if its numbers or its rounding would be too large.
func spreadMeasure(x *bounded.Expr, n int64, at query.Pos) *unpricedMeasure {
	var m *bounded.Measure
	var err error
	if x.Type == value.Integer {
		m, err = integerSum(x, true, at)
	} else {
		m, err = realSumOf(x, true, min(gridBits, 62-bits.Len64(uint64(n))), at)
	}
	if err != nil {
		return nil
	}
	width, rounding := new(big.Int).Sub(big.NewInt(m.Hi), big.NewInt(m.Lo)), new(big.Int)
	if m.Rounds() {
		if width.Cmp(big.NewInt(n<<spreadBits)) < 0 || m.Grid < finestGrid/2 {
			return nil
		}
		rounding.Mul(width, big.NewInt(n*(n-1)))
	}
	m.Kind = bounded.Spread
	m.Size = n
	if most, room := uint64(max(m.Hi, -m.Lo)), uint64(math.MaxInt64/n); most >= room {
		return nil
	}
	return &unpricedMeasure{Measure: *m, rounding: rounding}
}

// spreadBits bounds what rounding adds to the interval of a spread: at most 2^-spreadBits of the noise's scale at ε = 1.
const spreadBits = 8

// sharesSums reports whether a variance of the question was measured by a spread, although another aggregate measures the
// centred sum of the same expression. It adds these expressions to fromSums.
func (b *measuring) sharesSums() (found bool) {
	for text, x := range b.spreads {
		if sum, err := sumMeasure(x, true, query.Pos{}); err == nil && b.known[sum.String()] != nil {
			b.fromSums[text], found = true, true
		}
	}
	return found
}
