package plan_test

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
	"dither/internal/value"
	"dither/privacy"
)

// The replay audit: from random tables of hostile rows a random unit is removed, or changed for another, and a random question of any kind is asked
// of both. What it looks at moves by what is planned, at most: sums, in L1 and L2, over every grouping; rows in order; scores; groups that there are. Every
// construct of docs/reference/sql.md is asked of pairs that move; and in whichever way units are bounded under either relation, some pair attains what is
// planned for a measure of each kind, so that anything less would not pass, or at least more than half of it. 1,500 questions are asked, and more
// until every construct is seen; with DITHER_LONG=1 50,000, until all of it is attained.
func TestReplayAudit(t *testing.T) {
	asked, each, reach := 1_500, 2, big.NewRat(501, 1000)
	if os.Getenv("DITHER_LONG") != "" {
		asked, each, reach = 50_000, 60, big.NewRat(1, 1)
	}
	worlds, err := enginetest.Worlds()
	if err != nil {
		t.Fatal(err)
	}
	for i := range worlds {
		worlds[i].Inexact = true
	}
	a := audit{refused: map[string]string{}, asked: enginetest.Met{}, moved: enginetest.Met{}, reached: map[string]*big.Rat{}}
	for lacks := []string(nil); (a.questions < asked || a.questions < 8*asked && len(lacks) > 0) && !t.Failed(); lacks = a.lacking(each, reach) {
		stattest.Cases(t, max(500, min(asked-a.questions, 2_000)))
		rapid.Check(t, func(t *rapid.T) { a.ask(t, rapid.SampledFrom(worlds).Draw(t, "world"), lacks) })
	}
	t.Logf("%d questions of %d that were drawn, of which %d moved", a.questions, a.drawn, a.pairs)
	if a.questions*2 < a.drawn || a.pairs*3 < a.questions {
		t.Error("the audit shows little")
		for e, sql := range a.refused {
			t.Log(e, "\n   ", sql)
		}
	}
	for _, c := range enginetest.Constructs {
		t.Logf("%-36s asked %5d, moved %5d", c.Name, a.asked[c.Name], a.moved[c.Name])
	}
	for _, name := range a.lacking(each, reach) {
		t.Errorf("%s: of %d questions %d moved, by %v of what is planned", name, a.asked[name], a.moved[name], a.reached[name])
	}
}

// attainable are kinds of measures, ways in which units are bounded, and norms.
func attainable() (out []string) {
	for _, kind := range []bounded.Kind{bounded.CountRows, bounded.CountValue, bounded.CountUnits, bounded.CountUnitsWith, bounded.CountDistinct, bounded.Sum, bounded.SumDistinct} {
		for _, neighbours := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
			for _, by := range []string{"one row", "rows", "groups"} {
				if (kind == bounded.CountUnits || kind == bounded.CountUnitsWith) && by == "one row" || (kind == bounded.CountDistinct || kind == bounded.SumDistinct) && by == "groups" {
					continue // there is none
				}
				out = append(out, reachOf(kind, neighbours, by, "L1"), reachOf(kind, neighbours, by, "squared L2"))
			}
		}
	}
	return out
}

func reachOf(kind bounded.Kind, neighbours privacy.Neighbours, by, norm string) string {
	return fmt.Sprintf("%s of %s by %s, %s", norm, kind, by, neighbours)
}

// audit is what was asked.
type audit struct {
	drawn, questions, pairs int
	refused                 map[string]string
	asked, moved            enginetest.Met
	reached                 map[string]*big.Rat // of attainable, the greatest share of a planned sensitivity
}

// few is an expression of few values, most of them large: a unit that has a row of each moves distinct sums by the most.
const few = "CASE WHEN i > 6 THEN 9 WHEN i > 4 THEN 8 WHEN i > 2 THEN 7 ELSE 0 END"

// plain are aggregates of which some pairs soon attain what is planned, by kind of measure.
var plain = map[bounded.Kind]string{
	bounded.CountRows: "COUNT(*)", bounded.CountValue: "COUNT(i)", bounded.CountUnits: "COUNT(DISTINCT person)",
	bounded.CountUnitsWith: "COUNT(DISTINCT person) FILTER (WHERE i > 0)", bounded.CountDistinct: "COUNT(DISTINCT i)",
	bounded.Sum: "SUM(i)", bounded.SumDistinct: "SUM(DISTINCT " + few + ")",
}

// seldom are questions of constructs that random questions seldom have.
var seldom = map[string]string{
	"regular expressions": "SELECT COUNT(*) FROM p WHERE s ~ '^[ab]'", "SIMILAR TO": "SELECT COUNT(*) FROM p WHERE s SIMILAR TO '_|it%'",
	"EXP": "SELECT SUM(EXP(i)) FROM p",
}

// texts are functions of texts, which random questions seldom have.
var texts = map[string]string{
	"LOWER": "LOWER(s)", "UPPER": "UPPER(s)", "INITCAP": "INITCAP(s)", "TRIM": "TRIM(s)", "REVERSE": "REVERSE(s)",
	"LEFT": "LEFT(s, 1)", "SUBSTRING": "SUBSTRING(s, 2)", "RPAD": "RPAD(s, 3, '*')", "SPLIT_PART": "SPLIT_PART(s, '''', 1)",
	"REPLACE": "REPLACE(s, 'a', '')", "TRANSLATE": "TRANSLATE(s, 'aB', 'Ba')",
	"REGEXP_REPLACE": "REGEXP_REPLACE(s, '[a-z]', '+')", "CONCAT": "CONCAT(s, 'x')", "CONCAT_WS": "CONCAT_WS('/', s, 'x')",
	"LENGTH": "LENGTH(s)", "STARTS_WITH": "STARTS_WITH(s, 'a')",
}

