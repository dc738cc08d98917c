package duckdb

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/mechanism/linear"
)

// TestMarginsAddUpToTheParts compares the histograms that one joint statement gives for all sets of keys with those of the
// parts' own statements, as the reference computes them: with caps on rows, unknown values of keys, and hostile rows.
func TestMarginsAddUpToTheParts(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	joint, nonzero := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(worlds).Draw(t, "world")
		sql := enginetest.StrategyQuestion(t, rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table"))
		p := allMargins(t, w, plan.Request{SQL: sql})
		if p == nil || p.Joint == nil {
			return
		}
		joint++
		b.policy = w.Policy
		tables, from := b.writeAll(t, p.Base.Tables(), 10)
		if err := b.Rehearse(context.Background(), p.Joint, engine.Sealed{}); err != nil {
			t.Fatalf("%s: rehearsal: %v", sql, err)
		}
		statement, err := statement(p.Joint, from.For(p.Joint))
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]int64, len(p.Parts))
		for i, part := range p.Parts {
			got[i] = make([]int64, part.Strategy.Columns())
		}
		err = b.run(context.Background(), statement, collect(p.Joint, func(keys []value.Value, sums []*big.Int) {
			for i, part := range p.Parts {
				cell := 0
				for _, k := range part.Joint {
					cell = cell*len(p.Joint.Keys[k].Values) + p.Joint.Keys[k].Index(keys[k])
				}
				if sums[0] != nil {
					got[i][cell] += sums[0].Int64()
				}
			}
		}))
		if err != nil {
			t.Fatal(sql, err)
		}
		for i, part := range p.Parts {
			want := make([]int64, part.Strategy.Columns())
			enginetest.SumOf(part.Look, tables, func(keys []value.Value, sums []*big.Int) {
				if cell := engine.CellOf(part.Look, keys); cell >= 0 && sums[0] != nil {
					want[cell] += sums[0].Int64()
				}
			})
			if order := part.Order(); order != nil {
				ordered := make([]int64, len(want))
				for j, at := range order {
					ordered[j] = want[at]
				}
				want = ordered
			}
			if !slices.Equal(got[i], want) {
				t.Fatalf("%s\npart %v\ngot  %v\nwant %v", sql, part.Keys, got[i], want)
			}
			if slices.ContainsFunc(want, func(n int64) bool { return n != 0 }) {
				nonzero++
			}
		}
	})
	if joint < 5 || nonzero < 20 {
		t.Errorf("only %d joint statements with %d histograms that are not 0", joint, nonzero)
	}
}

// allMargins plans all sets of a question's keys, each in an order that is drawn. It returns nil for a refusal.
func allMargins(t *rapid.T, w enginetest.World, r plan.Request) *plan.Linear {
	h, err := plan.BuildHistogram(w.Policy, r)
	if err != nil {
		return nil
	}
	var parts []plan.LinearPart
	for mask := range 1 << len(h.Grouped) {
		part, product := plan.LinearPart{}, linear.Product{linear.Identity(1)}
		for _, k := range rapid.Permutation([]int{0, 1, 2}[:len(h.Grouped)]).Draw(t, "order") {
			if mask>>k&1 == 1 {
				part.Keys, product = append(part.Keys, k), append(product, linear.Identity(len(h.KeyValues()[k])))
			}
		}
		if part.Strategy, err = linear.NewStrategy(product); err != nil {
			return nil
		}
		parts = append(parts, part)
	}
	p, err := plan.BuildLinear(w.Policy, r, parts)
	if err != nil {
		return nil
	}
	return p
}
