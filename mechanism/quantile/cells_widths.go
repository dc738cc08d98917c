package quantile

import (
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/mechanism"
)

// widths returns the draws of half-widths, one for each position. The error is ErrParameter.
func (m Cells) widths() (out []halfWidths, err error) {
	for _, s := range m.Sought {
		var w halfWidths
		if !s.Width.IsZero() {
			if w, err = newHalfWidths(m.Domain, s.Rank, m.Sensitivity(s.Rank), s.Width, s.Miss); err != nil {
				return nil, err
			}
			w.toLower, w.toUpper = toEnds(s.Rank)
		}
		out = append(out, w)
	}
	return out, nil
}

// toEnds reports at which ends of the domain the interval of a quantile of this rank ends, whatever its half-width is: at
// the lower end for the least value, and at the upper end for the greatest. There its slack could be above 0 in no other
// way, and the interval would be as long on the other side.
func toEnds(rank *big.Rat) (lower, upper bool) {
	return rank.Sign() == 0, rank.Cmp(big.NewRat(1, 1)) == 0
}

// Interval returns the interval around the value of a cell at position i: the part of [value − half-width, value +
// half-width] that is in the domain. For the least value, the interval begins at the lower end of the domain, and for the
// greatest it ends at the upper end.
func (m Cells) Interval(out CellValues, cell, i int) (low, high int64) {
	value, half := out.Values[cell][i], out.HalfWidths[cell][i]
	low, high = m.Lower, m.Upper
	toLower, toUpper := toEnds(m.Sought[i].Rank)
	if !toLower && half < value-m.Lower { // the differences are below 2⁶²
		low = value - half
	}
	if !toUpper && half < m.Upper-value {
		high = value + half
	}
	return low, high
}

// aroundAtOnce is the most values around which rows are counted in one pass: each needs one to three kilobytes. An answer
// to SQL has fewer (plan.MaxNumbers). Tests lower it.
var aroundAtOnce = 1 << 17

// halfWidths draws the half-width of the interval around each value. A pass over the data serves as many cells as
// aroundAtOnce allows, so the number of passes is public.
func (m Cells) halfWidths(
	src *entropy.Source, data mechanism.OrderedCells, rows []int64, values [][]int64,
) ([][]int64, error) {
	widths, err := m.widths()
	if err != nil {
		return nil, err
	}
	out := make([][]int64, m.Cells)
	k := len(m.Sought)
	each := max(1, aroundAtOnce/k)
	for from := 0; from < m.Cells; from += each {
		to := min(from+each, m.Cells)
		around := make([]surroundings, (to-from)*k) // in the order of places; without rungs for positions without intervals
		for i := range around {
			if at := i % k; !m.Sought[at].Width.IsZero() {
				around[i] = widths[at].around(values[from+i/k][at])
			}
		}
		again, err := eachCell(data, m.Domain, func(cell int, value, count int64) {
			if cell < from || cell >= to {
				return
			}
			for i := (cell - from) * k; i < (cell-from+1)*k; i++ {
				if s := &around[i]; s.rungs != nil {
					s.visit(value, count)
				}
			}
		})
		if err == nil && !slices.Equal(rows, again) {
			err = mechanism.ErrOrder
		}
		if err != nil {
			return nil, err
		}
		for i := range around {
			h := int64(0)
			if around[i].rungs != nil {
				h = around[i].draw(src)
			}
			out[from+i/k] = append(out[from+i/k], h)
		}
	}
	return out, nil
}
