package plan_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// The first rows of each person are those that SQL says, for orders of several columns, in both directions, with NULLs
// at either end. The reference engine counts them and sums the last column of the order, whose value ties do not
// change.
func TestFirstRows(t *testing.T) {
	stattest.Cases(t, 300)
	text := strings.NewReplacer("rows_per_unit: 3,", "rows_per_unit: 9,", "max_rows_per_group: 3,", "max_rows_per_group: 9,").
		Replace(string(enginetest.RelationPolicy("add-remove", false)))
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var rows []enginetest.Row
		of := map[string][]enginetest.Row{}
		for range rapid.IntRange(1, 9).Draw(t, "rows") {
			person := rapid.Int64Range(1, 3).Draw(t, "person")
			r := enginetest.Row{
				"person": value.OfInt(person), "id": value.OfInt(1),
				"i": value.OfInt(rapid.Int64Range(-2, 2).Draw(t, "i")), "k": value.OfInt(rapid.SampledFrom([]int64{-3, 0, 5}).Draw(t, "k")),
				"x": value.OfReal(float64(rapid.IntRange(-2, 2).Draw(t, "x"))), "s": value.OfText(rapid.SampledFrom([]string{"a", "B", ""}).Draw(t, "s")),
				"b": value.OfBool(rapid.Bool().Draw(t, "b")),
			}
			for _, name := range []string{"i", "k", "x", "s", "b"} {
				if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
					r[name] = value.NullOf(r[name].Type)
				}
			}
			rows = append(rows, r)
			of[r["person"].String()] = append(of[r["person"].String()], r)
		}
		type key struct {
			name             string
			desc, nullsFirst bool
		}
		var keys []key
		var order []string
		for i := range rapid.IntRange(1, 3).Draw(t, "keys") {
			k := key{rapid.SampledFrom([]string{"k", "x", "s", "b"}).Draw(t, "key"), rapid.Bool().Draw(t, "desc"), false}
			if i == 0 && rapid.Bool().Draw(t, "i alone") {
				k.name = "i"
			}
			k.nullsFirst = k.desc
			text := k.name + map[bool]string{true: " DESC"}[k.desc]
			if rapid.Bool().Draw(t, "nulls") {
				k.nullsFirst = rapid.Bool().Draw(t, "first")
				text += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.nullsFirst]
			}
			keys, order = append(keys, k), append(order, text)
		}
		keys, order = append(keys, key{"i", false, false}), append(order, "i")
		compare := func(a, b enginetest.Row) int {
			for _, k := range keys {
				x, y := a[k.name], b[k.name]
				switch {
				case x.Null && y.Null:
					continue
				case x.Null || y.Null:
					if x.Null == k.nullsFirst {
						return -1
					}
					return 1
				}
				if c := value.Compare(x, y); c != 0 {
					if k.desc {
						return -c
					}
					return c
				}
			}
			return 0
		}
		one, tied, sumOne, sumTied := 0, 0, int64(0), int64(0)
		for _, own := range of {
			least := slices.MinFunc(own, compare)
			one++
			for _, r := range own {
				if compare(r, least) == 0 {
					tied++
					if !r["i"].Null {
						sumTied += r["i"].Int
					}
				}
			}
			if !least["i"].Null {
				sumOne += least["i"].Int
			}
		}
		by := " OVER (PARTITION BY person ORDER BY " + strings.Join(order, ", ") + ")"
		for sql, want := range map[string][2]int64{
			"(SELECT i, ROW_NUMBER()" + by + " AS n FROM p) q WHERE n = 1":                                {int64(one), sumOne},
			"(SELECT DISTINCT ON (person) i FROM p ORDER BY person, " + strings.Join(order, ", ") + ") q": {int64(one), sumOne},
			"(SELECT i, RANK()" + by + " AS n FROM p) q WHERE q.n = 1":                                    {int64(tied), sumTied},
			"(SELECT i, DENSE_RANK()" + by + " AS n FROM p) q WHERE q.n = 1":                              {int64(tied), sumTied},
		} {
			q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*), SUM(i) FROM " + sql})
			if err != nil {
				t.Fatal(sql, err)
			}
			got := []*big.Int{new(big.Int), new(big.Int)}
			enginetest.SumOf(&q.Statement, enginetest.Tables{"p": rows}, func(_ []value.Value, sums []*big.Int) {
				for i, s := range sums {
					got[i].Add(got[i], s)
				}
			})
			sum := new(big.Rat).Mul(new(big.Rat).SetInt(got[1]), q.Measures[1].Unit())
			if got[0].Int64() != want[0] || sum.Cmp(new(big.Rat).SetInt64(want[1])) != 0 {
				t.Fatalf("%s: got %v, want %v\n%v", sql, got, want, rows)
			}
		}
	})
}

