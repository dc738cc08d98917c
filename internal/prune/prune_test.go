package prune_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/prune"
	"dither/internal/value"
)

// No row is in a group that is left out, for questions and hostile rows as drawn.
func TestGroupsLeftOutAreEmpty(t *testing.T) {
	p, err := policy.Decode(enginetest.PolicyText("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	asked, pruned, met := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table")
		sql := enginetest.Question(t, table)
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil || len(q.Keys) == 0 || q.Open() {
			t.Skip()
		}
		rows := enginetest.Tables{table: enginetest.Rows(t, p.Table(table), 8)}
		asked++
		of := prune.Where(q.Where, q.Columns)
		groups := of.Groups(q.Keys)
		if !groups.All(q.Keys) {
			pruned++
		}
		count := bounded.Statement{
			Table: q.Table, Columns: q.Columns, Where: q.Where, Keys: q.Keys, Caps: bounded.Caps{Rows: 1},
			Measures: []*bounded.Measure{{Kind: bounded.CountRows, Lo: 1, Hi: 1}},
		}
		enginetest.SumOf(&count, rows, func(keys []value.Value, sums []*big.Int) {
			if sums[0].Sign() == 0 {
				return
			}
			met++
			cell := make([]int, len(keys))
			for i, v := range keys {
				at := slices.Index(groups.Values[i], q.Keys[i].Index(v))
				if cell[i] = at; at < 0 {
					t.Fatalf("%s: a row has %v = %v, which is left out", sql, q.Keys[i].Expr, v)
				}
				same := func(o value.Value) bool { return value.Compare(o, v) == 0 }
				if values, ok := of.Values(q.Keys[i].Expr); ok && !v.Null && !slices.ContainsFunc(values, same) {
					t.Fatalf("%s: a row has %v = %v, which is not among %v", sql, q.Keys[i].Expr, v, values)
				}
			}
			if !groups.Has(cell) {
				t.Fatalf("%s: a row is in group %v, which is left out", sql, keys)
			}
		})
	})
	t.Logf("%d questions, %d of them with groups left out; %d groups with rows", asked, pruned, met)
	if asked > 0 && (pruned == 0 || met == 0) {
		t.Fatal("nothing was tried")
	}
}

const shop = `
version: 1
population: {name: shop, neighbours: add-remove}
budget: {epsilon: 10}
price: {default: 1}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 12
    max_groups: 3
    columns:
      person: {type: integer}
      region: {type: text, values: [north, south, east, west], nullable: true}
      product: {type: text, values: [tea, coffee, cake, bread]}
      day: {type: date, bounds: [2024-01-01, 2026-12-31]}
      born: {type: date}
      age: {type: integer, bounds: [0, 115]}
      cost: {type: real, bounds: [0, 1000]}
      serial: {type: integer}
      paid: {type: boolean}
      note: {type: text}
`

