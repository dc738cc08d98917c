package duckdb

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// What quantiles and modes look at is that of the reference, in every cell, for random questions over hostile rows,
// with and without what sealing records, over pages of a few values; and all of it is rehearsed.
func TestOrdersAgreeWithReference(t *testing.T) {
	stattest.ShortCases(t, 50)
	b := newBench(t)
	b.page = 3
	byRows := b.policy
	byGroups, err := policy.Decode(enginetest.ByGroups("add-remove"), b.dir)
	if err != nil {
		t.Fatal(err)
	}
	admitted, looked := 0, 0
	check := func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table")
		sql := enginetest.Orders(t, table)
		b.policy = rapid.SampledFrom([]*policy.Policy{byRows, byGroups}).Draw(t, "policy")
		p, err := plan.Build(b.policy,
			plan.Request{SQL: sql, AutoRows: table == "p" && rapid.Bool().Draw(t, "rows to find")})
		if err != nil {
			return
		}
		admitted++
		p = enginetest.FoundRows(t, p)
		file := b.write(t, table, enginetest.Rows(t, b.policy.Table(table), 14))
		rows, known, err := b.sealedRows(table, file)
		if err != nil {
			t.Fatal(err)
		}
		looks := p.Looks()
		if p.Rows != nil {
			looks = append(looks, &p.Rows.Look)
		}
		for _, look := range looks {
			if err := b.Rehearse(context.Background(), look, engine.Sealed{}); err != nil {
				t.Fatalf("%s: rehearsal: %v", sql, err)
			}
		}
		from := rapid.SampledFrom([]engine.Sealed{known, {File: file}}).Draw(t, "known")
		ordered := []*bounded.Statement{}
		var counted []*bounded.Statement
		for _, of := range p.Orders() {
			for _, v := range of.OrderedValues() {
				ordered = append(ordered, of.Ordered(v))
			}
			for _, m := range of.Modes {
				counted = append(counted, of.Counted(m))
			}
		}
		if p.Rows != nil {
			ordered = append(ordered, &p.Rows.Look)
		}
		for _, look := range ordered {
			want := map[string]int64{}
			enginetest.OrderCells(look, rows, func(keys []value.Value, v int64) {
				if cell := engine.CellOf(look, keys); cell >= 0 {
					want[fmt.Sprint(cell, " ", v)]++
				}
			})
			scan, err := b.scanCells(context.Background(), look, from)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{}
			if err := scan(func(cell int, v,
				n int64,
			) bool {
				got[fmt.Sprint(cell, " ", v)] += n
				return true
			}); err != nil ||
				!maps.Equal(got, want) {
				t.Fatalf("%s: %v, want %v (%v)\n%s", sql, got, want, err, render(look, "FILE", from))
			}
			looked += len(want)
		}
		for _, look := range counted {
			reference, got := map[string]*big.Int{}, map[string]*big.Int{}
			enginetest.Sum(look, rows, gather(reference))
			scan, err := sealScan(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.run(context.Background(), render(look, scan, from), collect(look, gather(got))); err != nil ||
				!maps.Equal(nonZero(got), nonZero(reference)) {
				t.Fatalf("%s: %v, want %v (%v)\n%s", sql, nonZero(got), nonZero(reference), err,
					render(look, "FILE", from))
			}
			looked += len(nonZero(reference))
		}
	}
	enough := func() bool { return admitted >= 20 && looked >= 50 }
	for range stattest.Until(t, 20, enough) {
		rapid.Check(t, check)
	}
	if !enough() {
		t.Errorf("%d questions were admitted, of %d values: the test shows nothing", admitted, looked)
	}
}
