package enginetest

import (
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/value"
)

// moved holds the differences of sums between two databases, by cell (group).
type moved struct {
	width int
	keys  [][]value.Value
	sums  [][]*big.Int
}

// add adds a result row, or subtracts it if sign is 1. A nil sum counts as 0.
func (m *moved) add(sign int, keys []value.Value, sums []*big.Int) {
	row := numbers(sums)
	if sign == 1 {
		for _, n := range row {
			n.Neg(n)
		}
	}
	m.keys, m.sums = append(m.keys, keys), append(m.sums, row)
}

// numbers returns a copy of sums, with 0 for nil.
func numbers(sums []*big.Int) []*big.Int {
	out := make([]*big.Int, len(sums))
	for i, n := range sums {
		out[i] = new(big.Int)
		if n != nil {
			out[i].Set(n)
		}
	}
	return out
}

// over returns the L1 norm of each measure's differences, and the square of their L2 norm. Cells with the same
// values of the given keys are added first.
func (m *moved) over(keys []int) (l1, l2squared []*big.Int) {
	l1, l2squared = numbers(make([]*big.Int, m.width)), numbers(make([]*big.Int, m.width))
	for _, sums := range m.cells(keys) {
		for j, d := range sums {
			l1[j].Add(l1[j], new(big.Int).Abs(d))
			l2squared[j].Add(l2squared[j], new(big.Int).Mul(d, d))
		}
	}
	return l1, l2squared
}

// cells returns the differences between the two databases, added over the cells (groups) that have equal values of the
// given keys.
func (m *moved) cells(keys []int) map[string][]*big.Int {
	cells := map[string][]*big.Int{}
	for i, sums := range m.sums {
		var of []value.Value
		for _, k := range keys {
			of = append(of, m.keys[i][k])
		}
		name := bounded.GroupName(of)
		if cells[name] == nil {
			cells[name] = numbers(make([]*big.Int, m.width))
		}
		for j, n := range sums {
			cells[name][j].Add(cells[name][j], n)
		}
	}
	return cells
}

// units returns the number of units of a group, given its sums from bounded.Statement.Counting.
func units(sums []*big.Int) int64 {
	if len(sums) == 0 {
		return 0
	}
	return sums[len(sums)-1].Int64()
}

// union returns the keys of a and b, sorted.
func union[T any](a, b map[string]T) (out []string) {
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Apart counts the rows in a that are not in b, and those in b that are not in a. The arguments state numbers of rows
// by cell (group) and value.
func Apart(a, b map[string]map[int64]int64) (gone, come int64) {
	for cell, values := range a {
		for v, n := range values {
			gone += max(0, n-b[cell][v])
		}
	}
	for cell, values := range b {
		for v, n := range values {
			come += max(0, n-a[cell][v])
		}
	}
	return gone, come
}

// ScoresApart returns the sum over all cells (groups) of the largest change of the score d of any candidate: see offBy.
// Between two neighbouring values, the score changes as at one of them. So the values, the integers next to them and
// the ends of the domain stand for all candidates. An offset of the score is a constant, so it is omitted.
func ScoresApart(q *plan.Quantile, a, b map[string]map[int64]int64) *big.Rat {
	total := new(big.Rat)
	cells := map[string]bool{}
	for cell := range a {
		cells[cell] = true
	}
	for cell := range b {
		cells[cell] = true
	}
	for cell := range cells {
		candidates := []int64{q.Value.Lo, q.Value.Hi}
		for _, side := range []map[int64]int64{a[cell], b[cell]} {
			for v := range side {
				candidates = append(candidates, v, min(v+1, q.Value.Hi), max(v-1, q.Value.Lo))
			}
		}
		most := new(big.Rat)
		for _, o := range candidates {
			d := new(big.Rat).Sub(offBy(q, a[cell], o), offBy(q, b[cell], o))
			if d.Abs(d).Cmp(most) > 0 {
				most = d
			}
		}
		total.Add(total, most)
	}
	return total
}

func offBy(q *plan.Quantile, values map[int64]int64, o int64) *big.Rat {
	below, upTo, n := int64(0), int64(0), int64(0)
	for v, k := range values {
		n += k
		if v < o {
			below += k
		}
		if v <= o {
			upTo += k
		}
	}
	sought := new(big.Rat).Mul(q.Rank, big.NewRat(n, 1))
	d := new(big.Rat)
	for _, x := range []*big.Rat{
		new(big.Rat).Sub(big.NewRat(below, 1), sought),
		new(big.Rat).Sub(sought, big.NewRat(upTo, 1)),
	} {
		if x.Cmp(d) > 0 {
			d = x
		}
	}
	return d
}