// The groups that remain are those that a reader of WHERE would list.
func TestGroupsThatRemain(t *testing.T) {
	p, err := policy.Decode([]byte(shop), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, where, want string }{
		{"region", "region IN ('north', 'south')", "north south"},
		{"region", "region = 'north' OR region = 'east' AND age > 3", "east north"},
		{"region", "NOT region IN ('north', 'south')", "east west"},
		{"region", "region <> 'north'", "east south west"},
		{"region", "region IS NULL", "NULL"},
		{"region", "region IS NOT NULL AND paid", "east north south west"},
		{"region", "region LIKE '%th'", "north south"},
		{"region", "CASE WHEN region = 'north' THEN 1 WHEN region LIKE '%st' THEN 2 ELSE 3 END = 2", "east west"},
		{"region", "(region = 'north') IS NOT TRUE", "east south west NULL"},
		{"region", "COALESCE(region, 'west') = 'west'", "west NULL"},
		{"region", "age > 200", ""},
		{"region", "FALSE", ""},
		{"COALESCE(region, 'none')", "region IS NULL OR region = 'west'", "none west"},
		{"CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END", "age >= 30 AND age < 80", "adult senior"},
		{"CASE WHEN cost < 10 THEN 'a' WHEN cost < 100 THEN 'b' ELSE 'c' END", "cost < 5 OR cost > 500", "a c"},
		{"date_trunc('month', day)", "day >= '2025-03-01' AND day < '2025-06-01'", "2025-03-01 2025-04-01 2025-05-01"},
		{"date_trunc('month', day)", "day BETWEEN '2025-03-31' AND '2025-04-01'", "2025-03-01 2025-04-01"},
		{"date_trunc('month', day)", "day = '2025-03-31' OR day > '2026-12-05'", "2025-03-01 2026-12-01"},
		{"date_trunc('month', day)", "EXTRACT(month FROM day) = 2", "2024-02-01 2025-02-01 2026-02-01"},
		{"EXTRACT(year FROM day)", "day >= '2025-03-01'", "2025 2026"},
		{"EXTRACT(quarter FROM day)", "EXTRACT(month FROM day) IN (1, 2, 12)", "1 4"},
		{"day", "date_trunc('month', day) = '2024-02-01' AND EXTRACT(dow FROM day) = 4", "2024-02-01 2024-02-08 2024-02-15 2024-02-22 2024-02-29"},
		{"FLOOR(age / 10) * 10", "age BETWEEN 25 AND 41", "20 30 40"},
		{"FLOOR(cost / 100) * 100", "cost >= 250 AND cost < 400", "200 300"},
		{"FLOOR(cost / 100) * 100", "cost = 5 OR cost BETWEEN 910 AND 920", "0 900"},
		{"age % 7", "age IN (7, 8)", "0 1"},
		{"LEAST(GREATEST(serial, 0), 100000) % 3", "LEAST(GREATEST(serial, 0), 100000) % 3 = 1", "1"},
		{"paid", "NOT paid", "false"},
		{"cost > 3", "(cost + CAST(NULL AS real)) IS NULL", "false true"},
		{"age % 7", "(age + CAST(NULL AS integer)) IS NULL", "0 1 2 3 4 5 6"},
		{"age > 50", "age <= 50 OR region = 'north'", "false true"},
		{"note LIKE 'a%'", "note LIKE 'a%'", "true"},
		{"region, product", "region = 'north' AND product = 'tea' OR region = 'south' AND product = 'cake'", "north/tea south/cake"},
		{"region, product", "region IN ('north', 'south') AND product IN ('tea', 'cake')", "north/cake north/tea south/cake south/tea"},
		{"region, paid", "paid = (region = 'north') AND region IN ('north', 'east')", "east/false north/true"},
		{"date_trunc('month', day), EXTRACT(year FROM day)", "day >= '2025-12-01' AND day < '2026-02-01'", "2025-12-01/2025 2026-01-01/2026"},
		{"day, date_trunc('week', day)", "day >= '2025-12-28' AND day < '2025-12-30'", "2025-12-28/2025-12-22 2025-12-29/2025-12-29"},
		{"age, age % 2", "age < 3", "0/0 1/1 2/0"},
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM visits WHERE " + c.where + " GROUP BY " + c.key})
		if err != nil {
			t.Errorf("%s: %v", c.key, err)
			continue
		}
		groups := prune.Where(q.Where, q.Columns).Groups(q.Keys)
		var got []string
		cell := make([]int, len(q.Keys))
		var list func(i int, text []string)
		list = func(i int, text []string) {
			if i == len(q.Keys) {
				if groups.Has(cell) {
					got = append(got, strings.Join(text, "/"))
				}
				return
			}
			for j, v := range groups.Values[q.Grouped[i]] {
				cell[q.Grouped[i]] = j
				list(i+1, append(slices.Clip(text), q.Keys[q.Grouped[i]].Values[v].String()))
			}
		}
		list(0, nil)
		if slices.Sort(got); c.want != strings.Join(got, " ") {
			want := strings.Fields(c.want)
			if slices.Sort(want); !slices.Equal(want, got) {
				t.Errorf("GROUP BY %s WHERE %s: %v, want %v", c.key, c.where, got, want)
			}
		}
	}
}
