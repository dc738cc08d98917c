package plan_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/reuse"
	"dither/internal/stattest"
	"dither/internal/value"
)

// joined is a relation of the relations' policy, with keys and numbers of its columns.
type joined struct {
	from          string
	keys, numbers []string
}

// Relations of which every row counts: each row is a unit, or each person has one row.
var everyRowCounts = []joined{
	{"t a JOIN r b ON a.k = b.rk", []string{"a.k", "a.s", "b.rs", "a.i % 3", "b.ri"}, []string{"a.i", "b.rx", "a.x"}},
	{"t a LEFT JOIN r b ON a.s = b.rs", []string{"a.s", "b.rk", "a.k", "COALESCE(b.rk, 0)"}, []string{"a.i", "b.rx"}},
	{"t a JOIN r b ON a.s = b.rs AND b.rx > 2", []string{"a.s", "b.rk", "a.k"}, []string{"a.i", "b.rx"}},
	{"(SELECT * FROM t UNION ALL SELECT k, i * 2, x, 'a' FROM t WHERE x > 0) a", []string{"a.k", "a.s"}, []string{"a.x", "a.i"}},
	{"(SELECT person AS u, COUNT(*) AS n, MAX(i) AS hi, BOOL_OR(b) AS o FROM p GROUP BY person) a", []string{"a.n", "a.o", "a.hi % 3"}, []string{"a.hi", "a.n"}},
	{"(SELECT person AS u, k AS n, i AS hi, b AS o FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY i) AS rn FROM p) z WHERE rn = 1) a", []string{"a.n", "a.o", "a.hi % 3"}, []string{"a.hi", "a.n"}},
	{"(SELECT person AS u, COUNT(*) AS n, MAX(i) AS hi FROM p GROUP BY person) a JOIN (SELECT who, COUNT(*) AS m FROM v GROUP BY who) b ON b.who = a.u", []string{"a.n", "b.m", "a.hi % 3"}, []string{"a.hi", "b.m"}},
	{"(SELECT person AS u, COUNT(*) AS n, MAX(i) AS hi FROM p GROUP BY person) a LEFT JOIN (SELECT who, COUNT(*) AS m FROM v GROUP BY who) b ON b.who = a.u", []string{"a.n", "b.m", "COALESCE(b.m, 0)"}, []string{"a.hi", "b.m"}},
	{"(SELECT person AS u, COUNT(*) AS n, MAX(i) AS hi FROM p WHERE EXISTS (SELECT 1 FROM v WHERE v.who = p.person AND v.j > p.i) GROUP BY person) a", []string{"a.n", "a.hi % 3"}, []string{"a.hi", "a.n"}},
}

// Relations with several rows of a person, of which the keys and the values choose those that count.
var someRowsCount = []joined{
	{"p a JOIN r b ON a.k = b.rk", []string{"a.k", "a.s", "b.rs", "a.b"}, []string{"a.i", "b.rx"}},
	{"p a JOIN v b ON a.person = b.who", []string{"a.k", "a.s", "b.c"}, []string{"a.i", "b.y"}},
	{"p a JOIN l b ON b.parent = a.id", []string{"a.k", "a.s", "b.q % 3"}, []string{"a.i", "b.q"}},
	{"(SELECT person AS u, s AS s, COUNT(*) AS n FROM p GROUP BY person, s) a", []string{"a.n", "a.s"}, []string{"a.n"}},
}

// functionOf draws a function of a key.
func functionOf(t *rapid.T, key string) string {
	of := []string{key + " IS NULL", "COALESCE(" + key + " = 0, TRUE)", "CASE WHEN " + key + " > 0 THEN 'u' ELSE 'v' END"}
	if strings.HasSuffix(key, "s") {
		of = []string{key + " IS NULL", key + " = 'a'", "COALESCE(" + key + ", 'B')", key + " LIKE 'B%'"}
	} else if strings.HasSuffix(key, ".o") || strings.HasSuffix(key, ".b") {
		of = []string{"NOT " + key, key + " IS TRUE"}
	}
	return rapid.SampledFrom(of).Draw(t, "function")
}

