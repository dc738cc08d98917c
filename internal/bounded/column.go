package bounded

import (
	"math"
	"math/big"

	"dither/internal/policy"
	"dither/internal/value"
)

// Column is a column that a question reads, with the policy's rules for cleaning its values.
type Column struct {
	*policy.Column
	Range Range // range of the cleaned value

	Weight int  // if a subquery computes the column: the [Expr.Weight] of its expression
	Unread bool // the question does not name the column; a statement over one table lists all columns of the table
}

// PublicColumn returns the Column for a column of a public table. Its values are cleaned like those of any other
// table.
func PublicColumn(c *policy.Column) Column { return Column{Column: c, Range: CleanRange(c)} }

// TinyColumn is an exponent: cleaning replaces real values of magnitude below 2^TinyColumn by 0.
const TinyColumn = -60

// CleanRange returns the range of a column's cleaned value. Every question cleans a column before anything else
// reads it. NaN, ±Inf and undeclared values become NULL. Real values of magnitude below 2^-60 become 0. Then
// numbers, dates and times are clamped to the declared bounds. So the range holds for any contents of the sealed file.
func CleanRange(c *policy.Column) Range {
	switch c.Type {
	case value.Integer, value.Date, value.Timestamp, value.Time:
		r := typeRange(c.Type)
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

// typeRange returns the range of all values of a type whose values are integers, except for an Interval.
func typeRange(t value.Type) Range {
	switch t {
	case value.Date:
		return Range{IntLo: value.MinDay, IntHi: value.MaxDay}
	case value.Timestamp:
		return Range{IntLo: value.MinMicro, IntHi: value.MaxMicro}
	case value.Time:
		return Range{IntHi: value.DayMicros - 1}
	}
	return Range{IntLo: math.MinInt64, IntHi: math.MaxInt64}
}

// RealBound returns the double that is nearest to a declared bound of a real column. Engines clamp to this double,
// and ranges start from it, so both use the same number.
func RealBound(r *big.Rat) float64 {
	x, _ := r.Float64()
	return x
}
