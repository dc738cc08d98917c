package curator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

// rankedHome returns a session of a home with the table v. At ε = 25 a number has noise with a probability of 3e-11.
func rankedHome(t *testing.T, csv, described string) *curator.Session {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c, _ := testhome.Sealed(t, `
version: 1
population: {name: p}
budget: {epsilon: 1000}
price: {default: 25, maximum: 100}
tables:
`+described, "v", map[string]string{"v.csv": csv})
	return c
}

// A condition on a ranking means the same as one on a list of its values, also for rows with keys that are not declared, and
// for NaN beside the ranking.
func TestRankingsMeanTheirValues(t *testing.T) {
	c := rankedHome(t, "id,k,x,b\n1,a,5,true\n2,b,2,false\n3,zz,7,\n4,a,NaN,true\n5,a,1,false\n6,b,NaN,\n7,zz,1,true\n", `
  v:
    source: {csv: v.csv}
    unit: row
    columns:
      id: {type: integer, bounds: [0, 9]}
      k: {type: text, values: [a, b]}
      x: {type: real, bounds: [0, 10]}
      b: {type: boolean, nullable: true}
`)
	for _, sql := range []string{
		"SELECT CASE WHEN k IN %s THEN k ELSE 'others' END AS g, COUNT(*) FROM v GROUP BY 1",
		"SELECT CASE WHEN x > 4 THEN 'x' WHEN k IN %s THEN 'top' ELSE 'rest' END AS g, COUNT(x) FROM v GROUP BY 1",
		"SELECT COUNT(*) FROM v WHERE k IN %s",
		"SELECT COUNT(*) FROM v WHERE k NOT IN %s",
		"SELECT COUNT(*) FROM v WHERE k IN %s OR id > 2",
		"SELECT COUNT(*) FROM v WHERE k IN %s OR x > 4",
		"SELECT COUNT(*) FROM v WHERE (k IN %s) IS NOT TRUE",
		"SELECT COUNT(*) FROM v WHERE k IN %s OR FLOOR(x) = 1",
		"SELECT COUNT(*) FROM v WHERE COALESCE(k, 'a') IN %s",
		"SELECT COUNT(*) FROM v WHERE k IS NOT NULL AND (k IN %s OR x > 4)",
		"SELECT COUNT(*) FROM v WHERE CASE WHEN b THEN 'a' ELSE k END IN %s",
		"SELECT b, COUNT(*) FROM v WHERE k IN %s OR x > 4 GROUP BY b",
		"SELECT k, COUNT(*) FROM v WHERE k IN %s OR x > 4 GROUP BY k",
		"SELECT k, COUNT(*) FROM v WHERE k NOT IN %s GROUP BY k",
	} {
		want := rowsOf(t, c, strings.ReplaceAll(sql, "%s", "('a')"), false)
		got := rowsOf(t, c, strings.ReplaceAll(sql, "%s", "(SELECT k FROM v GROUP BY k ORDER BY COUNT(*) DESC LIMIT 1)"), false)
		want = slices.DeleteFunc(want, func(row string) bool { return strings.HasSuffix(row, " 0") }) // groups without rows
		got = slices.DeleteFunc(got, func(row string) bool { return strings.HasSuffix(row, " 0") })
		if !slices.Equal(got, want) {
			t.Errorf("%s\nwith a list    %v\nwith a ranking %v", sql, want, got)
		}
	}
	const divided = "SELECT k IN (SELECT k FROM v GROUP BY k ORDER BY COUNT(*) DESC LIMIT 1) AS g, COUNT(*) FROM v GROUP BY 1"
	if got := rowsOf(t, c, divided, false); !slices.Equal(got, []string{"NULL 2", "false 2", "true 3"}) {
		t.Errorf("%v by a condition alone: rows without a declared key are a group", got)
	}
	const others = "SELECT COUNT(*) FROM v LEFT JOIN (SELECT k AS kk, COUNT(*) FROM v GROUP BY k ORDER BY 2 DESC LIMIT 1) l ON k = kk WHERE kk IS NULL"
	if got := rowsOf(t, c, others, false); !slices.Equal(got, []string{"4"}) {
		t.Errorf("%v rows without a match, want 4", got)
	}
}

// rowsOf returns the rows of an answer as sorted texts.
func rowsOf(t *testing.T, c *curator.Session, sql string, noted bool) (out []string) {
	t.Helper()
	r, err := c.Answer(t.Context(), curator.Question{SQL: sql})
	if err != nil {
		t.Fatal(sql, err)
	}
	for _, row := range r.Rows {
		var cells []string
		for _, cell := range row {
			switch {
			case cell.Estimate == nil:
				cells = append(cells, fmt.Sprint(cell.Key))
			case cell.Estimate.Value == nil:
				cells = append(cells, "NULL")
			case cell.Estimate.Value.Text != nil:
				cells = append(cells, *cell.Estimate.Value.Text)
			default:
				cells = append(cells, fmt.Sprint(cell.Estimate.Value.Real))
			}
		}
		out = append(out, strings.Join(cells, " "))
	}
	if has := strings.Contains(strings.Join(r.Notes, "\n"), "hold before the conditions on a ranking"); has != noted {
		t.Errorf("%s\nhas the notes %q", sql, r.Notes)
	}
	slices.Sort(out)
	return out
}

