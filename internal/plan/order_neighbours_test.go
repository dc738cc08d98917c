package plan_test

import (
	"fmt"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
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
	stattest.Cases(t, n)
	overSets := 0 // pairs that moved, of questions with grouping sets
	acrossRelations(t, func(t *rapid.T, p *policy.Policy, table string) (*bounded.Statement, func(before, after []enginetest.Row) bool) {
		request := plan.Request{SQL: enginetest.Orders(t, table)}
		q, err := plan.Build(p, request)
		if err != nil {
			return nil, nil
		}
		changes := int64(1) // steps of one row each, in rows of a unit
		if q.Neighbours == privacy.ChangeOne {
			changes = 2
		}
		return &q.Statement, func(before, after []enginetest.Row) (moved bool) {
			for _, q := range q.Orders() { // of each grouping set
				for _, v := range q.OrderedValues() {
					b := q.Ordered(v)
					left, right := tallied(b, before), tallied(b, after)
					gone, come := enginetest.Apart(left, right)
					if most := q.OrderCaps.MostRows(); gone > most || come > most || q.Neighbours == privacy.AddRemove && come > 0 {
						t.Fatalf("%s: of %s, %d rows go and %d come; %d may\n%v\n%v", request.SQL, v, gone, come, most, before, after)
					}
					moved = moved || gone+come > 0
					for _, o := range q.Quantiles {
						if o.Value != v {
							continue
						}
						if d := enginetest.ScoresApart(o, left, right); d.Cmp(o.Sensitivity) > 0 {
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
func tallied(b *bounded.Statement, rows []enginetest.Row) map[string]map[int64]int64 {
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
