package postgres

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/engine/postgres/pgtest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

// TestWrittenQuestionsMeanSQL: a question that is planned in another form than it is written in counts the rows that the
// written question counts. PostgreSQL runs the text of random questions on the plain tables, and the reference engine runs
// their plans, on random rows with NULLs. No unit has more rows than the policy allows, so no bound cuts anything off.
func TestWrittenQuestionsMeanSQL(t *testing.T) {
	stattest.Cases(t, 600)
	p, err := policy.Decode([]byte(enginetest.WrittenPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	db, err := pgconn.Connect(t.Context(), pgtest.Start(t).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	asked, planned, counted := map[string]int{}, map[string]int{}, map[string]int{}
	refused := map[string]string{}
	ask := func(t *rapid.T) {
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
			t.Fatalf("%s\nplanned as %s\ncounts %d, and PostgreSQL %d\n%v", text, q.Source, got, want, rows)
		}
		if want > 0 {
			counted[form]++
		}
	}
	little := func(form string) bool { return planned[form]*3 < asked[form] || counted[form] == 0 }
	for round := 0; round == 0 || round < 8 && slices.ContainsFunc(slices.Collect(maps.Keys(asked)), little); round++ {
		rapid.Check(t, ask) // some forms are rare: draw on until all have shown something
	}
	for form, n := range asked {
		t.Logf("%s: %d asked, %d planned, %d with rows", form, n, planned[form], counted[form])
		if little(form) {
			t.Errorf("%s: the test shows little", form)
		}
	}
	for e, text := range refused {
		t.Log(e, "\n   ", text)
	}
}

// plainly returns the number that PostgreSQL returns for a question over plain tables with these rows.
func plainly(t *rapid.T, db *pgconn.PgConn, p *policy.Policy, rows enginetest.Tables, text string) (n int64) {
	var script strings.Builder
	for _, table := range p.Tables {
		fmt.Fprintf(&script, "DROP TABLE IF EXISTS %[1]s; CREATE TEMP TABLE %[1]s (", table.Name)
		for i, c := range table.Columns {
			if i > 0 {
				script.WriteString(", ")
			}
			fmt.Fprintf(&script, "%s %s", c.Name, map[value.Type]string{
				value.Integer: "BIGINT", value.Text: `TEXT COLLATE "C"`, value.Date: "DATE", value.Boolean: "BOOLEAN", value.Real: "DOUBLE PRECISION",
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
	script.WriteString(text)
	results, err := db.Exec(context.Background(), script.String()).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", script.String(), err)
	}
	if n, err = strconv.ParseInt(string(results[len(results)-1].Rows[0][0]), 10, 64); err != nil {
		t.Fatal(err)
	}
	return n
}
