package truncation_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/truncation"
	"dither/internal/value"
)

// The statement counts what its definition says: of random rows and bounds, the units with more rows, more groups, or more rows in one group; and of the
// rows beyond the bound those of the first most. The sums are the reference engine's, and the oracle counts the rows one by one.
func TestStatementCountsWhatIsCut(t *testing.T) {
	p, err := policy.Decode([]byte(`
version: 1
population: {name: town, neighbours: change-one}
budget: {epsilon: 1}
tables:
  visits:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 3
    columns: {person: {type: integer}, city: {type: text, values: [a, b, c]}, wet: {type: boolean}, cost: {type: integer, bounds: [0, 9]}}
`), ".")
	if err != nil {
		t.Fatal(err)
	}
	cut, uncut := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT city, wet, COUNT(*) FROM visits WHERE cost > 2 GROUP BY city, wet"})
		if err != nil {
			t.Fatal(err)
		}
		up := rapid.Int64Range(0, 4)
		b := truncation.Bounds{Rows: up.Draw(t, "rows"), Groups: up.Draw(t, "groups"), RowsPerGroup: up.Draw(t, "in a group")}
		if b.None() {
			return
		}
		most := b.Rows + up.Draw(t, "most")
		type cell struct {
			city string
			wet  bool
		}
		var rows []enginetest.Row
		of, beyond := map[int64]map[cell]int64{}, map[int64]int64{}
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			person, cost := rapid.Int64Range(1, 5).Draw(t, "person"), rapid.Int64Range(0, 9).Draw(t, "cost")
			at := cell{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "city"), rapid.Bool().Draw(t, "wet")}
			rows = append(rows, enginetest.Row{
				"person": value.OfInt(person), "city": value.OfText(at.city), "wet": value.OfBool(at.wet), "cost": value.OfInt(cost),
			})
			if cost > 2 {
				if of[person] == nil {
					of[person] = map[cell]int64{}
				}
				of[person][at]++
				if cost > 5 {
					beyond[person]++
				}
			}
		}
		units, lost := int64(0), int64(0)
		clamped := int64(0)
		for _, n := range beyond {
			clamped += min(n, 3)
		}
		for _, groups := range of {
			n, largest := int64(0), int64(0)
			for _, k := range groups {
				n, largest = n+k, max(largest, k)
			}
			if b.Rows > 0 && n > b.Rows || b.Groups > 0 && int64(len(groups)) > b.Groups || b.RowsPerGroup > 0 && largest > b.RowsPerGroup {
				units++
			}
			lost += max(min(n, most)-b.Rows, 0)
		}
		clamp := &bounded.Expr{Op: bounded.OpGt, Type: value.Boolean, Nullable: true, Args: []*bounded.Expr{costs(q), bind.Constant(value.OfInt(5))}}
		asked := truncation.Asked{Most: most, Clamps: []*bounded.Expr{clamp}, Clamped: 3}
		s := truncation.Statement(&q.Statement, q.Where, b, asked)
		if withRows := b.Rows > 0 && most > b.Rows; withRows != (len(s.Measures) == 3) {
			t.Fatalf("%d measures", len(s.Measures))
		}
		got := make([]*big.Int, len(s.Measures))
		enginetest.SumOf(&s, enginetest.Tables{"visits": rows}, func(_ []value.Value, sums []*big.Int) {
			for i, x := range sums {
				if got[i] == nil {
					got[i] = new(big.Int)
				}
				if x != nil {
					got[i].Add(got[i], x)
				}
			}
		})
		wants := []int64{units, lost, clamped}
		if len(got) == 2 {
			wants = []int64{units, clamped}
		}
		for i, want := range wants {
			if got[i] == nil {
				got[i] = new(big.Int)
			}
			if got[i].Int64() != want {
				t.Fatalf("%+v up to %d: measure %d is %s, want %d, of %v", b, most, i, got[i], want, rows)
			}
		}
		if units > 0 {
			cut++
		} else {
			uncut++
		}
	})
	if cut < 20 || uncut < 5 {
		t.Errorf("%d with a cut, %d without", cut, uncut)
	}
}

// The least number of rows of a unit that is cut.
func TestLeast(t *testing.T) {
	for b, want := range map[truncation.Bounds]int64{
		{}: 0, {Rows: 20}: 21, {Groups: 4}: 5, {Groups: 4, RowsPerGroup: 2}: 3, {Rows: 1, Groups: 4, RowsPerGroup: 2}: 2,
	} {
		if got := b.Least(); got != want {
			t.Errorf("%+v: %d, want %d", b, got, want)
		}
	}
}

// costs is the column cost of a plan.
func costs(q *plan.Plan) (out *bounded.Expr) {
	q.Where.Walk(func(e *bounded.Expr) {
		if e.Op == bounded.OpColumn {
			out = e
		}
	})
	return out
}
