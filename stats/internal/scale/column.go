// Package scale writes the SQL that scales declared numbers to between −1 and 1, so that bounds and noise are alike
// for all columns.
package scale

import (
	"math"
	"math/big"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// Column is a numeric column x of a table, scaled to (x − centre)·factor. The declared bounds place the scaled
// value between −1 and 1.
type Column struct {
	Name           string
	Low, High      *big.Rat // the declared bounds
	centre, factor *big.Rat
	Middle, Half   float64 // x = middle + half·scaled
}

// factorDigits is the number of decimal places of a factor.
const factorDigits = 12

// Of returns the scaled form of a column. Its errors are *curator.Error with CodeUsage. undeclared is the hint of
// the error for a column without declared bounds.
func Of(c curator.TableColumn, undeclared string) (out Column, err error) {
	out.Name = c.Name
	if out.Low, out.High, err = Bounds(c, undeclared); err != nil {
		return out, err
	}
	out.centre = new(big.Rat).Add(out.Low, out.High)
	out.centre.Mul(out.centre, big.NewRat(1, 2))
	// The SQL multiplies by a factor because engines multiply faster than they divide. The factor is a decimal,
	// rounded down, and it defines the scaled column exactly.
	out.factor = new(big.Rat).Quo(big.NewRat(2, 1), new(big.Rat).Sub(out.High, out.Low))
	out.factor = exact.FloorDigits(out.factor, factorDigits)
	out.Middle, _ = out.centre.Float64()
	out.Half, _ = new(big.Rat).Inv(out.factor).Float64()
	return out, nil
}

// SQL returns the SQL expression of the scaled column.
func (c Column) SQL() string {
	text := curator.SQLName(c.Name)
	switch c.centre.Sign() {
	case 1:
		text = "(" + text + " - " + Decimal(c.centre) + ")"
	case -1:
		text = "(" + text + " + " + Decimal(new(big.Rat).Neg(c.centre)) + ")"
	}
	if c.factor.Cmp(big.NewRat(1, 1)) != 0 {
		text += " * " + Decimal(c.factor)
	}
	return text
}

// Raw converts a scaled number to the column's own unit and clamps it to the column's bounds.
func (c Column) Raw(x float64) float64 {
	low, _ := c.Low.Float64()
	high, _ := c.High.Float64()
	return math.Max(low, math.Min(high, c.Middle+c.Half*x))
}

// Bounds returns the declared bounds of a numeric column. Without bounds, it returns the least and the greatest
// declared value. undeclared is the hint of the error for a column that has neither.
func Bounds(c curator.TableColumn, undeclared string) (low, high *big.Rat, err error) {
	texts := c.Values
	if c.Lower != "" {
		texts = []string{c.Lower, c.Upper}
	}
	for _, text := range texts {
		r, err := exact.ParseDecimal(text)
		if err != nil {
			return nil, nil, request.Misuse("", "the bounds of %s cannot be read", c.Name)
		}
		if low == nil || r.Cmp(low) < 0 {
			low = r
		}
		if high == nil || r.Cmp(high) > 0 {
			high = r
		}
	}
	switch {
	case low == nil:
		return nil, nil, request.Misuse(undeclared, "the column %s has no declared bounds", c.Name)
	case low.Cmp(high) == 0:
		return nil, nil, request.Misuse("leave it out", "the declared bounds of the column %s are equal, so it is "+
			"constant", c.Name)
	}
	return low, high, nil
}
