package plan_test

import (
	"bytes"
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
)

// zcdp is a policy under a budget in ρ.
func zcdp(text []byte) []byte {
	return bytes.Replace(text, []byte("{epsilon: 1000}"), []byte("{rho: 1000, delta: 1e-6}"), 1)
}

// The sums of the vectors of two neighbouring tables differ by at most the planned sensitivities, in L1 and in the squared L2 norm in
// which the noise on a symmetric product is round: for random coordinates, norms, bounds, groups and centres over hostile
// rows, under both relations and both kinds of noise, of one table and of relations of several.
func TestNeighboursStayWithinVectors(t *testing.T) {
	n := 600 // of each of sixteen
	if os.Getenv("DITHER_LONG") != "" {
		n = 10_000
	}
	stattest.Cases(t, n)
	for _, relation := range []string{"add-remove", "change-one"} {
		for _, of := range []string{"one table", "relations"} {
			for _, byGroups := range []bool{false, true} { // where sums and counts are bounded by groups, and vectors by rows all the same
				for _, noise := range []plan.Noise{plan.Laplace, plan.Gaussian} {
					t.Run(fmt.Sprintf("%s %s by groups %t %s", relation, of, byGroups, noise), func(t *testing.T) {
						vectorsStayWithin(t, relation, of == "relations", byGroups, noise)
					})
				}
			}
		}
	}
}

func vectorsStayWithin(t *testing.T, relation string, several, byGroups bool, noise plan.Noise) {
	text := enginetest.PolicyText(relation)
	if byGroups {
		text = enginetest.ByGroups(relation)
	}
	if several {
		text = enginetest.RelationPolicy(relation, byGroups)
	}
	if noise == plan.Gaussian {
		text = zcdp(text)
	}
	p, err := policy.Decode(text, ".")
	if err != nil {
		t.Fatal(err)
	}
	seen, refused := map[string]int{}, map[string]string{}
	tight := map[string]float64{} // the largest part of a squared L2 sensitivity that was attained, of each kind
	rapid.Check(t, func(t *rapid.T) {
		var before, after enginetest.Tables
		table := rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table")
		sql, request := enginetest.VectorQuestion(t, table)
		ofRows := false
		if several {
			sql, request, ofRows = enginetest.VectorsOver(t)
		}
		m, err := plan.BuildMoments(p, plan.Request{SQL: sql}, request)
		if err != nil {
			refused[err.Error()] = sql
			return
		}
		if several {
			before = enginetest.RelationRows(t, p, 9)
			after = enginetest.RelationNeighbour(t, p, before, ofRows, relation == "change-one")
		} else {
			rows := enginetest.Rows(t, p.Table(table), 10)
			before = enginetest.Tables{table: rows}
			after = enginetest.Tables{table: neighbour(t, p.Table(table), rows, relation == "change-one")}
		}
		if m.Source == nil && m.Unit != nil { // of one table, whose rows are ranked when they are sealed
			for _, of := range []enginetest.Tables{before, after} {
				of[m.Table] = enginetest.Ranked(clones(of[m.Table]), m.Unit.Name)
			}
		}
		apart := vectorsApart(m, before, after)
		terms := m.RowVectors.AllTerms()
		for _, s := range m.Sums {
			if s.Noise != noise {
				t.Fatalf("%s: %s", sql, s.Noise)
			}
			l1, l2squared := new(big.Int), new(big.Int)
			n := len(m.RowVectors.Terms(&s.VectorSum))
			for _, cell := range apart {
				for i, d := range cell[:n] {
					l1.Add(l1, new(big.Int).Abs(d))
					square := new(big.Int).Mul(d, d)
					if s.Symmetric() && noise == plan.Gaussian && terms[i].A != terms[i].B {
						square.Lsh(square, 1)
					}
					l2squared.Add(l2squared, square)
				}
			}
			if l1.Cmp(s.L1) > 0 || l2squared.Cmp(s.L2Squared) > 0 {
				t.Fatalf("%s\n%+v\n%v\n%s moves by %s, squared L2 %s; planned %s, %s\n%v\n%v", sql, request, m.RowVectors.Blocks, s.Name(), l1, l2squared, s.L1, s.L2Squared, before, after)
			}
			if l1.Sign() > 0 {
				kind := string(s.Kind)
				if s.Symmetric() {
					kind = "symmetric"
				}
				seen[kind]++
				ratio, _ := new(big.Rat).SetFrac(l2squared, s.L2Squared).Float64()
				tight[kind] = max(tight[kind], ratio)
			}
			for key := range apart {
				apart[key] = apart[key][n:]
			}
			terms = terms[n:]
		}
		for _, k := range m.RowVectors.Blocks {
			if k.Scale > 0 {
				seen["scaled"]++
			}
		}
		if m.Centred() {
			seen["centred"]++
		}
		if len(m.Keys) > 0 {
			seen["grouped"]++
		}
	})
	for _, kind := range []string{"count", "first", "product", "symmetric", "scaled", "centred", "grouped"} {
		if seen[kind] < 2 { // each is expected 15 times or more
			t.Errorf("only %d of %s", seen[kind], kind)
		}
	}
	if tight["count"] != 1 {
		t.Errorf("counts moved by no more than %g of their squared L2 sensitivity", tight["count"])
	}
	t.Logf("%v; up to %v of the squared L2 sensitivities", seen, tight)
	for e, sql := range refused {
		if t.Failed() {
			t.Log(e, "\n   ", sql)
		}
	}
}

// vectorsApart is how much greater each cell's numbers are in before than in after.
func vectorsApart(m *plan.Moments, before, after enginetest.Tables) map[string][]*big.Int {
	out := map[string][]*big.Int{}
	for sign, tables := range []enginetest.Tables{before, after} {
		enginetest.SumOf(&m.Statement, tables, func(keys []value.Value, sums []*big.Int) {
			cell := bounded.GroupName(keys)
			if out[cell] == nil {
				for range sums {
					out[cell] = append(out[cell], new(big.Int))
				}
			}
			for i, s := range sums {
				out[cell][i].Add(out[cell][i], new(big.Int).Mul(s, big.NewInt(int64(1-2*sign))))
			}
		})
	}
	return out
}
