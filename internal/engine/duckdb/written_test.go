package duckdb

import (
	"database/sql"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// TestWrittenQuestionsMeanSQL: a question that is planned in another form than it is written in counts the rows that the
// written question counts. DuckDB runs the text of random questions on the plain tables, and the reference engine runs
// their plans, on random rows with NULLs. No unit has more rows than the policy allows, so no bound cuts anything off.
func TestWrittenQuestionsMeanSQL(t *testing.T) {
	stattest.Cases(t, 600)
	p, err := policy.Decode([]byte(enginetest.WrittenPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	asked, planned, counted := map[string]int{}, map[string]int{}, map[string]int{}
	refused := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		form, text := enginetest.Written(t)
		asked[form]++
		q, err := plan.Build(p, plan.Request{SQL: text})
		if err != nil {
			refused[form+": "+err.Error()] = text
			return
		}
		planned[form]++
		rows := enginetest.WrittenRows(t, p)
		want := plainly(t, db, p, rows, text)
		got := int64(0)
		enginetest.SumOf(&q.Statement, rows, func(_ []value.Value, sums []*big.Int) { got += sums[0].Int64() })
		if got != want {
			t.Fatalf("%s\nplanned as %s\ncounts %d, and DuckDB %d\n%v", text, q.Source, got, want, rows)
		}
		if want > 0 {
			counted[form]++
		}
	})
	for form, n := range asked {
		t.Logf("%s: %d asked, %d planned, %d with rows", form, n, planned[form], counted[form])
		if planned[form]*3 < n || counted[form] == 0 {
			t.Errorf("%s: the test shows little", form)
		}
	}
	for e, text := range refused {
		t.Log(e, "\n   ", text)
	}
}

// plainly returns the number that DuckDB returns for a question over plain tables with these rows.
func plainly(t *rapid.T, db *sql.DB, p *policy.Policy, rows enginetest.Tables, text string) (n int64) {
	var script strings.Builder
	for _, table := range p.Tables {
		fmt.Fprintf(&script, "CREATE OR REPLACE TEMP TABLE %s (", table.Name)
		for i, c := range table.Columns {
			if i > 0 {
				script.WriteString(", ")
			}
			fmt.Fprintf(&script, "%s %s", c.Name, map[value.Type]string{
				value.Integer: "BIGINT", value.Text: "VARCHAR", value.Date: "DATE", value.Boolean: "BOOLEAN", value.Real: "DOUBLE",
			}[c.Type])
		}
		script.WriteString(");")
		for _, r := range rows[table.Name] {
			fmt.Fprintf(&script, "INSERT INTO %s VALUES (", table.Name)
			for i, c := range table.Columns {
				if i > 0 {
					script.WriteString(", ")
				}
				v, ok := r[c.Name]
				if !ok || v.Null {
					script.WriteString("NULL")
				} else {
					script.WriteString("'" + strings.ReplaceAll(v.String(), "'", "''") + "'")
				}
			}
			script.WriteString(");")
		}
	}
	if _, err := db.Exec(script.String()); err != nil {
		t.Fatalf("%s: %v", script.String(), err)
	}
	if err := db.QueryRow(text).Scan(&n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}
