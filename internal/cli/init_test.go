package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"dither/internal/engine/postgres/pgtest"
)

// drafted returns the policy that init drafts, after it checked that init succeeds.
func drafted(t *testing.T, args ...string) (policy, said string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if said = enginesSay(t, append([]string{"init", home}, args...)...); !strings.HasPrefix(said, "exit 0\n") {
		t.Fatal(said)
	}
	text, err := os.ReadFile(filepath.Join(home, "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if checked := enginesSay(t, "-C", home, "policy", "check"); !strings.HasPrefix(checked, "exit 0\n") {
		t.Error(checked)
	}
	return string(text), said
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}

func TestInitFromServer(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	pgtest.Exec(t, url, `CREATE SCHEMA clinic; CREATE TABLE clinic.people(id int, born date);
		CREATE TABLE clinic."Visits"(person_id int, cost numeric, place point)`)
	policy, said := drafted(t, "--from", url+" password=s3cret")
	contains(t, policy, "  people:\n", "  visits:\n", "postgres: {url_env: DITHER_POSTGRES_URL}\n      table: \"clinic.people\"\n",
		`table: "clinic.\"Visits\""`, `# references: {person_id: "people.id"}`)
	contains(t, said, "DITHER_POSTGRES_URL", "Visits.place (point)")
	if all := policy + said; strings.Contains(all, "s3cret") || strings.Contains(all, "host=") {
		t.Errorf("the connection string leaks:\n%s", all)
	}
	t.Setenv("DITHER_TEST_INIT", url)
	policy, _ = drafted(t, "--table", "seen=url_env=DITHER_TEST_INIT#clinic.Visits")
	contains(t, policy, "  seen:\n", "{url_env: DITHER_TEST_INIT}")
	if strings.Contains(policy, "people:") {
		t.Errorf("another table was drafted:\n%s", policy)
	}
	policy, said = drafted(t, "--from", "url_env=DITHER_TEST_INIT#people")
	contains(t, policy, "  people:\n")
	if strings.Contains(policy, "visits") || strings.Contains(said, "place") {
		t.Errorf("another table was drafted:\n%s%s", said, policy)
	}
	for from, want := range map[string]string{
		"url_env=DITHER_TEST_INIT#nothere":       "dither: the server has no table \"nothere\"\n  it has clinic.Visits, clinic.people\n",
		"url_env=DITHER_TEST_INIT#clinic.peopel": "dither: the server has no table \"clinic.peopel\"\n  did you mean #clinic.people?\n",
		url + " password=pass#s3cret":            "dither: the server has no table of the name after #\n",
	} {
		if said := enginesSay(t, "init", t.TempDir(), "--from", from); !strings.HasSuffix(said, want) {
			t.Errorf("%q", said)
		}
	}
}

func TestInitFromDuckDBAndParquet(t *testing.T) {
	folder := t.TempDir()
	db, err := sql.Open("duckdb", filepath.Join(folder, "clinic.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "bills"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE people(id INTEGER, born DATE)", `CREATE TABLE "All Visits"(person_id INTEGER, seen_at TIMESTAMP, where_ STRUCT(x INTEGER))`,
		"COPY (SELECT 1 AS bill, 2.5 AS cost) TO '" + folder + "/bills/1.parquet'",
		"COPY (SELECT 2 AS bill, 3.5 AS cost) TO '" + folder + "/bills/2.parquet'",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	policy, said := drafted(t, "--from", folder+"/clinic.duckdb", "--from", folder+"/bills")
	contains(t, policy, "  people:\n", "  all_visits:\n", `table: "All Visits"`, "  bills:\n", `bills/*.parquet"`, "type: timestamp")
	contains(t, said, "left out a column of an unsupported type: All Visits.where_")
	policy, _ = drafted(t, "--table", "people="+folder+"/clinic.duckdb")
	if strings.Contains(policy, "visits") {
		t.Errorf("another table was drafted:\n%s", policy)
	}
}
