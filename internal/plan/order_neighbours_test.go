package plan_test

import (
	"fmt"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/privacy"
)

// Between neighbours, what a quantile looks at loses and gains, over all cells together, at most the rows that count of one unit; the
// scores of a mode move, within intervals whose lengths add up over the cells to what its rate is made for; for random questions
// over hostile rows, under both relations. What a quantile's draws score by then moves by at most the planned sensitivity, which is
// computed here by definition too.
func TestNeighboursStayWithinOrders(t *testing.T) {
	n := 500 // of each of four
	if os.Getenv("DITHER_LONG") != "" {
		n = 13_000
	}
	cases(t, n)
	overSets := 0 // pairs that moved, of questions with grouping sets
	acrossRelations(t, func(t *rapid.T, p *policy.Policy, table string) (*plan.Bounded, func(before, after []enginetest.Row) bool) {
		request := plan.Request{SQL: enginetest.Orders(t, table)}
		q, err := plan.Build(p, request)
		if err != nil {
			return nil, nil
		}
		changes := int64(1) // steps of one row each, in rows of a unit
		if q.Neighbours == privacy.ChangeOne {
			changes = 2
		}
		return &q.Bounded, func(before, after []enginetest.Row) (moved bool) {
			for _, q := range q.Orders() { // of each grouping set
				for _, v := range q.OrderedValues() {
					b := q.Ordered(v)
					left, right := tallied(b, before), tallied(b, after)
					gone, come := apart(left, right)
					if most := q.OrderCaps.MostRows(); gone > most || come > most || q.Neighbours == privacy.AddRemove && come > 0 {
						t.Fatalf("%s: of %s, %d rows go and %d come; %d may\n%v\n%v", request.SQL, v, gone, come, most, before, after)
					}
					moved = moved || gone+come > 0
					for _, o := range q.Quantiles {
						if o.Value != v {
							continue
						}
						if d := scoresApart(o, left, right); d.Cmp(o.Sensitivity) > 0 {
							t.Fatalf("%s: scores of %s move by %s, planned %s\n%v\n%v", request.SQL, o, d, o.Sensitivity, before, after)
						}
					}
				}
				for _, m := range q.Modes {
					b := q.Counted(m)
					scores := map[string]map[string]int64{} // by cell and value, how much greater before than after
					add := func(sign int64) func([]value.Value, []*big.Int) {
						return func(keys []value.Value, sums []*big.Int) {
							cell, of := fmt.Sprintf("%q", keys[:len(keys)-1]), fmt.Sprintf("%q", keys[len(keys)-1])
							if scores[cell] == nil {
								scores[cell] = map[string]int64{}
							}
							scores[cell][of] += sign * sums[0].Int64()
						}
					}
					enginetest.Sum(b, before, add(1))
					enginetest.Sum(b, after, add(-1))
					cells := map[string][2]int64{} // of each cell the least and the greatest move of a score
					for cell, moves := range scores {
						for _, n := range moves {
							cells[cell] = [2]int64{min(cells[cell][0], n), max(cells[cell][1], n)}
						}
					}
					total := int64(0)
					for _, ends := range cells {
						total += ends[1] - ends[0]
					}
					if total > changes*m.Rows {
						t.Fatalf("%s: scores of %s move within %d, of %d\n%v\n%v", request.SQL, m, total, changes*m.Rows, before, after)
					}
					moved = moved || total > 0
				}
			}
			if moved && q.Sets != nil {
				overSets++
			}
			return moved
		}
	})
	if t.Logf("%d pairs moved over grouping sets", overSets); overSets < n/20 {
		t.Errorf("only %d pairs moved over grouping sets", overSets)
	}
}

// tallied is how many rows have each value, by cell.
func tallied(b *plan.Bounded, rows []enginetest.Row) map[string]map[int64]int64 {
	out := map[string]map[int64]int64{}
	enginetest.OrderCells(b, rows, func(keys []value.Value, v int64) {
		cell := fmt.Sprintf("%q", keys)
		if out[cell] == nil {
			out[cell] = map[int64]int64{}
		}
		out[cell][v]++
	})
	return out
}

// apart is how many rows are in one and not in the other.
func apart(a, b map[string]map[int64]int64) (gone, come int64) {
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

// scoresApart is the sum over cells of by how much d of a candidate moves at most. Between values d moves as at their ends, so that the
// values, their neighbours and the ends of the domain stand for all candidates. An offset is a constant, and left out.
func scoresApart(q *plan.Quantile, a, b map[string]map[int64]int64) *big.Rat {
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
	for _, x := range []*big.Rat{new(big.Rat).Sub(big.NewRat(below, 1), sought), new(big.Rat).Sub(sought, big.NewRat(upTo, 1))} {
		if x.Cmp(d) > 0 {
			d = x
		}
	}
	return d
}