// Rows of small groups would be missing if a ranking divided the groups of unknown keys. Such a question is refused, free.
func TestRankingsOfUnknownKeys(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c, _ := testhome.Sealed(t, `
version: 1
population: {name: p}
budget: {rho: 1000, delta: 0.001, selection_delta: 0.0001}
price: {default: {rho: 50}, maximum: {rho: 200}}
tables:
  u: {source: {csv: u.csv}, unit: row, columns: {id: {type: integer, bounds: [0, 999]}, k: {type: text}, x: {type: integer, bounds: [0, 9]}}}
`, "u", map[string]string{"u.csv": "id,k,x\n" + strings.Repeat("1,big,2\n", 300) + strings.Repeat("2,mid,3\n", 200) + "3,one,4\n4,two,5\n"})
	const top = "(SELECT k FROM u GROUP BY k ORDER BY COUNT(*) DESC LIMIT 1)"
	for _, sql := range []string{
		"SELECT COUNT(*) FROM u WHERE k NOT IN " + top, "SELECT COUNT(*) FROM u WHERE k IN " + top + " OR x > 4",
		"SELECT CASE WHEN k IN " + top + " THEN k ELSE 'others' END AS g, COUNT(*) FROM u GROUP BY 1",
		"SELECT x, COUNT(*) FROM u WHERE k IN " + top + " GROUP BY x",
	} {
		_, err := c.Answer(t.Context(), curator.Question{SQL: sql})
		if err == nil || !strings.Contains(err.Error(), "rows of small groups would be missing") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if b, err := c.Budget(); err != nil || b.Answers != 0 {
		t.Errorf("%+v, %v: a refusal was charged", b, err)
	}
	hinted := "SELECT SUM(n) FROM (SELECT k, COUNT(*) AS n FROM u GROUP BY k) q WHERE k NOT IN " + top
	if got := rowsOf(t, c, hinted, false); !slices.Equal(got, []string{"200"}) {
		t.Errorf("%v rows in the released groups, want 200", got)
	}
	limited := "SELECT k, COUNT(*) FROM u WHERE k IN (SELECT k FROM u WHERE id < 3 GROUP BY k ORDER BY COUNT(*) DESC LIMIT 1) GROUP BY k"
	if got := rowsOf(t, c, limited, false); !slices.Equal(got, []string{"big 300"}) {
		t.Errorf("%v", got)
	}
}

// The bounds on a unit hold before a condition on a ranking, and the answer and the explanation say so.
func TestBoundsBeforeRankings(t *testing.T) {
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,a\n%d,b\n%d,c\n", i, i, i)
		if i%10 == 0 {
			fmt.Fprintf(&rows, "%d,a\n", i)
		}
	}
	c := rankedHome(t, "pid,k\n"+rows.String(), `
  v: {source: {csv: v.csv}, unit: pid, rows_per_unit: 1, columns: {pid: {type: integer}, k: {type: text, values: [a, b, c]}}}
`)
	if got := rowsOf(t, c, "SELECT k, COUNT(*) FROM v WHERE k IN ('a') GROUP BY k", false); !slices.Equal(got, []string{"a 60"}) {
		t.Errorf("%v with a list", got)
	}
	const top = "(SELECT k FROM v GROUP BY k ORDER BY COUNT(DISTINCT pid) DESC, k LIMIT 3)"
	for _, sql := range []string{
		"SELECT k, COUNT(*) FROM v WHERE k IN " + top + " GROUP BY k", "SELECT COUNT(*) FROM v WHERE k IN " + top,
		"SELECT k, COUNT(*) FROM v JOIN (SELECT k AS kk, COUNT(DISTINCT pid) FROM v GROUP BY k ORDER BY 2 DESC LIMIT 2) l ON k = kk GROUP BY k",
	} {
		rowsOf(t, c, sql, true)
		e, err := c.Explain(t.Context(), curator.Question{SQL: sql})
		if err != nil || !strings.Contains(strings.Join(e.Notes, "\n"), "The bounds on one pid hold before the conditions on a ranking") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A bound on what a unit adds to each group lets it add more to several groups than to one answer without groups. So a count
// may be higher than with a list, and the note does not say that it is lower.
func TestBoundsPerGroupBeforeRankings(t *testing.T) {
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,a\n%d,b\n%d,c\n", i, i, i)
	}
	c := rankedHome(t, "pid,k\n"+rows.String(), `
  v: {source: {csv: v.csv}, unit: pid, rows_per_unit: 3, max_groups: 3, max_rows_per_group: 1, columns: {pid: {type: integer}, k: {type: text, values: [a, b, c]}}}
`)
	if got := rowsOf(t, c, "SELECT COUNT(*) FROM v WHERE k IN ('a', 'b')", false); !slices.Equal(got, []string{"60"}) {
		t.Errorf("%v with a list", got)
	}
	sql := "SELECT COUNT(*) FROM v WHERE k IN (SELECT k FROM v GROUP BY k ORDER BY COUNT(DISTINCT pid) DESC LIMIT 2)"
	if got := rowsOf(t, c, sql, true); !slices.Equal(got, []string{"120"}) {
		t.Errorf("%v with a ranking", got)
	}
	e, err := c.Explain(t.Context(), curator.Question{SQL: sql})
	if err != nil || !strings.Contains(strings.Join(e.Notes, "\n"), "may differ from those with a list") {
		t.Errorf("%+v, %v", e, err)
	}
}
