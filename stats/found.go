package stats

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/curator"
	"dither/internal/exact"
)

// FoundBounds are bounds of a column that were found privately.
type FoundBounds struct {
	Column    string
	Low, High float64
	// Mean and Spread are what they were found by, where a column was normalised: else 0. Both are noisy.
	Mean, Spread float64
	low, high    *big.Rat
}

// foundBetween are bounds that are known as rationals.
func foundBetween(column string, low, high *big.Rat) FoundBounds {
	b := FoundBounds{Column: column, low: low, high: high}
	b.Low, _ = low.Float64()
	b.High, _ = high.Float64()
	return b
}

// ends are the decimals that questions say for the bounds.
func (b FoundBounds) ends() (low, high *big.Rat) { return b.low, b.high }

// inDecimals reads the bounds as decimals of nine digits, by which they are asked for; ok is false where they are no range.
func (b FoundBounds) inDecimals() (out FoundBounds, ok bool) {
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

// numbers are the names of a model's numeric columns.
func (f Formula) numbers(t curator.Table) (names []string) {
	d := &designer{table: t, formula: f}
	add := func(f Factor) {
		c, err := d.column(f.Column)
		if err == nil && !f.Categorical && (c.Type == "integer" || c.Type == "real") && len(c.Values) == 0 && !slices.Contains(names, c.Name) {
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
