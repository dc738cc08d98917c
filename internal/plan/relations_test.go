package plan_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/stattest"
	"dither/internal/value"
)

// The exact bounded sums over a relation of neighbouring databases differ by at most the planned sensitivity: random relations of
// tables of persons, of rows that belong to them through references, of rows that are units, and of public rows; one unit goes
// from all of them, or another takes its place.
func TestRelationsStayWithinSensitivity(t *testing.T) {
	stattest.Cases(t, 2500)
	for _, relation := range []string{"add-remove", "change-one"} {
		for _, byGroups := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by groups %t", relation, byGroups), func(t *testing.T) {
				p, err := policy.Decode(enginetest.RelationPolicy(relation, byGroups), ".")
				if err != nil {
					t.Fatal(err)
				}
				asked, admitted, moved := 0, 0, 0
				refused := map[string]string{}
				rapid.Check(t, func(t *rapid.T) {
					sql, ofRows := enginetest.Relation(t)
					asked++
					q, err := plan.Build(p, plan.Request{SQL: sql})
					if err != nil {
						refused[err.Error()] = sql
						return
					}
					admitted++
					before := enginetest.RelationRows(t, p, 9)
					after := enginetest.RelationNeighbour(t, p, before, ofRows, relation == "change-one")
					l1, l2squared := movedBy(&q.Statement, before, after)
					for i, m := range q.Measures {
						if l1[i].Cmp(m.L1) > 0 || l2squared[i].Cmp(m.L2Squared) > 0 {
							t.Fatalf("%s\n%s\nmeasure %s moves by %s, squared L2 %s; planned %s, %s\n%v\n%v", sql, q.Source, m, l1[i], l2squared[i], m.L1, m.L2Squared, before, after)
						}
						if l1[i].Sign() > 0 {
							moved++
						}
					}
				})

				if admitted*2 < asked || moved < admitted/8 {
					t.Errorf("of %d questions %d were admitted and %d measures moved: the test shows little", asked, admitted, moved)
					for e, sql := range refused {
						t.Log(e, "\n   ", sql)
					}
				}
			})
		}
	}
}

func movedBy(b *bounded.Statement, before, after enginetest.Tables) (l1, l2squared []*big.Int) {
	cells := map[string][]*big.Int{}
	for sign, tables := range []enginetest.Tables{before, after} {
		enginetest.SumOf(b, tables, func(keys []value.Value, sums []*big.Int) {
			cell := fmt.Sprintf("%q", keys)
			if cells[cell] == nil {
				cells[cell] = make([]*big.Int, len(sums))
				for i := range sums {
					cells[cell][i] = new(big.Int)
				}
			}
			for i, s := range sums {
				cells[cell][i].Add(cells[cell][i], new(big.Int).Mul(s, big.NewInt(int64(1-2*sign))))
			}
		})
	}
	l1, l2squared = make([]*big.Int, len(b.Measures)), make([]*big.Int, len(b.Measures))
	for i := range b.Measures {
		l1[i], l2squared[i] = new(big.Int), new(big.Int)
		for _, c := range cells {
			l1[i].Add(l1[i], new(big.Int).Abs(c[i]))
			l2squared[i].Add(l2squared[i], new(big.Int).Mul(c[i], c[i]))
		}
	}
	return l1, l2squared
}

// Whatever becomes of a question's words, it is planned or refused with an error that says where; and a plan is bounded.
func TestRelationsGarbled(t *testing.T) {
	stattest.Cases(t, 12_000)
	p, err := policy.Decode(enginetest.RelationPolicy("add-remove", false), ".")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	rapid.Check(t, func(t *rapid.T) {
		sql, _ := enginetest.Relation(t)
		other, _ := enginetest.Relation(t)
		words, others := strings.Fields(sql), strings.Fields(other)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			i := rapid.IntRange(0, len(words)-1).Draw(t, "at")
			word := rapid.SampledFrom(append(others, "JOIN", "LEFT", "UNION", "ALL", "(", ")", "a", "p", "v", "l", "m", "r", "person", "GROUP", "BY", "1", "NULL", "*")).Draw(t, "word")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				words[i] = word
			case 1:
				words = slices.Insert(words, i, word)
			case 2:
				words = slices.Delete(words, i, min(i+rapid.IntRange(1, 3).Draw(t, "so many"), len(words)))
			}
			if len(words) == 0 {
				return
			}
		}
		sql = strings.Join(words, " ")
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			var mine *plan.Error
			var parsed *query.Error
			if !errors.As(err, &mine) && !errors.As(err, &parsed) {
				t.Fatalf("%s: %v", sql, err)
			}
			return
		}
		planned++
		if q.Unit != nil && q.Caps.Rows == 0 && q.Caps.Groups == 0 || len(q.Measures) > 0 && q.Measures[0].L1.Sign() <= 0 {
			t.Fatalf("%s: nothing bounds a unit: %v", sql, q.Caps)
		}
		before := enginetest.RelationRows(t, p, 4)
		ofRows := slices.Contains(q.Tables(), "t")
		l1, _ := movedBy(&q.Statement, before, enginetest.RelationNeighbour(t, p, before, ofRows, false))
		for i, m := range q.Measures {
			if l1[i].Cmp(m.L1) > 0 {
				t.Fatalf("%s: measure %s moves by %s, planned %s", sql, m, l1[i], m.L1)
			}
		}
	})
	if planned < 100 {
		t.Errorf("%d were planned", planned)
	}
}
