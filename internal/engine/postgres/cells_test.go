package postgres

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// What a person adds to a cell is exact where doubles would not hold the sum: beyond 2^53, of both signs, and where the
// clamp is itself too large for them.
func TestCellsAreExact(t *testing.T) {
	const text = `
version: 1
population: {name: cells}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  p: {source: {csv: p.csv}, unit: person, rows_per_unit: 400, max_groups: 2, max_rows_per_group: ROWS, columns: {person: {type: integer},
    g: {type: integer, bounds: [0, 2]}, v: {type: real, bounds: [0, 100]}, w: {type: real, bounds: [-100, 100]}, n: {type: integer, bounds: [0, 1000000000000000]}}}
`
	questions := map[string]int{ // up to how many rows in a cell the first measure is added up in doubles
		"SELECT g, SUM(v) FROM p GROUP BY g": 163, "SELECT g, SUM(w) FROM p GROUP BY g": 0,
		"SELECT g, SUM(n) FROM p GROUP BY g":                                                9,
		"SELECT g, COUNT(*), COUNT(DISTINCT person), SUM(v) FROM p WHERE v > 99 GROUP BY g": -1,
	}
	var rows []enginetest.Row
	for i := range 900 {
		sign := float64(1 - 2*(i/3%2))
		rows = append(rows, enginetest.Row{
			"person": value.OfInt(int64(i % 2)), "g": value.OfInt(int64(i%3) * (1 - 2*int64(i%2))),
			"v": value.OfReal(100 - float64(i%7)/3),
			"w": value.OfReal(sign * (97 + float64(i%5)/7)), "n": value.OfInt(1e15 - int64(i)),
		})
	}
	for _, most := range []int{9, 163, 164} {
		b := newBench(t, []byte(strings.ReplaceAll(text, "ROWS", strconv.Itoa(most))))
		b.write(t, "p", rows)
		copied := b.copied(t, "p", &policy.Column{Name: "__row", Type: value.Integer, Nullable: true})
		for sql, upTo := range questions {
			p := b.plan(t, sql)
			if p.Caps.RowsPerGroup == 0 {
				t.Fatalf("%s: bounded by %s: the test shows nothing", sql, p.Caps)
			}
			as := asNumeric
			if upTo < 0 {
				as = asInteger
			} else if most <= upTo {
				as = asDouble
			}
			if got := tallied(&p.Statement, p.Statement.Measures[0], "x", "m0").as; got != as {
				t.Errorf("%s, %d rows: added up in %s, want %s", sql, most, got, as)
			}
			for _, from := range []engine.Sealed{{}, copied} {
				seen := b.ranked(t, &p.Statement, "p", rows)
				if from.Copy != nil {
					seen = b.ranks(t, rows)
				}
				got, want := map[string]*big.Int{}, map[string]*big.Int{}
				if err := b.engine("p").sums(context.Background(), &p.Statement, from, gather(got)); err != nil {
					t.Fatal(err)
				}
				enginetest.Sum(&p.Statement, seen, gather(want))
				if got, want := nonZero(got), nonZero(want); !maps.Equal(got, want) || len(got) == 0 {
					t.Errorf("%s, %d rows, copy %v: %v, want %v", sql, most, from.Copy != nil, got, want)
				}
			}
		}
	}
}

// Sums in doubles of integers that are not negative, clamped to at most 2^53, are the exact ones clamped, in whatever
// order they are added.
func TestDoublesThatAreClamped(t *testing.T) {
	beyond := 0
	rapid.Check(t, func(t *rapid.T) {
		hi := rapid.Int64Range(0, 1<<53).Draw(t, "hi")
		exact, parts := new(big.Int), []float64{}
		for range rapid.IntRange(1, 40).Draw(t, "rows") {
			v := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 1<<53),
				rapid.Just(int64(1<<53-1))).Draw(t, "v")
			exact.Add(exact, big.NewInt(v))
			parts = append(parts, float64(v))
		}
		if exact.Cmp(integersOfDouble) > 0 {
			beyond++
		}
		for len(parts) > 1 { // any two
			i := rapid.IntRange(0, len(parts)-2).Draw(t, "i")
			parts[i] += parts[len(parts)-1]
			parts = parts[:len(parts)-1]
		}
		want := big.NewInt(hi)
		if exact.Cmp(want) < 0 {
			want = exact
		}
		if got := int64(math.Min(parts[0], float64(hi))); got != want.Int64() {
			t.Fatalf("%d, want %s", got, want)
		}
	})
	if beyond < 10 {
		t.Errorf("%d sums were beyond 2^53: the test shows nothing", beyond)
	}
}

