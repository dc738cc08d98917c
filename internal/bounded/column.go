package bounded

import (
	"math"
	"math/big"

	"dither/internal/policy"
	"dither/internal/value"
)

// Column is a column that a question reads, with the cleaning that the policy declares for it.
type Column struct {
	*policy.Column
	Range Range // of the cleaned value

	Weight int  // the weight of the expression that it stands for, if it is no table's column
	Unread bool // the question does not name it; a relation of one table has all its columns
}

// PublicColumn is a column of a public table, cleaned like any other.
func PublicColumn(c *policy.Column) Column { return Column{Column: c, Range: CleanRange(c)} }

// TinyColumn is an exponent: magnitudes below 2^TinyColumn are cleaned to 0.
const TinyColumn = -60

// CleanRange is the range of a column's cleaned value. Every question cleans a column before anything else reads it:
// NaN, ±Inf and undeclared values become NULL; magnitudes below 2^-60 become 0; all others are clamped to the declared
// bounds. So the range holds whatever the sealed file says.
func CleanRange(c *policy.Column) Range {
	switch c.Type {
	case value.Integer, value.Date:
		r := Range{IntLo: math.MinInt64, IntHi: math.MaxInt64}
		if c.Type == value.Date {
			r = Range{IntLo: value.MinDay, IntHi: value.MaxDay}
		}
		if c.Lower != nil {
			r = Range{IntLo: c.Lower.Num().Int64(), IntHi: c.Upper.Num().Int64()}
		}
		if c.Values != nil {
			r = Range{IntLo: c.Values[0].Int, IntHi: c.Values[0].Int}
			for _, v := range c.Values {
				r.IntLo, r.IntHi = min(r.IntLo, v.Int), max(r.IntHi, v.Int)
			}
		}
		return r
	case value.Real:
		r := Range{Lo: -math.MaxFloat64, Hi: math.MaxFloat64, Tiny: TinyColumn}
		if c.Lower != nil {
			r.Lo, r.Hi = RealBound(c.Lower), RealBound(c.Upper)
		}
		return r
	}
	return Range{}
}

// RealBound is the double nearest to a real column's declared bound. Engines clamp to it, and ranges start from it, so
// that both mean the same number.
func RealBound(r *big.Rat) float64 {
	x, _ := r.Float64()
	return x
}
