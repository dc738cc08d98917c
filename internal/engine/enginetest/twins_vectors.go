package enginetest

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/plan"
	"dither/privacy"
)

// vectorMoves compares sums of vectors with their sensitivities in L1 and squared L2 norm. For a symmetric product
// with Gaussian noise, entries off the diagonal count twice in the L2 norm, because the noise is calibrated to the
// norm of the whole matrix.
func vectorMoves(m *plan.Moments, sql string, of [2]Database) (moves []Move, err error) {
	w := Twins{SQL: sql, Of: of}
	all, err := w.differences(&m.Statement)
	if err != nil {
		return nil, err
	}
	l1, squared := all.over(allOf(&m.Statement))
	terms, first := m.RowVectors.AllTerms(), 0
	for _, s := range m.Sums {
		one, two := new(big.Int), new(big.Int)
		n := len(m.RowVectors.Terms(&s.VectorSum))
		for i := first; i < first+n; i++ {
			square := new(big.Int).Set(squared[i])
			if s.Symmetric() && s.Noise == plan.Gaussian && terms[i].A != terms[i].B {
				square.Lsh(square, 1)
			}
			one.Add(one, l1[i])
			two.Add(two, square)
		}
		first += n
		moves = append(moves, Move{Kind: "vectors", Moved: one.Sign() > 0})
		if one.Cmp(s.L1) > 0 || two.Cmp(s.L2Squared) > 0 {
			return moves, w.breach("%s moves by %s, squared L2 %s; planned %s, %s", s.Name(), one, two, s.L1, s.L2Squared)
		}
	}
	return moves, nil
}

// rowMoves compares the rows that a training reads. Only the rows of one unit may be missing from the second
// database, at most as many as planned. Under change-one, it may have rows of one other unit. All other rows must
// be equal, and all coordinates within their bounds.
func rowMoves(m *plan.Target, sql string, of [2]Database) (moves []Move, err error) {
	w := Twins{SQL: sql, Of: of}
	var sides [2]map[string]int64 // by the texts of a unit's rows: the number of units with these rows
	for side, from := range of {
		var units [][]string
		err := from.Rows(&m.Statement, func(first bool, row []int64) error {
			for i, x := range row {
				if of := m.Measures[i]; x < of.Lo || x > of.Hi {
					return w.breach("a coordinate is beyond %d and %d", of.Lo, of.Hi)
				}
			}
			if first {
				units = append(units, nil)
			}
			units[len(units)-1] = append(units[len(units)-1], fmt.Sprint(row))
			return nil
		})
		if err != nil {
			return nil, err
		}
		sides[side] = map[string]int64{}
		for _, rows := range units {
			if slices.Sort(rows); m.Unit != nil && int64(len(rows)) > m.Sensitivity.Int64() {
				return nil, w.breach("a unit has %d rows, of %d", len(rows), m.Sensitivity)
			}
			sides[side][fmt.Sprint(rows)]++
		}
	}
	apart := func(a, b map[string]int64) (n int64) {
		for rows, k := range a {
			n += max(0, k-b[rows])
		}
		return n
	}
	gone, come := apart(sides[0], sides[1]), apart(sides[1], sides[0])
	most := int64(1) // in units
	if m.Unit == nil {
		most = m.Sensitivity.Int64()
	}
	moves = append(moves, Move{Kind: "vectors of rows", Moved: gone+come > 0})
	if gone > most || come > most || m.Neighbours == privacy.AddRemove && come > 0 {
		return moves, w.breach("of units' rows %d go and %d come, of %d", gone, come, most)
	}
	return moves, nil
}

// scoreMoves compares the scores of candidates with their sensitivity, which applies to each cell. If the plan says
// that scores are monotonic, no two scores may move in opposite directions.
func scoreMoves(m *plan.Target, sql string, of [2]Database) (moves []Move, err error) {
	w := Twins{SQL: sql, Of: of}
	all, err := w.differences(&m.Statement)
	if err != nil {
		return nil, err
	}
	up, down := new(big.Int), new(big.Int) // the largest move in each direction
	for _, sums := range all.cells(allOf(&m.Statement)) {
		up, down = greater(up, sums[0]), greater(down, new(big.Int).Neg(sums[0]))
	}
	moves = append(moves, Move{Kind: "scores", Moved: up.Sign()+down.Sign() > 0})
	if up.Cmp(m.Sensitivity) > 0 || down.Cmp(m.Sensitivity) > 0 || m.Monotonic && up.Sign()*down.Sign() != 0 {
		return moves, w.breach("scores move by %s and −%s; planned %s, monotonic %t", up, down, m.Sensitivity,
			m.Monotonic)
	}
	return moves, nil
}

func greater(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// valueMoves compares ordered rows with the number of rows of one unit that may count.
func valueMoves(m *plan.Target, sql string, of [2]Database) (moves []Move, err error) {
	w := Twins{SQL: sql, Of: of}
	gone, come, err := w.apart(&m.Statement)
	if err != nil {
		return nil, err
	}
	moves = append(moves, Move{Kind: "values", Moved: gone+come > 0})
	if most := m.Sensitivity.Int64(); gone > most || come > most || m.Neighbours == privacy.AddRemove && come > 0 {
		return moves, w.breach("of the rows in order %d go and %d come, of %d", gone, come, most)
	}
	return moves, nil
}
