package curator

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/engine/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const livePolicy = `
version: 1
population: {name: test}
budget: {epsilon: 1000}
price: {default: 20, maximum: 100}
tables:
  visits:
    source: {postgres: {url_env: DITHER_TEST_CLINIC}, table: clinic.visits}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      cost: {type: integer, bounds: [0, 10], nullable: true}
      note: {type: text, nullable: true}
`

// liveHome is a home over a table on a server, which 30 persons have one row of each, and the URL of its owner.
func liveHome(t *testing.T) (home, owner string) {
	t.Helper()
	owner = pgtest.Start(t).Database(t)
	role := fmt.Sprintf("reader%d", time.Now().UnixNano())
	pgtest.Exec(t, owner, `CREATE SCHEMA clinic; CREATE TABLE clinic.visits(person int, cost smallint, note text, ward text);
	 INSERT INTO clinic.visits SELECT i, i % 10, 'secret-of-' || i, 'w' FROM generate_series(1, 30) AS i;
	 CREATE ROLE `+role+` LOGIN; GRANT USAGE ON SCHEMA clinic TO `+role+`; GRANT SELECT (person, cost, note) ON clinic.visits TO `+role)
	t.Setenv("DITHER_TEST_CLINIC", strings.Replace(owner, "user=owner", "user="+role, 1))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	return initHome(t, livePolicy), owner
}

func initHome(t *testing.T, policy string) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", policy)
	return home
}

