package stats

import (
	"math"
	"math/big"

	"dither/curator"
	"dither/internal/exact"
)

// scaledColumn is a numeric column x of a table, scaled to (x − centre)·factor: between −1 and 1, by its declared bounds.
type scaledColumn struct {
	name           string
	low, high      *big.Rat // the declared bounds
	centre, factor *big.Rat
	middle, half   float64 // x = middle + half·scaled
}

// factorDigits are those of a factor.
const factorDigits = 12

// scaledColumnOf scales a column. Errors are *curator.Error, with CodeUsage; undeclared is the hint where the column has no declared bounds.
func scaledColumnOf(c curator.TableColumn, undeclared string) (out scaledColumn, err error) {
	out.name = c.Name
	if out.low, out.high, err = declaredBounds(c, undeclared); err != nil {
		return out, err
	}
	out.centre = new(big.Rat).Add(out.low, out.high)
	out.centre.Mul(out.centre, big.NewRat(1, 2))
	// Engines multiply faster than they divide. The factor is a decimal, rounded down, and the scaled column is defined by it.
	out.factor = new(big.Rat).Quo(big.NewRat(2, 1), new(big.Rat).Sub(out.high, out.low))
	out.factor = exact.FloorDigits(out.factor, factorDigits)
	out.middle, _ = out.centre.Float64()
	out.half, _ = new(big.Rat).Inv(out.factor).Float64()
	return out, nil
}

// sql is the scaled column in SQL.
func (c scaledColumn) sql() string {
	text := curator.SQLName(c.name)
	switch c.centre.Sign() {
	case 1:
		text = "(" + text + " - " + sqlRat(c.centre) + ")"
	case -1:
		text = "(" + text + " + " + sqlRat(new(big.Rat).Neg(c.centre)) + ")"
	}
	if c.factor.Cmp(big.NewRat(1, 1)) != 0 {
		text += " * " + sqlRat(c.factor)
	}
	return text
}

// raw converts a scaled number to the column's own unit, and clamps it to the column's bounds.
func (c scaledColumn) raw(x float64) float64 {
	low, _ := c.low.Float64()
	high, _ := c.high.Float64()
	return math.Max(low, math.Min(high, c.middle+c.half*x))
}

// declaredBounds are a numeric column's bounds: as declared, or the least and the greatest of its declared values. undeclared is the hint where there are none.
func declaredBounds(c curator.TableColumn, undeclared string) (low, high *big.Rat, err error) {
	texts := c.Values
	if c.Lower != "" {
		texts = []string{c.Lower, c.Upper}
	}
	for _, text := range texts {
		r, err := exact.ParseDecimal(text)
		if err != nil {
			return nil, nil, misuse("", "the bounds of %s cannot be read", c.Name)
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
		return nil, nil, misuse(undeclared, "the column %s has no declared bounds", c.Name)
	case low.Cmp(high) == 0:
		return nil, nil, misuse("leave it out", "the column %s is a constant, by its declared bounds", c.Name)
	}
	return low, high, nil
}