// twoOver draws a question about a relation, and another one of fewer keys, of functions of them, or of some of their values.
func twoOver(t *rapid.T, r, other joined) (first, second string) {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	a, b := pick("key", r.keys...), pick("other key", r.keys...)
	count := pick("aggregate", "COUNT(*)", "SUM("+pick("number", r.numbers...)+")", "COUNT("+pick("counted", r.numbers...)+")")
	if strings.Contains(r.from, "person AS u") && rapid.Bool().Draw(t, "units") {
		count = "COUNT(DISTINCT a.u)"
	}
	where := pick("where", "", "", " WHERE "+pick("condition", r.numbers...)+" > 1")
	first = "SELECT " + count + ", COUNT(*) FROM " + r.from + where + " GROUP BY " + pick("form", a+", "+b, "ROLLUP ("+a+", "+b+")", a)
	more := where
	if rapid.Bool().Draw(t, "picked") {
		more = strings.Replace(where+" AND "+functionOf(t, pick("condition on", r.keys...))+" IS NOT NULL", " AND ", map[bool]string{true: " WHERE ", false: " AND "}[where == ""], 1)
	}
	coarse := a
	if rapid.Bool().Draw(t, "coarser") {
		coarse = functionOf(t, a)
	}
	return first, "SELECT " + count + " FROM " + other.from + more + pick("second form", "", " GROUP BY "+a, " GROUP BY "+coarse)
}

// overTables is exactOver for the rows of a relation.
func overTables(b *bounded.Statement, g plan.Grouping, j int, tables enginetest.Tables) []*big.Int {
	return cellsOf(b, g, j, func(add func([]value.Value, []*big.Int)) { enginetest.SumOf(b, tables, add) })
}

// What follows over a relation does so exactly, of the bounded quantities, over hostile rows. Nothing follows from another
// relation, and nothing where the keys and values choose a person's rows.
func TestRelationsFollowExactly(t *testing.T) {
	stattest.Cases(t, 2000)
	for _, byGroups := range []bool{false, true} {
		t.Run(fmt.Sprintf("by groups %t", byGroups), func(t *testing.T) { relationsFollow(t, byGroups) })
	}
}

func relationsFollow(t *testing.T, byGroups bool) {
	p := policyOf(t, enginetest.RelationPolicy("add-remove", byGroups))
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		all, persons := everyRowCounts, rapid.IntRange(0, 3).Draw(t, "some rows count") == 0
		if persons {
			all = someRowsCount
		}
		r := rapid.SampledFrom(all).Draw(t, "relation")
		other := r
		if rapid.IntRange(0, 4).Draw(t, "another relation") == 0 {
			other = rapid.SampledFrom(all).Draw(t, "other")
		}
		first, second := twoOver(t, r, other)
		earlier, err1 := plan.Build(p, plan.Request{SQL: first})
		asked, err2 := plan.Build(p, plan.Request{SQL: second})
		if err1 != nil || err2 != nil {
			return
		}
		seen["planned"]++
		if strings.Contains(second, "DISTINCT") {
			seen["units planned"]++
		}
		rows := enginetest.RelationRows(t, p, 9)
		reader := reuse.NewReader(asked)
		for _, g := range asked.Groupings() {
			f, ok := reader.Follow(asked.Measures[0], g, earlier)
			switch {
			case !ok:
				continue
			case r.from != other.from || persons:
				t.Fatalf("%s\nfollows from %s", second, first)
			}
			if about, of := subject(earlier), subject(asked); !about.MayTell(of) {
				t.Fatalf("%s\nfrom %s: not found by the marks %v of %v", second, first, about, of)
			}
			seen["follow"]++
			if strings.Contains(second, "DISTINCT") {
				seen["units follow"]++
			}
			seen[kindOf(first, second, g, asked, earlier)]++
			for _, kind := range coarser(g, asked, earlier, f) {
				seen[kind]++
			}
			if asked.Unit != nil {
				seen["of one row each"]++
			}
			source, want := overTables(&earlier.Statement, plan.Grouping{Keys: f.Keys}, f.Measure, rows), overTables(&asked.Statement, g, 0, rows)
			for i, cells := range f.Cells {
				sum := new(big.Int)
				for _, c := range cells {
					sum.Add(sum, source[c])
				}
				if sum.Cmp(want[i]) != 0 {
					t.Fatalf("%s\nfrom %s\nover %v: cell %d is %s, and from the earlier release %s\n%v", second, first, g.Keys, i, want[i], sum, rows)
				}
			}
		}
	})
	t.Log(seen)
	for _, kind := range []string{"the same cells", "fewer keys", "picked", "coarser", "of one row each"} {
		if seen[kind] < 5 {
			t.Errorf("%d with %s: the test shows little", seen[kind], kind)
		}
	}
}