func sealLive(t *testing.T, c *Owner, table string) *SealReport {
	t.Helper()
	r, err := c.Seal(t.Context(), table, SealOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// count asks for the number of rows at so high a price that noise is nearly none.
func count(t *testing.T, c *Owner, q Question) *Release {
	t.Helper()
	q.SQL = "SELECT COUNT(*) AS n FROM visits"
	a, err := c.Answer(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func near(t *testing.T, a *Release, want float64) {
	t.Helper()
	got := 0.0
	if _, err := fmt.Sscan(a.Rows[0][0].Estimate.Value.String(), &got); err != nil || math.Abs(got-want) > 5 {
		t.Errorf("%v rows, want about %v (%v)", got, want, err)
	}
}

// A live table is sealed by reference, answered about, and told to its owner when it changes; a new version has new answers.
func TestLiveTable(t *testing.T) {
	home, owner := liveHome(t)
	c := openHome(t, home)
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits"}); codeOf(err) != CodeNotSealed {
		t.Errorf("before sealing: %v", err)
	}
	r := sealLive(t, c, "visits")
	for _, text := range []string{"rows: 30", `"ward"`, "not private"} {
		if !strings.Contains(r.Text, text) {
			t.Errorf("the report lacks %s:\n%s", text, r.Text)
		}
	}
	if strings.Contains(r.Text, "warning") || r.Version != 1 {
		t.Errorf("version %d\n%s", r.Version, r.Text)
	}
	var told []error
	c.listener = func(err error) { told = append(told, err) }
	first := count(t, c, Question{})
	near(t, first, 30)
	if a := count(t, c, Question{}); !a.Replayed || a.ID != first.ID {
		t.Errorf("not replayed: %+v", a)
	}
	// One person gets a thousand rows. What was found at sealing, one row each, must not be relied on.
	pgtest.Exec(t, owner, "INSERT INTO clinic.visits SELECT 1, 5, 'x', 'w' FROM generate_series(1, 1000)")
	time.Sleep(1200 * time.Millisecond) // until the server's counters show it
	fresh := count(t, c, Question{Fresh: true})
	near(t, fresh, 32) // 29 persons of one row, and three rows
	if len(told) == 0 || !strings.Contains(told[0].Error(), "changed") {
		t.Errorf("the owner was told %v", told)
	}
	if lines, err := CheckPolicy(home); err != nil || !strings.Contains(strings.Join(lines, "\n"), "seems to have changed") {
		t.Errorf("%v, %v", lines, err)
	}
	r = sealLive(t, c, "visits")
	if r.Version != 2 || r.Unchanged || !strings.Contains(r.Text, "at most 1001 rows each") || strings.Contains(r.Text, "those of version") {
		t.Errorf("%+v", r)
	}
	// The note is kept for the owner, who sees it without any question, until the table is sealed again.
	if lines, err := CheckPolicy(home); err != nil || strings.Contains(strings.Join(lines, "\n"), "seems to have changed") {
		t.Errorf("after sealing: %v, %v", lines, err)
	}
	told = nil
	if a := count(t, c, Question{}); a.Replayed || len(told) > 0 {
		t.Errorf("replayed %v, told %v", a.Replayed, told)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT note, COUNT(*) FROM visits GROUP BY note"}); codeOf(err) != CodePolicy {
		t.Errorf("%v", err)
	}
	noRowsIn(t, home)
}

// Each sealing of a live table makes a version, whether its rows changed or not: analysts see the number.
func TestVersionsDoNotTellOfChanges(t *testing.T) {
	home, owner := liveHome(t)
	c := openHome(t, home)
	for i, change := range []string{"SELECT 1", "SELECT 1", "UPDATE clinic.visits SET cost = 3 WHERE person = 7", "SELECT 1"} {
		pgtest.Exec(t, owner, change)
		r := sealLive(t, c, "visits")
		if r.Version != i+1 || r.Unchanged || strings.Contains(r.Text, "those of version") != (i == 1 || i == 3) {
			t.Errorf("%s: %+v", change, r)
		}
		if a := count(t, c, Question{}); a.Replayed {
			t.Errorf("version %d has the answers of another", r.Version)
		}
	}
}

// A table that took the name of the sealed one is not read: a question of one row a unit would show a person as often as they are in it.
func TestSwappedTable(t *testing.T) {
	home, owner := liveHome(t)
	c := openHome(t, home)
	sealLive(t, c, "visits")
	before := spent(t, c)
	pgtest.Exec(t, owner, "ALTER TABLE clinic.visits RENAME TO base; CREATE TABLE clinic.visits(person int, cost smallint, note text); GRANT SELECT ON clinic.visits TO PUBLIC")
	_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM visits"})
	if codeOf(err) != CodeUnavailable || spent(t, c) != before {
		t.Errorf("%v, spent %s and then %s", err, before, spent(t, c))
	}
	sealLive(t, c, "visits")
	near(t, count(t, c, Question{}), 0)
}

// Partitions of one table, and the whole, are one source; of a view that may show it the owner is warned.
func TestLivePartitions(t *testing.T) {
	home, owner := liveHome(t)
	pgtest.Exec(t, owner, `CREATE TABLE clinic.whole(person int, cost smallint, note text) PARTITION BY LIST (cost);
	 CREATE TABLE clinic.part PARTITION OF clinic.whole DEFAULT; CREATE VIEW clinic.shown AS SELECT * FROM clinic.part; INSERT INTO clinic.whole VALUES (1, 1, 'x')`)
	t.Setenv("DITHER_TEST_CLINIC", owner)
	write(t, home, "policy.yaml", strings.Replace(livePolicy, "clinic.visits", "clinic.whole", 1)+`  part:
    source: {postgres: {url_env: DITHER_TEST_CLINIC}, table: clinic.part}
    unit: row
    columns: {cost: {type: integer, bounds: [0, 10], nullable: true}}
  shown:
    source: {postgres: {url_env: DITHER_TEST_CLINIC}, table: clinic.shown}
    unit: row
    columns: {cost: {type: integer, bounds: [0, 10], nullable: true}}
`)
	c := openHome(t, home)
	sealLive(t, c, "visits")
	if _, err := c.Seal(t.Context(), "part", SealOptions{}); codeOf(err) != CodeSource || !strings.Contains(err.Error(), "has a different unit") {
		t.Errorf("a partition under another unit: %v", err)
	}
	if r := sealLive(t, c, "shown"); !strings.Contains(r.Text, "may show rows of table visits") {
		t.Errorf("a view of it:\n%s", r.Text)
	}
	pgtest.Exec(t, owner, "INSERT INTO clinic.whole VALUES (2, 2, 'y')") // another content
	other := openHome(t, initHome(t, strings.Replace(livePolicy, "clinic.visits", "clinic.part", 1)))
	if _, err := other.Seal(t.Context(), "visits", SealOptions{}); codeOf(err) != CodeSource || !strings.Contains(err.Error(), "already sealed") {
		t.Errorf("a second home over a partition: %v", err)
	}
}

// A table is one source for roles that may know the cluster's number and for those that may not, whoever comes first.
func TestLiveRoles(t *testing.T) {
	for _, first := range []string{"knows", "does not"} {
		t.Run(first, func(t *testing.T) {
			home, owner := liveHome(t)
			pgtest.Exec(t, owner, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
			reader := os.Getenv("DITHER_TEST_CLINIC")
			urls := []string{owner, reader}
			if first != "knows" {
				urls = []string{reader, owner}
			}
			t.Setenv("DITHER_TEST_CLINIC", urls[0])
			sealLive(t, openHome(t, home), "visits")
			t.Setenv("DITHER_TEST_CLINIC", urls[1])
			pgtest.Exec(t, owner, "UPDATE clinic.visits SET cost = 1")
			other := openHome(t, initHome(t, livePolicy))
			if _, err := other.Seal(t.Context(), "visits", SealOptions{}); codeOf(err) != CodeSource || !strings.Contains(err.Error(), "already sealed") {
				t.Errorf("a second home: %v", err)
			}
			if _, err := other.Seal(t.Context(), "visits", SealOptions{Shared: true}); err != nil {
				t.Errorf("shared: %v", err)
			}
			pgtest.Exec(t, owner, "UPDATE clinic.visits SET cost = person % 10") // what the first home sealed
			for range 2 {
				for _, url := range urls {
					t.Setenv("DITHER_TEST_CLINIC", url)
					sealLive(t, openHome(t, home), "visits")
				}
			}
		})
	}
}

// noRowsIn fails where a home holds a cell of the table.
func noRowsIn(t *testing.T, home string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "secret-of-") {
			t.Errorf("%s holds rows", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Every primitive works on a live table.
func TestLivePrimitives(t *testing.T) {
	home, _ := liveHome(t)
	c := openHome(t, home)
	sealLive(t, c, "visits")
	for _, p := range primitives() {
		sql := strings.NewReplacer("people", "visits", "height", "cost", "age", "cost", "region", "cost").Replace(p.sql)
		if _, _, _, err := p.call(t.Context(), c, sql, Question{}); err != nil {
			t.Errorf("%s: %s: %v", p.name, sql, err)
		}
	}
}

// What fails before the reservation is free; what fails after it is charged, and says so; neither says why.
func TestLiveFailures(t *testing.T) {
	home, owner := liveHome(t)
	c := openHome(t, home)
	sealLive(t, c, "visits")
	var told []error
	c.listener = func(err error) { told = append(told, err) }
	works := os.Getenv("DITHER_TEST_CLINIC")
	fails := func(name string, code Code, charged bool) {
		t.Helper()
		before := spent(t, c)
		told = nil
		_, err := c.Answer(t.Context(), Question{SQL: "SELECT SUM(cost) FROM visits", Fresh: true})
		var e *Error
		if !errors.As(err, &e) || e.Code != code || e.Charged != charged || (spent(t, c) != before) != charged {
			t.Errorf("%s: %+v, spent %s and then %s", name, e, before, spent(t, c))
		}
		if len(told) == 0 || strings.Contains(fmt.Sprint(err), told[0].Error()) || strings.Contains(fmt.Sprintf("%+v", e), "SQLSTATE") {
			t.Errorf("%s: the asker sees %v, the owner %v", name, err, told)
		}
	}
	t.Setenv("DITHER_TEST_CLINIC", works+" port=1")
	fails("no server", CodeUnavailable, false)
	if _, err := c.Seal(t.Context(), "visits", SealOptions{}); codeOf(err) != CodeSource {
		t.Errorf("sealing without a server: %v", err)
	}
	t.Setenv("DITHER_TEST_CLINIC", works)
	pgtest.Exec(t, owner, "ALTER TABLE clinic.visits ALTER cost TYPE text")
	fails("another type", CodeUnavailable, false)
	pgtest.Exec(t, owner, "ALTER TABLE clinic.visits ALTER cost TYPE smallint USING cost::smallint; REVOKE SELECT ON clinic.visits FROM PUBLIC; ALTER TABLE clinic.visits RENAME TO base")
	fails("no table", CodeUnavailable, false)
	role := works[strings.Index(works, "user=")+5:]
	role = role[:strings.Index(role, " ")]
	then := func(does string) {
		t.Helper()
		pgtest.Exec(t, owner, "CREATE OR REPLACE FUNCTION clinic.one(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN "+does+" RETURN 1; END $$")
	}
	then("")
	pgtest.Exec(t, owner, `CREATE VIEW clinic.visits AS SELECT b.person, CAST(b.cost * clinic.one(b.person) AS smallint) AS cost, b.note FROM clinic.base AS b;
	 GRANT SELECT ON clinic.visits TO `+role)
	sealLive(t, c, "visits")
	then("PERFORM pg_sleep(60);")
	*inside(c).Limit = 500 * time.Millisecond
	fails("too slow", CodeFailed, true)
	*inside(c).Limit = 0
	answered, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			time.Sleep(20 * time.Millisecond)
			pgtest.Exec(t, owner, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+role+"' AND query LIKE '%OFFSET 0) AS c%' AND query LIKE '%visits%' AND state = 'active' AND now() - query_start > interval '200 ms'")
			select {
			case <-answered:
				return
			default:
			}
		}
	}()
	fails("cut in the middle", CodeFailed, true)
	close(answered)
	<-ended
	then("PERFORM 1 / (i - 3);")
	fails("a view that fails on a row", CodeFailed, true)
}

// A declaration that the table contradicts is refused at sealing, with a message for its owner.
func TestLiveTablesAreChecked(t *testing.T) {
	_, owner := liveHome(t)
	for name, c := range map[string]struct{ change, back, want string }{
		"NULL":        {"INSERT INTO clinic.visits VALUES (NULL, 1, 'a')", "DELETE FROM clinic.visits WHERE person IS NULL", "NULLs"},
		"a long text": {"INSERT INTO clinic.visits VALUES (1, 1, repeat('a', 5000))", "DELETE FROM clinic.visits WHERE length(note) > 4999", "not valid as text"},
		"a timestamp": {"ALTER TABLE clinic.visits ALTER note TYPE timestamp USING now()", "ALTER TABLE clinic.visits ALTER note TYPE text", "timestamp without time zone"},
		"no column":   {"ALTER TABLE clinic.visits RENAME note TO memo", "ALTER TABLE clinic.visits RENAME memo TO note", "note"},
	} {
		pgtest.Exec(t, owner, c.change)
		home := openHome(t, initHome(t, livePolicy))
		if _, err := home.Seal(t.Context(), "visits", SealOptions{}); codeOf(err) != CodeSource || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		pgtest.Exec(t, owner, c.back)
	}
}

// One table on a server has one budget, and one unit, by whatever name it is reached.
func TestLiveClaims(t *testing.T) {
	home, owner := liveHome(t)
	sealLive(t, openHome(t, home), "visits")
	t.Setenv("DITHER_TEST_OTHER", owner)
	renamed := strings.Replace(livePolicy, "DITHER_TEST_CLINIC", "DITHER_TEST_OTHER", 1)
	other := openHome(t, initHome(t, renamed))
	for name, change := range map[string]string{
		"visits": "UPDATE clinic.visits SET cost = 1", "others": "ALTER TABLE clinic.visits RENAME TO others",
	} {
		pgtest.Exec(t, owner, change)
		second := openHome(t, initHome(t, strings.Replace(renamed, "clinic.visits", "clinic."+name, 1)))
		if _, err := second.Seal(t.Context(), "visits", SealOptions{}); codeOf(err) != CodeSource || !strings.Contains(err.Error(), "already sealed") {
			t.Errorf("a second home, over clinic.%s: %v", name, err)
		}
		pgtest.Exec(t, owner, "ALTER TABLE IF EXISTS clinic.others RENAME TO visits")
	}
	if _, err := other.Seal(t.Context(), "visits", SealOptions{Shared: true}); err != nil {
		t.Errorf("shared: %v", err)
	}
	again := openHome(t, initHome(t, livePolicy+`  rows:
    source: {postgres: {url_env: DITHER_TEST_OTHER}, table: clinic.visits}
    unit: row
    columns: {cost: {type: integer, bounds: [0, 10], nullable: true}}
`))
	if _, err := again.Seal(t.Context(), "visits", SealOptions{Shared: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Seal(t.Context(), "rows", SealOptions{Shared: true}); codeOf(err) != CodeSource || !strings.Contains(err.Error(), "has a different unit") {
		t.Errorf("another unit: %v", err)
	}
}

// From rows to persons is refused: what a live table held is not kept, so nothing says how many rows a person had.
func TestLiveRowsToPersons(t *testing.T) {
	_, _ = liveHome(t)
	rows := strings.NewReplacer("unit: person\n    rows_per_unit: 3", "unit: row").Replace(livePolicy)
	home := initHome(t, rows)
	c := openHome(t, home)
	sealLive(t, c, "visits")
	near(t, count(t, c, Question{}), 30)
	write(t, home, "policy.yaml", livePolicy)
	if _, err := openHome(t, home).AcceptPolicy(t.Context(), false); err == nil || !strings.Contains(err.Error(), "not kept") {
		t.Errorf("%v", err)
	}
}

// A copy is a sealed version: it answers as the table did when it was sealed, is replaced by the next, and is not read once it was tampered with.
func TestLiveCopy(t *testing.T) {
	home, owner := liveHome(t)
	role := os.Getenv("DITHER_TEST_CLINIC")
	role = strings.Fields(role[strings.Index(role, "user=")+5:])[0]
	c := openHome(t, home)
	if _, err := c.Seal(t.Context(), "visits", SealOptions{Copy: "copies"}); codeOf(err) != CodeSource {
		t.Errorf("without the schema: %v", err)
	}
	pgtest.Exec(t, owner, "CREATE SCHEMA copies; GRANT USAGE, CREATE ON SCHEMA copies TO "+role)
	copies := func() (names []string) {
		t.Helper()
		conn, err := pgconn.Connect(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(t.Context()) }()
		results, err := conn.Exec(t.Context(), "SELECT relname FROM pg_class WHERE relnamespace = 'copies'::regnamespace AND relkind = 'r'").ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range results[0].Rows {
			names = append(names, string(row[0]))
		}
		return names
	}
	copied := func() {
		t.Helper()
		if _, err := c.Seal(t.Context(), "visits", SealOptions{Copy: "copies"}); err != nil {
			t.Fatal(err)
		}
	}
	copied()
	first := copies()
	if len(first) != 1 || !strings.HasPrefix(first[0], "visits_v1_") {
		t.Errorf("%v", first)
	}
	pgtest.Exec(t, owner, "INSERT INTO clinic.visits SELECT i, 5, 'x', 'w' FROM generate_series(100, 1000) AS i")
	near(t, count(t, c, Question{}), 30)
	for _, p := range primitives() {
		sql := strings.NewReplacer("people", "visits", "height", "cost", "age", "cost", "region", "cost").Replace(p.sql)
		if _, _, _, err := p.call(t.Context(), c, sql, Question{}); err != nil {
			t.Errorf("%s: %s: %v", p.name, sql, err)
		}
	}
	copied()
	near(t, count(t, c, Question{}), 931)
	if now := copies(); len(now) != 1 || !strings.HasPrefix(now[0], "visits_v2_") {
		t.Errorf("%v", now)
	}
	pgtest.Exec(t, owner, "GRANT DELETE ON ALL TABLES IN SCHEMA copies TO "+role)
	before := spent(t, c)
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT SUM(cost) FROM visits"}); codeOf(err) != CodeUnavailable || spent(t, c) != before {
		t.Errorf("a copy that may be written to: %v", err)
	}
	sealLive(t, c, "visits")
	near(t, count(t, c, Question{}), 931)
	if now := copies(); len(now) != 0 {
		t.Errorf("the copy of an earlier version stays: %v", now)
	}
	// A sealing that fails leaves no copy.
	pgtest.Exec(t, owner, "INSERT INTO clinic.visits VALUES (NULL, 1, 'x', 'w')")
	if _, err := c.Seal(t.Context(), "visits", SealOptions{Copy: "copies"}); codeOf(err) != CodeSource || len(copies()) != 0 {
		t.Errorf("%v, %v", err, copies())
	}
	noRowsIn(t, home)
	files := openHome(t, newHome(t))
	if _, err := files.Seal(t.Context(), "people", SealOptions{Copy: "copies"}); codeOf(err) != CodeUsage {
		t.Errorf("a copy of a file: %v", err)
	}
}