// First rows bound a person by one row, and ROW_NUMBER, DISTINCT ON and a condition on either side of a join mean the
// same.
func TestFirstRowsAreBounded(t *testing.T) {
	p, err := policy.Decode(enginetest.RelationPolicy("add-remove", false), ".")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int64{
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n = 1":                                   1,
		"(SELECT x, RANK() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n = 1":                                         3,
		"(SELECT DISTINCT ON (person) x FROM p) q":                                                                                   1,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n <= 2":                                  2,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n < 9":                                   3,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n = 2":                                   1,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n BETWEEN 2 AND 3":                       2,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n > 1":                                   3,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n = 1 OR x > 0":                          3,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person, b ORDER BY i) AS n FROM p) q WHERE n = 1":                                3,
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person, x > 2 ORDER BY i) AS n FROM p WHERE x > 0) q WHERE n = 1":                3,
		"(SELECT x, LAG(i) OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n = 1":                                         3,
		"p a JOIN (SELECT who, ROW_NUMBER() OVER (PARTITION BY who ORDER BY j) AS n FROM v) b ON a.person = b.who AND b.n = 1":       3,
		"v a JOIN (SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) b ON b.person = a.who WHERE n = 1": 2,
		"p a LEFT JOIN LATERAL (SELECT j FROM v WHERE v.who = a.person ORDER BY j LIMIT 1) x ON TRUE":                                3,
		"p a LEFT JOIN LATERAL (SELECT j FROM v WHERE v.who = a.person ORDER BY j LIMIT 2) x ON TRUE":                                6,
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM " + sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := q.Measures[0].L1; got.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("%s: a person moves the count by %s, want %d", sql, got, want)
		}
	}
	for sql, want := range map[string]string{
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY s ORDER BY i) AS n FROM p) q WHERE n = 1":                                             "by the person",
		"(SELECT x, ROW_NUMBER() OVER (ORDER BY i) AS n FROM p) q WHERE n = 1":                                                            "by the person",
		"(SELECT x, LAG(i) OVER (PARTITION BY person) AS n FROM p) q WHERE n = 1":                                                         "needs the order",
		"(SELECT x, LAG(i, x) OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n = 1":                                           "a constant number of rows",
		"(SELECT x, NTILE(2) OVER (PARTITION BY person ORDER BY i) AS n FROM p) q WHERE n = 1":                                            "over one person's rows",
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY person, x ORDER BY i) AS n FROM p) q WHERE n = 1":                                     "a real number cannot be a key",
		"(SELECT x, ROW_NUMBER() OVER (PARTITION BY k ORDER BY i) AS n FROM t) q WHERE n = 1":                                             "over single rows",
		"p a LEFT JOIN v b ON a.person = b.who AND a.n = 1":                                                                               `no column "n"`,
		"(SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS n FROM p) a LEFT JOIN v b ON a.person = b.who AND a.n = 1": "the condition of a LEFT JOIN",
	} {
		if _, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM " + sql}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}

// No product of parts and numbers of rows overflows to one row, which would leave a person's rows uncapped: for every odd
// number of parts there is a number of rows with which the product is 1 in 64 bits.
func TestNumbersOfRowsDoNotOverflow(t *testing.T) {
	p, err := policy.Decode(enginetest.RelationPolicy("add-remove", false), ".")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for parts := int64(2); parts <= 40; parts++ {
		inverse := int64(1) // of parts, modulo 2^64, by Newton's method
		for range 7 {
			inverse *= 2 - parts*inverse
		}
		if parts*inverse != 1 || inverse <= 0 {
			continue
		}
		key := fmt.Sprintf("LEAST(GREATEST(i, 1), %d)", parts-1) // with NULL
		for _, where := range []string{"BETWEEN 1 AND %d", "IN (1, %d)", "<= %d"} {
			sql := fmt.Sprintf("SELECT COUNT(*) FROM (SELECT x, ROW_NUMBER() OVER (PARTITION BY person, g ORDER BY i) AS n "+
				"FROM (SELECT person, x, i, %s AS g FROM p) o) q WHERE n "+where, key, inverse)
			q, err := plan.Build(p, plan.Request{SQL: sql})
			if err != nil {
				continue // beyond the largest integer of SQL
			}
			asked++
			if q.Source.Single || q.Measures[0].L1.Cmp(big.NewInt(3)) != 0 {
				t.Errorf("%s: single %t, a person moves the count by %s", sql, q.Source.Single, q.Measures[0].L1)
			}
		}
	}
	if asked < 10 {
		t.Errorf("%d questions: the test shows nothing", asked)
	}
}