// The keys of a question choose which rows of a person count in a relation, so groups do not add up to another question's sum.
func TestKeysChooseRowsOfRelations(t *testing.T) {
	p := policyOf(t, enginetest.RelationPolicy("add-remove", false))
	tables := enginetest.Tables{"r": {{"rk": value.OfInt(5), "rs": value.OfText("a"), "ri": value.OfInt(1), "rx": value.OfReal(1)}}}
	for i := range int64(9) {
		s := value.OfText([]string{"a", "B", ""}[i%3])
		tables["p"] = append(tables["p"], enginetest.Row{"person": value.OfInt(1), "id": value.OfInt(i), "i": value.OfInt(i), "k": value.OfInt(5), "s": s})
	}
	const from = " FROM p a JOIN r b ON a.k = b.rk"
	sum := new(big.Int)
	grouped, whole := builtOn(t, p, "SELECT SUM(a.i)"+from+" GROUP BY a.s"), builtOn(t, p, "SELECT SUM(a.i)"+from)
	for _, x := range overTables(&grouped.Statement, grouped.Groupings()[0], 0, tables) {
		sum.Add(sum, x)
	}
	if total := overTables(&whole.Statement, whole.Groupings()[0], 0, tables)[0]; sum.Cmp(total) == 0 {
		t.Errorf("both sums are %s: the refusal could be lifted", total)
	}
}

// Each pair differs in the relation, or in the rows of a person that count.
func TestRelationsDoNotFollow(t *testing.T) {
	p := policyOf(t, enginetest.RelationPolicy("add-remove", false))
	for _, c := range [][2]string{
		{"SELECT a.k, COUNT(*) FROM t a JOIN r b ON a.k = b.rk GROUP BY a.k", "SELECT COUNT(*) FROM t"},                                            // rows without a partner
		{"SELECT k, COUNT(*) FROM t GROUP BY k", "SELECT COUNT(*) FROM t a JOIN r b ON a.k = b.rk"},                                                // likewise
		{"SELECT a.k, COUNT(*) FROM t a JOIN r b ON a.k = b.rk GROUP BY a.k", "SELECT COUNT(*) FROM t a LEFT JOIN r b ON a.k = b.rk"},              // likewise
		{"SELECT a.k, COUNT(*) FROM t a JOIN r b ON a.s = b.rs GROUP BY a.k", "SELECT a.k, COUNT(*) FROM t a JOIN r b ON a.k = b.rk GROUP BY a.k"}, // joins multiply rows
		{"SELECT a.s, COUNT(*) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s", "SELECT COUNT(*) FROM p a JOIN r b ON a.k = b.rk"},                   // other rows of a person
		{"SELECT a.s, COUNT(*) FROM p a JOIN v b ON a.person = b.who GROUP BY a.s", "SELECT COUNT(*) FROM p a JOIN v b ON a.person = b.who"},       // likewise
	} {
		earlier, asked := builtOn(t, p, c[0]), builtOn(t, p, c[1])
		if f, ok := reuse.NewReader(asked).Follow(asked.Measures[0], asked.Groupings()[0], earlier); ok {
			t.Errorf("%s follows from %s: %+v", c[1], c[0], f)
		}
	}
}
