package linear

import (
	"math/big"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

const (
	// MaxTableEntry bounds the magnitude of an entry of a distance's table, and of its penalty.
	MaxTableEntry = 1 << 53
	// MaxWeight bounds the weight and the scale of a distance.
	MaxWeight = 1 << 40
)

// Distance is a score of cells: Weight × ‖Scale·x − Table‖₁ − Penalty, where x is the vector of cells. All of its fields
// are public integers. It is high if the cells are far from the table. sensitivity.OfDistance bounds how far it moves.
type Distance struct {
	Weight  int64   // from 1 to MaxWeight
	Scale   int64   // from 1 to MaxWeight
	Penalty int64   // at most MaxTableEntry in magnitude
	Table   []int64 // one entry for each cell, each at most MaxTableEntry in magnitude
}

// Check returns ErrParameter if a field is out of range, or if the table does not have one entry for each cell.
func (d Distance) Check(cells int) error {
	switch {
	case len(d.Table) != cells:
		return wrong("a table of %d entries, for %d cells", len(d.Table), cells)
	case d.Weight < 1 || d.Weight > MaxWeight || d.Scale < 1 || d.Scale > MaxWeight:
		return wrong("a weight or a scale is not between 1 and %d", int64(MaxWeight))
	case d.Penalty > MaxTableEntry || d.Penalty < -MaxTableEntry:
		return wrong("a penalty exceeds %d in magnitude", int64(MaxTableEntry))
	}
	for _, t := range d.Table {
		if t > MaxTableEntry || t < -MaxTableEntry {
			return wrong("an entry of a table exceeds %d in magnitude", int64(MaxTableEntry))
		}
	}
	return nil
}

// Of returns the score of the cells x, as opaque as they are. Its errors are those of Check, so no value of x makes it
// fail. The result is exact: it is computed in words if most, a public bound on the magnitudes of the cells, or nil,
// proves that no word overflows. Otherwise, or if a cell exceeds most, it is computed in integers of any size. Then the
// running time depends on no value within the bound.
func (d Distance) Of(x []mechanism.Exact, most *big.Int) (mechanism.Exact, error) {
	if err := d.Check(len(x)); err != nil {
		return mechanism.Exact{}, err
	}
	words, wide := opened(x, most)
	if words != nil && !d.fits(most) {
		words, wide = nil, all(x)
	}
	if words != nil {
		sum := int64(0)
		for i, v := range words {
			apart := d.Scale*v - d.Table[i]
			sign := apart >> 63 // 0, or −1 for a negative number
			sum += (apart ^ sign) - sign
		}
		return opaque.NewExact(big.NewInt(d.Weight*sum - d.Penalty)), nil
	}
	sum, apart, scale := new(big.Int), new(big.Int), big.NewInt(d.Scale)
	for i, v := range wide {
		apart.Mul(scale, v)
		apart.Sub(apart, big.NewInt(d.Table[i]))
		sum.Add(sum, apart.Abs(apart))
	}
	sum.Mul(sum, big.NewInt(d.Weight))
	return opaque.NewExact(sum.Sub(sum, big.NewInt(d.Penalty))), nil
}

// fits reports whether the score and all intermediate results are below 2⁶³ in magnitude if the cells are at most most.
func (d Distance) fits(most *big.Int) bool {
	bound, entries := new(big.Int).Mul(big.NewInt(d.Scale), most), big.NewInt(0)
	bound.Mul(bound, big.NewInt(int64(len(d.Table))))
	for _, t := range d.Table {
		entries.Add(entries, big.NewInt(max(t, -t)))
	}
	bound.Add(bound, entries)
	bound.Mul(bound, big.NewInt(d.Weight))
	return bound.Add(bound, big.NewInt(max(d.Penalty, -d.Penalty))).BitLen() <= 63
}