// A clamp that is left out would have moved nothing: no value of the column, on the server, is gridded to more or less
// than the measure's bounds.
func TestClampsLeftOut(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	idle, busy := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sql := rapid.SampledFrom([]string{
			"SUM(x)", "AVG(x)", "SUM(y)", "AVG(y)", "SUM(i)", "AVG(i)", "SUM(j)",
			"AVG(j)", "SUM(k)",
		}).Draw(t, "sum")
		if from := rapid.IntRange(-9, 9).Draw(t, "from"); rapid.Bool().Draw(t, "bounds") {
			sql = fmt.Sprintf("%s, bounds => (%d, %d))",
				sql[:len(sql)-1], from, from+rapid.IntRange(1, 30).Draw(t, "length"))
		}
		p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT " + sql + " FROM t"})
		if err != nil {
			return
		}
		for _, m := range p.Statement.Measures {
			if m.Kind != bounded.Sum {
				continue
			}
			if !clampIsIdle(&p.Statement, m) {
				busy++
				continue
			}
			idle++
			c := p.Columns[m.X.Column]
			ends := []string{double(c.Range.Lo), double(c.Range.Hi), double(math.Nextafter(c.Range.Lo, c.Range.Hi)), double(math.Nextafter(c.Range.Hi, c.Range.Lo))}
			if c.Type != value.Real {
				ends = []string{integer(c.Range.IntLo), integer(c.Range.IntHi)}
			}
			for _, end := range ends {
				sql := fmt.Sprintf(
					"SELECT 1, CASE WHEN %s BETWEEN %d AND %d THEN 1 ELSE 0 END FROM (SELECT %s AS c%d) AS c",
					gridded(m), m.Lo, m.Hi, end, m.X.Column)
				if err := b.query(sql, func(row [][]byte) error {
					if _, in, err := valueAndCount(row); err != nil || in != 1 {
						return fmt.Errorf("%s of %s is out of bounds: %w", m, end, err)
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	if idle < 5 || busy < 5 {
		t.Errorf("%d clamps were left out and %d not: the test shows nothing", idle, busy)
	}
	for sql, want := range map[string]bool{
		"SELECT SUM(x) FROM t": true, "SELECT SUM(x, bounds => (0, 1)) FROM t": false,
		"SELECT SUM(LEAST(x, 1)) FROM t": false, "SELECT SUM(i) FROM t": true,
	} {
		p := b.plan(t, sql)
		if got := clampIsIdle(&p.Statement, p.Statement.Measures[0]); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

// Rows whose keys become one by cleaning are in one group, and those whose key becomes none in none.
func TestRowsAreGroupedByWhatWasRead(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	var rows []enginetest.Row
	for i := range 40 {
		r := enginetest.Row{
			"i": value.OfInt([]int64{-1 << 63, -100, 0, 7, 1<<63 - 1}[i%5]),
			"k": value.OfInt(int64(i%11) - 5), "x": value.OfReal(float64(i)),
		}
		r["s"] = value.OfText([]string{"a", "A", "B", "it's", "other", ""}[i%6])
		if i%7 == 0 {
			r["i"], r["s"] = value.NullOf(value.Integer), value.NullOf(value.Text)
		}
		rows = append(rows, r)
	}
	b.write(t, "t", rows)
	copied := b.copied(t, "t")
	for _, sql := range []string{
		"SELECT i, COUNT(*), SUM(x) FROM t GROUP BY i", "SELECT s, SUM(x) FROM t WHERE x > 3 GROUP BY s",
		"SELECT k, COUNT(i), COUNT(*) FROM t GROUP BY k",
		"SELECT i, s, COUNT(*), SUM(i) FROM t GROUP BY i, s", "SELECT b, SUM(x + i) FROM t GROUP BY b",
		"SELECT i + 1, COUNT(*) FROM t GROUP BY i + 1", "SELECT COUNT(*), SUM(x) FROM t WHERE i > 2",
	} {
		p, err := plan.Build(b.policy, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if !rowsAreAddedUp(&p.Statement) {
			t.Errorf("%s: the test shows nothing", sql)
		}
		for _, from := range []engine.Sealed{{}, copied} {
			if p.Part != nil && from.Copy == nil {
				continue
			}
			got, want := map[string]*big.Int{}, map[string]*big.Int{}
			if err := b.engine("t").sums(context.Background(), &p.Statement, from, gather(got)); err != nil {
				t.Fatal(err)
			}
			enginetest.Sum(&p.Statement, rows, gather(want))
			if got, want := nonZero(got), nonZero(want); !maps.Equal(got, want) || len(got) == 0 {
				t.Errorf("%s, copy %v: %v, want %v", sql, from.Copy != nil, got, want)
			}
		}
	}
}

// What a unit adds to a group and is added up as a count, or in doubles, is not negative, and its lower bound is not
// below 0. So a lower bound that is smaller than planned leaves it between 0 and the upper one, on which the
// sensitivity rests.
func TestLowerBoundOfCountsAndDoubles(t *testing.T) {
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	bounded := map[string]int{}
	ask := func(t *rapid.T) {
		w := rapid.SampledFrom(worlds).Draw(t, "world")
		request, _, _ := w.Anything(t)
		p, err := plan.Build(w.Policy, request)
		if err != nil || p.Unit == nil || p.Source != nil || p.Caps.RowsPerGroup == 0 {
			return
		}
		for i, m := range p.Statement.Measures {
			of := tallied(&p.Statement, m, contribution(&p.Statement, i), "m")
			if bounded[of.as]++; of.as == asNumeric {
				continue
			}
			if lo, _ := m.CellBounds(p.Caps); lo.Sign() < 0 || of.row != "" && m.Lo < 0 {
				t.Fatalf("%s: %s, a unit adds %s or more", request.SQL, m, lo)
			}
		}
	}
	for range 40 {
		rapid.Check(t, ask)
	}
	if t.Log(bounded); bounded[asInteger] < 20 || bounded[asDouble] < 20 {
		t.Error("the test shows nothing")
	}
}
