package formula

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/curator"
	"dither/internal/exact"
)

// Bounds are bounds of a column that an earlier release found privately.
type Bounds struct {
	Column string  `json:"column"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Mean and Spread are the noisy mean and standard deviation from which the bounds were computed. They are 0
	// unless the column was normalised.
	Mean      float64 `json:"mean,omitempty"`
	Spread    float64 `json:"spread,omitempty"`
	low, high *big.Rat
}

// Between returns the bounds of a column from two rationals.
func Between(column string, low, high *big.Rat) Bounds {
	b := Bounds{Column: column, low: low, high: high}
	b.Low, _ = low.Float64()
	b.High, _ = high.Float64()
	return b
}

// Ends returns the bounds as the decimals that questions contain.
func (b Bounds) Ends() (low, high *big.Rat) { return b.low, b.high }

// InDecimals returns the bounds rounded to decimals of nine significant digits, which a question can contain. ok
// reports whether the numbers are finite and Low is below High after rounding.
func (b Bounds) InDecimals() (out Bounds, ok bool) {
	for _, x := range []float64{b.Low, b.High, b.Mean, b.Spread} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return b, false
		}
	}
	var wrong, wrongly error
	b.low, wrong = exact.ParseDecimal(strconv.FormatFloat(b.Low, 'e', 8, 64))
	b.high, wrongly = exact.ParseDecimal(strconv.FormatFloat(b.High, 'e', 8, 64))
	return b, wrong == nil && wrongly == nil && b.low.Cmp(b.high) < 0
}

// Numbers returns the names of the numeric columns in a model. It includes the response if that is numeric.
func (f Formula) Numbers(t curator.Table) (names []string) {
	d := &designer{table: t, formula: f}
	add := func(f Factor) {
		c, err := d.column(f.Column)
		if err == nil && !f.Categorical && (c.Type == "integer" || c.Type == "real") && len(c.Values) == 0 &&
			!slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	add(Factor{Column: f.Response})
	for _, t := range f.Terms {
		for _, x := range t {
			add(x)
		}
	}
	return names
}
