package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

func (b *bench) look(t *testing.T, table string) seal.Found {
	t.Helper()
	declared := *b.policy.Table(table)
	declared.Source = source(table)
	f, err := Sealer{}.Look(context.Background(), &declared)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is found of a table with values of every sort.
func TestLook(t *testing.T) {
	b := newKinds(t, serverTypes)
	b.exec(t, `INSERT INTO k(small, single, exact, code, name, domain, day) VALUES
	 (1, 'NaN', 'NaN', 'a', 'a', 5, '2000-01-01'), (NULL, 'Infinity', 1e400, NULL, 'b', 500, 'infinity'), (-7, 1e30, 1e12, 'c', NULL, NULL, '0044-03-15 BC')`)
	f := b.look(t, "k")
	found := map[string]string{}
	for _, c := range f.Facts.Columns {
		found[c.Name] = fmt.Sprint(c.Nulls, c.Special, c.Outside)
	}
	for name, want := range map[string]string{
		"small": "1 0 0", "middle": "3 0 0", "single": "0 2 1", "exact": "0 2 1", "code": "1 0 0", "domain": "1 0 1",
		"day": "2 0 0",
	} {
		if found[name] != want {
			t.Errorf("%s: NULL, special, outside %s; want %s", name, found[name], want)
		}
	}
	if f.Facts.Rows != 3 || f.Facts.Units != 3 || f.Facts.MaxRowsPerUnit != 1 || fmt.Sprint(f.Invalids) != "[{day 2 0}]" || fmt.Sprint(f.Ignored) != "[__row]" {
		t.Errorf("%+v", f)
	}
	if len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "superuser") || strings.Count(f.Relation, "/") != 2 {
		t.Errorf("%v %v", f.Warnings, f.Relation)
	}
	b.exec(
		t, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; CREATE ROLE writer LOGIN; GRANT SELECT, INSERT ON k TO writer")
	defer b.exec(t, "DROP OWNED BY writer; DROP ROLE writer")
	t.Setenv(urlVariable, strings.Replace(b.url, "user=owner", "user=writer", 1))
	if f := b.look(t, "k"); len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "may write") ||
		!strings.HasPrefix(f.Relation, "?/") {
		t.Errorf("%v %v", f.Warnings, f.Relation)
	}
}

// Content is that of the rows as a multiset of what is read of them; the state changes when rows do, also in what
// inherits.
func TestContentAndState(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(t, "DROP TABLE k; CREATE TABLE j(who text, v int) PARTITION BY HASH (who); CREATE TABLE j0 PARTITION OF j FOR VALUES WITH (MODULUS 2, REMAINDER 0); "+
		"CREATE TABLE j1 PARTITION OF j FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
	states := map[string]bool{}
	look := func(sql string) string {
		t.Helper()
		b.exec(t, sql)
		b.exec(t, "SELECT pg_stat_force_next_flush()")
		f := b.look(t, "j")
		if states[f.State] || f.State == "" {
			t.Errorf("%s: the state is still %s", sql, f.State)
		}
		states[f.State] = true
		return f.Content
	}
	first := look("INSERT INTO j VALUES ('a', 1), ('a', 1), ('b', 2), (NULL, 3)")
	f := b.look(t, "j")
	if f.Facts.Rows != 4 || f.Facts.Units != 2 || f.Facts.MaxRowsPerUnit != 2 || f.Facts.UnitsOver != 1 || f.Facts.RowsOver != 1 || f.Facts.NullUnits != 1 {
		t.Errorf("%+v", f.Facts)
	}
	for _, other := range []string{
		"UPDATE j SET v = 2 WHERE who = 'a'", "DELETE FROM j WHERE who = 'b'",
		"TRUNCATE j",
	} {
		if look(other) == first {
			t.Errorf("%s: the same content", other)
		}
	}
	if look("INSERT INTO j VALUES (NULL, 3), ('b', 2), ('a', 1), ('a', 1)") != first {
		t.Error("another order is another content")
	}
}

// The engine tells of another state than the sealed one, and answers all the same.
func TestTellsOfChanges(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(t, "CREATE TABLE j(who text, v int); INSERT INTO j VALUES ('a', 1)")
	b.exec(t, "SELECT pg_stat_force_next_flush()")
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM j"})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	sealed := b.look(t, "j").State
	for _, c := range []struct {
		sql, state string
		tells      bool
	}{{"SELECT 1", sealed, false}, {"INSERT INTO j VALUES ('b', 1)", sealed, true}, {"SELECT 1", "", false}} {
		b.exec(t, c.sql)
		b.exec(t, "SELECT pg_stat_force_next_flush()")
		told := false
		if _, err := b.engine("j").Aggregate(context.Background(), &p.Statement,
			engine.Sealed{State: c.state, Changed: func(string) { told = true }}); err != nil || told != c.tells {
			t.Errorf("%s: told %t, %v", c.sql, told, err)
		}
	}
}

// A view is sealed with a warning; rows of another server are not.
func TestKindsOfRelation(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(t, "ALTER TABLE k RENAME TO base; CREATE VIEW k AS SELECT * FROM base")
	if f := b.look(t, "k"); f.State != "" || len(f.Warnings) != 2 || !strings.Contains(f.Warnings[0], "a view") {
		t.Errorf("%+v", f)
	}
	declared := policy.Table{
		Name: "k", Source: source("k"),
		Columns: []*policy.Column{{Name: "n", Type: value.Integer}},
	}
	b.exec(
		t, "INSERT INTO base(name) VALUES ('secret'); CREATE OR REPLACE VIEW k AS SELECT base.*, CAST(name AS integer) AS n FROM base")
	if _, err := (Sealer{}).Look(context.Background(), &declared); err == nil ||
		!strings.Contains(err.Error(), "cannot be read") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	b.exec(t, "DROP VIEW k; CREATE MATERIALIZED VIEW k AS SELECT * FROM base")
	if f := b.look(t, "k"); f.State == "" || !strings.Contains(f.Warnings[0], "materialized") {
		t.Errorf("%+v", f)
	}
	b.exec(t, "DROP MATERIALIZED VIEW k; CREATE SEQUENCE k")
	declared.Columns[0].Name = "last_value"
	if _, err := (Sealer{}).Look(context.Background(), &declared); err == nil ||
		!strings.Contains(err.Error(), "neither a table nor a view") {
		t.Errorf("%v", err)
	}
}
