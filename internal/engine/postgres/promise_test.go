package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

func (b *bench) plan(t *testing.T, sql string) *plan.Plan {
	t.Helper()
	p, err := plan.Build(b.policy, plan.Request{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Another table that has taken the name of the sealed one is not read, and a rehearsal says so before anything is paid.
// The promise is to the units of the sealed one: a question of one row a unit over a table of persons would show a
// person a thousand times.
func TestAnotherTableIsNotRead(t *testing.T) {
	const table, view = "",
		"ALTER TABLE j RENAME TO old; CREATE VIEW below AS SELECT who, v FROM old; CREATE VIEW j AS SELECT who, v FROM below"
	for name, c := range map[string]struct {
		before, change string
		same           bool
	}{
		"another by its name": {table, "ALTER TABLE j RENAME TO old; CREATE TABLE j(who text, v int)", false},
		"another schema": {
			table,
			"CREATE SCHEMA other; CREATE TABLE other.j(who text, v int); ALTER SCHEMA public RENAME TO old; ALTER SCHEMA other RENAME TO public", false,
		},
		"a view of it": {table, view, false},
		"a view made anew": {
			view,
			"CREATE OR REPLACE VIEW j AS SELECT who, v FROM old UNION ALL SELECT who, v FROM old", false,
		},
		"a view below":     {view, "CREATE OR REPLACE VIEW below AS SELECT who, v + 1 AS v FROM old", false},
		"dropped and made": {view, "DROP VIEW j; CREATE VIEW j AS SELECT who, v FROM below", false},
		"the same table": {
			table,
			"ALTER TABLE j RENAME TO i; ALTER TABLE i RENAME TO j; ALTER TABLE j ADD more int; INSERT INTO j VALUES ('c', 3)", true,
		},
		"the same view": {view, "INSERT INTO old VALUES ('c', 3); ALTER TABLE old RENAME TO older", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newKinds(t, nil)
			b.exec(
				t, "DROP TABLE k; CREATE TABLE j(who text, v int); INSERT INTO j VALUES ('a', 1), ('b', 2);"+c.before)
			p := b.plan(t, "SELECT COUNT(*) FROM j")
			order, err := plan.BuildOrder(b.policy, plan.Request{SQL: "SELECT v FROM j"})
			if err != nil {
				t.Fatal(err)
			}
			from, e := engine.Sealed{Relation: b.look(t, "j").Relation}, b.engine("j")
			if _, err := e.Aggregate(t.Context(), &p.Statement, from); err != nil {
				t.Fatal(err)
			}
			b.exec(t, c.change)
			if err := e.Rehearse(t.Context(), &p.Statement, from); (err == nil) != c.same || err != nil &&
				!errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("rehearsed: %v", err)
			}
			if _, err := e.Aggregate(t.Context(), &p.Statement, from); (err == nil) != c.same {
				t.Errorf("answered: %v", err)
			}
			if _, err := e.Order(t.Context(), &order.Statement, from); (err == nil) != c.same {
				t.Errorf("ordered: %v", err)
			}
		})
	}
}

// A name that leads elsewhere by the time that the rows were read gives no answer: a schema's name is locked by nobody.
func TestNameThatMovesMeanwhile(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(
		t, "DROP TABLE k; CREATE TABLE j(who text, v int); CREATE SCHEMA other; CREATE TABLE other.j(who text, v int)")
	e := b.engine("j")
	s, err := e.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	in, err := e.open(t.Context(), s, b.policy.Table("j").Columns, engine.Sealed{})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.still(t.Context()); err != nil {
		t.Error(err)
	}
	b.exec(t, "ALTER SCHEMA public RENAME TO old; ALTER SCHEMA other RENAME TO public")
	if err := in.still(t.Context()); err == nil {
		t.Error("another table is taken for the one that was found")
	}
}

// Every pass gives the same values, though the view draws lots.
func TestPassesOfAViewThatDrawsLots(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(
		t, "DROP TABLE k; CREATE VIEW j AS SELECT 'p' || i AS who, floor(random() * 11)::int AS v FROM generate_series(1, 500) AS i WHERE random() < 0.5")
	q, err := plan.BuildOrder(b.policy, plan.Request{SQL: "SELECT v FROM j"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.engine("j").page = 4
	scan, err := b.engine("j").scan(ctx, &q.Statement, engine.Sealed{})
	if err != nil {
		t.Fatal(err)
	}
	pass := func(most int) string {
		var out []string
		if err := scan(func(v,
			n int64,
		) bool {
			out = append(out, fmt.Sprint(v, ":", n))
			return len(out) < most
		}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, " ")
	}
	first := pass(100)
	if again := pass(3); !strings.HasPrefix(first, again) {
		t.Errorf("first %s, then %s", first, again)
	}
	for range 2 {
		if again := pass(100); again != first {
			t.Errorf("first %s, then %s", first, again)
		}
	}
}

// A table is known again by a role that may not know the cluster's number, and by one that may.
func TestRolesThatKnowLess(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(
		t, "DROP TABLE k; CREATE TABLE j(who text, v int); CREATE ROLE less LOGIN; GRANT SELECT ON j TO less; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
	defer b.exec(t, "DROP OWNED BY less; DROP ROLE less")
	p := b.plan(t, "SELECT COUNT(*) FROM j")
	knows := b.look(t, "j")
	t.Setenv(urlVariable, strings.Replace(b.url, "user=owner", "user=less", 1))
	less := b.look(t, "j")
	if !strings.HasPrefix(less.Relation, "?/") || strings.HasPrefix(knows.Relation, "?/") ||
		less.Content != knows.Content {
		t.Fatalf("%s, %s", less.Relation, knows.Relation)
	}
	for _, from := range []string{knows.Relation, less.Relation} {
		if err := b.engine("j").Rehearse(t.Context(), &p.Statement, engine.Sealed{Relation: from}); err != nil {
			t.Error(err)
		}
	}
	t.Setenv(urlVariable, b.url)
	if err := b.engine("j").Rehearse(t.Context(), &p.Statement, engine.Sealed{Relation: less.Relation}); err != nil {
		t.Error(err)
	}
}

// Partitions, children and what they belong to are one family; a view shows it; a part on another server is refused, or
// warned of.
func TestFamilies(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(t, `DROP TABLE k; CREATE TABLE whole(who text, v int) PARTITION BY LIST (v); CREATE TABLE j PARTITION OF whole DEFAULT;
	 CREATE TABLE one PARTITION OF whole FOR VALUES IN (1)`)
	look := func(name string) seal.Found {
		t.Helper()
		f, err := b.lookAs(name, "j")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	whole, part := look("whole"), look("j")
	if len(whole.Family) != 1 || fmt.Sprint(whole.Family) != fmt.Sprint(part.Family) ||
		whole.Relation == part.Relation || len(whole.Shows) > 0 {
		t.Errorf("%v %v, %v %v", whole.Relation, whole.Family, part.Relation, part.Family)
	}
	b.exec(
		t, "CREATE TABLE list(a int); CREATE VIEW below AS SELECT who, v FROM one; CREATE VIEW above AS SELECT who, v FROM below, list; CREATE MATERIALIZED VIEW kept AS SELECT * FROM above")
	for _, name := range []string{"above", "kept"} {
		if f := look(name); len(f.Shows) != 2 || !strings.Contains(strings.Join(f.Shows, " "), whole.Family[0]) ||
			len(f.Family) != 1 || f.Family[0] == whole.Family[0] {
			t.Errorf("%s: %v %v", name, f.Family, f.Shows)
		}
	}
	p := b.plan(t, "SELECT COUNT(*) FROM j")
	b.exec(t, `CREATE TABLE left_ (who text, v int); CREATE TABLE right_ (w int); CREATE TABLE child() INHERITS (left_, right_);
	 CREATE EXTENSION file_fdw; CREATE SERVER away FOREIGN DATA WRAPPER file_fdw; CREATE FOREIGN TABLE there(who text, v int) SERVER away OPTIONS (filename '/dev/null', format 'csv'); CREATE VIEW shown AS SELECT * FROM there`)
	if f := look("left_"); len(f.Family) != 2 || fmt.Sprint(f.Family) != fmt.Sprint(look("child").Family) {
		t.Errorf("%v", f.Family)
	}
	b.exec(t, "ALTER TABLE there INHERIT left_")
	for _, name := range []string{"left_", "there"} {
		if _, err := b.lookAs(name, "j"); err == nil || !strings.Contains(err.Error(), "another server") &&
			!strings.Contains(err.Error(), "neither a table nor a view") {
			t.Errorf("%s: %v", name, err)
		}
		if err := New(source(name)).Rehearse(t.Context(), &p.Statement, engine.Sealed{}); !errors.Is(err,
			engine.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.exec(t, "ALTER TABLE there NO INHERIT left_")
	if f := look("shown"); !strings.Contains(strings.Join(f.Warnings, " "), "another server") {
		t.Errorf("%v", f.Warnings)
	}
}

// count counts the rows of a statement beside the engine.
func (b *bench) count(sql string, n *int) error {
	results, err := b.writer.Exec(context.Background(), sql).ReadAll()
	if err == nil && len(results) == 1 {
		*n = len(results[0].Rows)
	}
	return err
}

// lookAs looks at a relation that is declared as a table of another name.
func (b *bench) lookAs(relation, declared string) (seal.Found, error) {
	as := *b.policy.Table(declared)
	as.Source = source(relation)
	return Sealer{}.Look(context.Background(), &as)
}

// What a view's functions say when they fail may hold a value, under any SQLSTATE: sealing does not repeat it.
func TestSealingQuotesNoRow(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(t, `DROP TABLE k; CREATE TABLE base(who text, v int); INSERT INTO base VALUES ('secret-of-7', 1);
	 CREATE FUNCTION raises(x text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'bad value %', x; END $$;
	 CREATE FUNCTION runs(x text) RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN EXECUTE 'SELECT "' || x || '"' INTO n; RETURN n; END $$`)
	for _, function := range []string{"raises", "runs", "cast_"} {
		expression := function + "(who)"
		if function == "cast_" {
			expression = "CAST(who AS int)"
		}
		b.exec(t, "CREATE VIEW j AS SELECT who, "+expression+" AS v FROM base")
		_, err := b.lookAs("j", "j")
		if err == nil || strings.Contains(err.Error(), "secret") ||
			!strings.Contains(err.Error(), "cannot be read (SQLSTATE ") {
			t.Errorf("%s: %v", function, err)
		}
		b.exec(t, "DROP VIEW j")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	b.exec(t, "CREATE VIEW j AS SELECT who, v FROM base, LATERAL (SELECT pg_sleep(20 + v) OFFSET 0) AS s")
	as := *b.policy.Table("j")
	as.Source = source("j")
	if _, err := (Sealer{}).Look(ctx, &as); err == nil || strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a timeout is told as what it is: %v", err)
	}
}

// A change that is committed while the table is looked at, and is not in what was found, shows in the state.
func TestChangeWhileSealing(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(t, "DROP TABLE k; CREATE TABLE j(who text, v int); INSERT INTO j VALUES ('a', 1)")
	b.exec(t, "SELECT pg_stat_force_next_flush()")
	b.exec(t, "BEGIN; LOCK TABLE j IN ACCESS EXCLUSIVE MODE; INSERT INTO j VALUES ('b', 2)")
	found := make(chan seal.Found)
	go func() { f, _ := b.lookAs("j", "j"); found <- f }()
	for range 500 {
		waits := false
		if err := b.query(
			"SELECT 1 FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())", func([][]byte) error { waits = true; return nil }); err != nil {
			t.Fatal(err)
		}
		if waits {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.exec(t, "COMMIT")
	b.exec(t, "SELECT pg_stat_force_next_flush()")
	f := <-found
	if f.Facts.Rows == 1 && b.look(t, "j").State == f.State {
		t.Error("a change that is in the state, and not in what was found, is never noticed")
	}
}

// A view's column is computed once a row: what a function that is wrongly declared STABLE gives is what is checked.
func TestViewsAreReadOnce(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	b.exec(t, `ALTER TABLE t RENAME TO base; INSERT INTO base(__row) SELECT generate_series(1, 9);
	 CREATE FUNCTION other(i bigint) RETURNS date STABLE LANGUAGE plpgsql AS $$ BEGIN
	  IF coalesce(current_setting('x.last', true), '') = i::text THEN RETURN 'infinity'; END IF;
	  PERFORM set_config('x.last', i::text, true); RETURN '2000-01-01'; END $$`)
	var columns []string
	for _, c := range b.policy.Table("t").Columns {
		name := identifier(c.Name)
		if c.Type == value.Date {
			name = "other(__row) AS " + name
		}
		columns = append(columns, name)
	}
	b.exec(t, "CREATE VIEW t AS SELECT "+strings.Join(columns, ", ")+" FROM base")
	if got, err := b.sums(b.plan(t, "SELECT COUNT(d) FROM t")); err != nil || fmt.Sprint(got) != "map[[] 0:9]" {
		t.Errorf("%v, %v", got, err)
	}
	as := *b.policy.Table("t")
	as.Source = source("t")
	as.Columns = []*policy.Column{as.Column("d")}
	as.Columns[0].Nullable = true
	if f, err := (Sealer{}).Look(t.Context(), &as); err != nil || f.Facts.Columns[0].Nulls != 0 {
		t.Errorf("%+v, %v", f.Facts, err)
	}
}

// The connection of a rehearsal is the question's: a server that is full when the price is paid does not lose the
// answer.
func TestServerIsFull(t *testing.T) {
	b := newKinds(t, nil)
	b.exec(
		t, "DROP TABLE k; CREATE TABLE j(who text, v int); INSERT INTO j VALUES ('a', 1); CREATE ROLE few LOGIN CONNECTION LIMIT 1; GRANT SELECT ON j TO few")
	p := b.plan(t, "SELECT COUNT(*) FROM j")
	defer b.exec(t, "DROP OWNED BY few; DROP ROLE few")
	t.Setenv(urlVariable, strings.Replace(b.url, "user=owner", "user=few", 1))
	e := New(source("j"))
	defer func() { _ = e.Close() }()
	gone := func() { // the server takes a moment to see that a connection has ended
		t.Helper()
		for range 500 {
			n := 0
			if err := b.count("SELECT 1 FROM pg_stat_activity WHERE usename = 'few'", &n); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for range 3 {
		if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
			t.Fatal(err)
		}
		if _, err := New(source("j")).Aggregate(t.Context(), &p.Statement, engine.Sealed{}); !isCode(err, "53300") {
			t.Fatalf("the server is not full: %v", err)
		}
		if _, err := e.Aggregate(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
			t.Fatal(err)
		}
		gone()
	}
	for range most + 2 { // questions that are refused after their rehearsal
		if err := e.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
			t.Fatal(err)
		}
	}
	// A connection that was cut while it waited is replaced.
	b.exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'few'")
	gone()
	if _, err := e.Aggregate(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
		t.Error(err)
	}
}
