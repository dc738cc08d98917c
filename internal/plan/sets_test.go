package plan_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
)

func policyOf(t *testing.T, text []byte) *policy.Policy {
	t.Helper()
	p, err := policy.Decode(text, ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func builtOn(t *testing.T, p *policy.Policy, sql string) *plan.Plan {
	t.Helper()
	q, err := plan.Build(p, plan.Request{SQL: sql})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return q
}

// What ROLLUP, CUBE and GROUPING SETS stand for, as in PostgreSQL; keys by the letters k, s, b, in the order of the answer.
func TestSetsAreWrittenOut(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	for groupBy, want := range map[string]string{
		"ROLLUP (s, k)":                                 "sk s -",
		"ROLLUP (s, k, b)":                              "skb sk s -",
		"ROLLUP ((s, k), b)":                            "skb sk -",
		"CUBE (s, k)":                                   "sk s k -",
		"CUBE (s, (k, b))":                              "skb s kb -",
		"GROUPING SETS (s, k)":                          "s k",
		"GROUPING SETS ((s, k), (s), ())":               "sk s -",
		"GROUPING SETS (s, s)":                          "s s",
		"s, ROLLUP (k, b)":                              "skb sk s",
		"ROLLUP (s), ROLLUP (k)":                        "sk s k -",
		"GROUPING SETS (ROLLUP (s, k), CUBE (b))":       "sk s - b -",
		"GROUPING SETS ((s, k), GROUPING SETS (b, ()))": "sk b -",
		"(s, k), ()":                                    "sk",
		"()":                                            "-",
		"ROLLUP (s), ROLLUP (i, i % 3), CUBE (i % 3, i)": "s s s s s s s s s s s s - - - - - - - - - - - -",
		"ROLLUP (s, k, s)": "sk sk s -",
		"ROLLUP (1, k)":    "sk s -",
	} {
		items := "s AS one, COUNT(*)"
		if groupBy == "()" {
			items = "COUNT(*)"
		}
		q := builtOn(t, p, "SELECT "+items+" FROM t GROUP BY "+groupBy)
		letter := func(g plan.Grouping) string {
			out := ""
			for _, name := range []string{"s", "k", "b"} {
				if slices.ContainsFunc(g.Keys, func(i int) bool { return q.Keys[i].Expr.Name == name }) {
					out += name
				}
			}
			return max(out, "-")
		}
		var got []string
		if q.Sets == nil {
			got = append(got, letter(q.Groupings()[0]))
		}
		for _, i := range q.Shown {
			got = append(got, letter(q.Sets[i]))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", groupBy, s, want)
		}
	}
}

// The order of sets and of keys, repeats, aliases, HAVING and GROUPING are outside the replay key; which sets there are is in it, and a
// grouping set alone is a plain GROUP BY.
func TestSetsReplay(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	key := func(sql string) string { return builtOn(t, p, sql).Key(1) }
	rollup := key("SELECT s, k, COUNT(*) FROM t GROUP BY ROLLUP (s, k)")
	for _, same := range []string{
		"SELECT k, s, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((), (k, s), s)",
		"SELECT GROUPING(s, k), COUNT(*) FROM t GROUP BY GROUPING SETS (ROLLUP (s, k), s) HAVING GROUPING(k) = 1 AND COUNT(*) > 3",
	} {
		if key(same) != rollup {
			t.Errorf("%s is another release", same)
		}
	}
	for _, other := range []string{
		"SELECT s, k, COUNT(*) FROM t GROUP BY ROLLUP (k, s)", "SELECT s, k, COUNT(*) FROM t GROUP BY CUBE (k, s)",
		"SELECT s, k, COUNT(*) FROM t GROUP BY s, k", "SELECT s, k, COUNT(*) FROM t GROUP BY GROUPING SETS ((s, k), ())",
	} {
		if key(other) == rollup {
			t.Errorf("%s is the same release", other)
		}
	}
	if key("SELECT s, k, COUNT(*) FROM t GROUP BY GROUPING SETS ((k, s))") != key("SELECT s, k, COUNT(*) FROM t GROUP BY s, k") {
		t.Error("one set is not GROUP BY")
	}
	if key("SELECT COUNT(*) FROM t GROUP BY ()") != key("SELECT COUNT(*) FROM t") {
		t.Error("no key is not the total")
	}
}

// The price is divided without rest: the vectors' losses add up to it.
func TestSetsCostThePrice(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	for _, groupBy := range []string{"ROLLUP (s, k)", "CUBE (s, k, b)", "GROUPING SETS (s, k)"} {
		q := builtOn(t, p, "SELECT COUNT(*), AVG(x), SUM(i) FROM t GROUP BY "+groupBy)
		paid := q.Price.Minus(q.Price)
		for _, m := range q.Vectors() {
			paid = paid.Plus(m.Loss)
		}
		if !paid.Within(q.Price) || !q.Price.Within(paid) {
			t.Errorf("%s costs %s of %s", groupBy, paid, q.Price)
		}
		if len(q.Vectors()) != len(q.Sets)*len(q.Measures) {
			t.Errorf("%s: %d vectors", groupBy, len(q.Vectors()))
		}
	}
}

// Where units are bounded by groups, the sensitivities of coarser tables are those of the worst contribution there is: found here by trying
// all of them, for a few caps.
func TestSetsSensitivityIsAttained(t *testing.T) {
	for _, c := range []struct{ groups, parts, coarse int }{{2, 3, 2}, {3, 2, 2}, {4, 3, 2}, {3, 4, 1}, {5, 2, 3}} {
		worst := 0
		cells := make([]int, c.coarse*c.parts)
		var try func(i, left int)
		try = func(i, left int) {
			if i == len(cells) {
				sum := 0
				for k := range c.coarse {
					x := 0
					for _, v := range cells[k*c.parts : (k+1)*c.parts] {
						x += v
					}
					sum += x * x
				}
				worst = max(worst, sum)
				return
			}
			for v := -2; v <= 2; v++ { // G = 2: rows per group 2, counts; signs as of a sum
				if v != 0 && left == 0 {
					continue
				}
				cells[i] = v
				used := 0
				if v != 0 {
					used = 1
				}
				try(i+1, left-used)
			}
			cells[i] = 0
		}
		try(0, c.groups)
		text := strings.NewReplacer("max_groups: 2", fmt.Sprintf("max_groups: %d", c.groups), "rows_per_unit: 3", "rows_per_unit: 1000").
			Replace(strings.Replace(string(enginetest.PolicyText("add-remove")), "max_rows_per_group: 3", "max_rows_per_group: 2", 1))
		list := func(n int, of string) string {
			out := "CASE"
			for v := 1; v < n; v++ {
				out += fmt.Sprintf(" WHEN %s = %d THEN %d", of, v, v)
			}
			if n == 1 {
				return "CASE WHEN " + of + " = 1 THEN 0 ELSE 0 END"
			}
			return out + " ELSE 0 END"
		}
		q := builtOn(t, policyOf(t, []byte(text)), fmt.Sprintf("SELECT COUNT(*) FROM p GROUP BY ROLLUP (%s, %s)", list(c.coarse, "i"), list(c.parts, "j")))
		for _, g := range q.Sets {
			if len(g.Keys) == 1 && g.Cells(&q.Statement) == c.coarse && g.Parts(&q.Statement) == int64(c.parts) && q.Caps.Rows == 0 {
				if got := g.Measures[0].L2Squared; got.Cmp(big.NewInt(int64(worst))) != 0 {
					t.Errorf("%+v: squared L2 %s, attained %d", c, got, worst)
				}
				worst = -1
			}
		}
		if worst >= 0 {
			t.Errorf("%+v: no such grouping: %v, caps %+v", c, q.Sets, q.Caps)
		}
	}
}

func TestSetsRefused(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM t GROUP BY CUBE (s, k, b, i, i + 1, i + 2, i + 3)":                 "1:33: these are more than 64 grouping sets",
		"SELECT COUNT(*) FROM t GROUP BY CUBE (s, k, b), CUBE (i, i + 1), ROLLUP (i + 2, i + 3)": "more than 64 grouping sets",
		"SELECT COUNT(*) FROM t GROUP BY ROLLUP (w)":                                             "1:41: the possible values of this GROUP BY expression are not known",
		"SELECT s, GROUPING(k), COUNT(*) FROM t GROUP BY ROLLUP (s)":                             "1:20: GROUPING takes GROUP BY expressions, and this is not one",
		"SELECT GROUPING(s) FROM t GROUP BY ROLLUP (s)":                                          "the question has no aggregate",
		"SELECT COUNT(*) FROM t GROUP BY ROLLUP (CUBE (s))":                                      "there is no function",
		"SELECT COUNT(*) FROM t WHERE GROUPING(s) = 1 GROUP BY ROLLUP (s)":                       "there is no function",
	} {
		_, err := plan.Build(p, plan.Request{SQL: sql})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	if _, err := plan.BuildScores(p, plan.Request{SQL: "SELECT s, COUNT(*) FROM t GROUP BY ROLLUP (s)"}); err == nil || !strings.Contains(err.Error(), "1:36: this kind of question takes no ROLLUP") {
		t.Errorf("scores: %v", err)
	}
}