// aimed makes, in half of the cases, a question of a construct that the audit lacks so far, or one that may attain a
// sensitivity; otherwise any question.
func aimed(t *rapid.T, w enginetest.World, lacks []string) (request plan.Request, table string, ofRows bool) {
	var of []string
	for _, name := range lacks {
		if sql := seldom[name]; sql != "" {
			of = append(of, sql)
		}
		if text := texts[name]; text != "" {
			of = append(of, "SELECT "+text+", COUNT(*) FROM p GROUP BY 1")
		}
		for kind, aggregate := range plain {
			if strings.Contains(name, fmt.Sprintf(" of %s by ", kind)) {
				of = append(of, "SELECT "+aggregate+" FROM p", "SELECT "+aggregate+" FROM t", "SELECT k, "+aggregate+" FROM t GROUP BY k")
			}
		}
	}
	if slices.Sort(of); len(of) == 0 || w.Relation || rapid.Bool().Draw(t, "any") {
		return w.Anything(t)
	}
	sql := rapid.SampledFrom(of).Draw(t, "aimed")
	ofRows = strings.Contains(sql, " FROM t")
	if table = "p"; ofRows {
		table = "t"
	}
	return plan.Request{SQL: sql}, table, ofRows
}

func (a *audit) ask(t *rapid.T, w enginetest.World, lacks []string) {
	a.drawn++
	request, table, ofRows := aimed(t, w, lacks)
	q, err := plan.Build(w.Policy, request)
	if err != nil {
		a.refused[err.Error()] = request.SQL
		return
	}
	m := meeting{q: q, sql: request.SQL}
	moved := false
	for try := 0; try < 3 && !moved; try++ {
		m.before, m.after = neighbours(t, w, table, ofRows)
		if q.Unit != nil && len(lacks) > 0 && rapid.Bool().Draw(t, "opposed") {
			high := rapid.SampledFrom([][]int64{{math.MaxInt32}, {7, 5, 3}}).Draw(t, "high")
			opposed(m.before[table], m.after[table], q.Unit.Name, high)
		}
		if q.Source == nil && q.Unit != nil { // of one table, whose rows are ranked when they are sealed
			for _, of := range []enginetest.Tables{m.before, m.after} {
				of[q.Table] = enginetest.Ranked(clones(of[q.Table]), q.Unit.Name)
			}
		}
		moved = len(m.check(t)) > 0
		a.reach(m)
	}
	a.questions++
	if moved {
		a.pairs++
	}
	if a.asked.Add(q, request.SQL); moved {
		a.moved.Add(q, request.SQL)
	}
}

// opposed gives the unit that is before alone high integers, in turn, and the one that is after alone the lowest: drawn at
// random, they seldom move a sum by the most. 7, 5 and 3 are different values of [few].
func opposed(before, after []enginetest.Row, unit string, high []int64) {
	only := func(rows, others []enginetest.Row, values ...int64) {
		next := 0
		for _, r := range rows {
			is := func(o enginetest.Row) bool { return o[unit] == r[unit] }
			if _, has := r["i"]; has && !r[unit].Null && !slices.ContainsFunc(others, is) {
				r["i"] = value.OfInt(values[next%len(values)])
				next++
			}
		}
	}
	only(before, after, high...)
	only(after, before, math.MinInt32)
}

// neighbours draws tables, and the same without a unit or with another in its place.
func neighbours(t *rapid.T, w enginetest.World, table string, ofRows bool) (before, after enginetest.Tables) {
	if w.Relation {
		before = enginetest.RelationRows(t, w.Policy, 9)
		return before, enginetest.RelationNeighbour(t, w.Policy, before, ofRows, w.Change)
	}
	rows := enginetest.Rows(t, w.Policy.Table(table), 14)
	return enginetest.Tables{table: rows}, enginetest.Tables{table: neighbour(t, w.Policy.Table(table), rows, w.Change)}
}

// lacking are the constructs of which fewer than n questions moved, and the sensitivities of which less than a share was reached.
func (a *audit) lacking(n int, reach *big.Rat) (out []string) {
	for _, c := range enginetest.Constructs {
		if a.moved[c.Name] < n {
			out = append(out, c.Name)
		}
	}
	for _, name := range attainable() {
		if share := a.reached[name]; share == nil || share.Cmp(reach) < 0 {
			out = append(out, name)
		}
	}
	return out
}

// reach notes how much of what is planned a pair attains.
func (a *audit) reach(m meeting) {
	q := m.q
	if q.Open() || len(q.Searches) > 0 || len(q.Measures) == 0 {
		return
	}
	bounded := "rows"
	switch {
	case q.Unit == nil:
		bounded = "one row"
	case q.Caps.Rows == 0:
		bounded = "groups"
	}
	for _, g := range q.Groupings() {
		l1, l2squared, err := m.twins(nil).Over(&q.Statement, g.Keys)
		if err != nil {
			return
		}
		for i, of := range g.Measures {
			for norm, d := range map[string][2]*big.Int{"L1": {l1[i], of.L1}, "squared L2": {l2squared[i], of.L2Squared}} {
				name, share := reachOf(of.Kind, q.Neighbours, bounded, norm), new(big.Rat).SetFrac(d[0], d[1])
				if a.reached[name] == nil || a.reached[name].Cmp(share) < 0 {
					a.reached[name] = share
				}
			}
		}
	}
}
