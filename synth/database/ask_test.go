package database

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const rows = "age,job,size,born,note\n40,nurse,1.5,1985-02-03,\"a,b\"\n50,,2.25,1975-01-01,x\n,baker,,,\"c \"\"d\"\"\"\n"

func TestAsk(t *testing.T) {
	file := write(t, "people.csv", rows)
	for question, want := range map[string][]any{
		"SELECT COUNT(*), AVG(age), SUM(size) FROM people":                                      {json.Number("3"), json.Number("45"), json.Number("3.75")},
		"SELECT MIN(born), MAX(note), MAX(job) FROM people;":                                    {"1975-01-01", "x", "nurse"},
		"SELECT age / 3, WIDTH_BUCKET(age, 0, 100, 10), job IS NULL FROM people WHERE age = 50": {json.Number("16"), json.Number("6"), true},
		"WITH p AS (SELECT job FROM people) SELECT COUNT(job) FROM p":                           {json.Number("2")},
		"SELECT age, job FROM people ORDER BY age DESC LIMIT 1":                                 {nil, "baker"},
		"SELECT SUM(r.range) FROM range(4) AS r":                                                {json.Number("6")},
		"SELECT EXTRACT(year FROM born) FROM people WHERE job='nurse'":                          {json.Number("1985")},
		"SELECT CAST('nan' AS DOUBLE), 1.25, TIMESTAMP '2020-01-02 03:04:05.6', DATE '2020-01-02'": {
			"NaN", json.Number("1.25"), "2020-01-02 03:04:05.6", "2020-01-02",
		},
	} {
		a, err := Ask(t.Context(), file, "", question)
		if err != nil {
			t.Errorf("%s: %v", question, err)
			continue
		}
		if len(a.Rows) != 1 || !reflect.DeepEqual(a.Rows[0], want) {
			t.Errorf("%s: %#v instead of %#v", question, a.Rows, want)
		}
	}
	a, err := Ask(t.Context(), file, "of people\"", `SELECT * FROM "of people"""`)
	if err != nil || len(a.Rows) != 3 || !reflect.DeepEqual(a.Columns, []string{"age", "job", "size", "born", "note"}) {
		t.Errorf("by another name: %v, %v", a, err)
	}
}

// Questions can reach nothing but the rows. Each of these names a file that exists.
func TestAskReachesNothingElse(t *testing.T) {
	file := write(t, "people.csv", rows)
	secret := write(t, "secret.csv", "secret\nSESAME\n")
	target := filepath.Join(filepath.Dir(file), "written")
	t.Setenv("DITHER_SECRET", "SESAME")
	t.Setenv("HOME", filepath.Dir(secret))
	for _, question := range []string{
		"SELECT * FROM read_csv('FILE')", "SELECT * FROM 'FILE'", "SELECT * FROM read_text('FILE')",
		"SELECT * FROM read_blob('FILE')", "SELECT * FROM glob('FILE')", "SELECT * FROM sniff_csv('FILE')",
		"SELECT * FROM query('SELECT * FROM read_text(''FILE'')')", "SELECT * FROM query_table('FILE')",
		"SELECT * FROM read_csv('OWN')", // not even the file that was read
		"SELECT getenv('DITHER_SECRET')", "SELECT * FROM parquet_metadata('FILE')", "SELECT * FROM read_json('FILE')",
		"SELECT * FROM enable_logging(storage = 'file', storage_path = 'TARGET')",
		"CALL enable_logging(storage = 'file', storage_path = 'TARGET')",
		"SELECT * FROM SYSTEM.main.\"Enable_Logging\"(storage = 'stdout'), people",
		"SELECT * FROM query('SELECT * FROM enable_' || 'logging(storage = ''stdout'')')", "SELECT write_log('x')",
		"SELECT (SELECT COUNT(*) FROM duckdb_secrets())", "SELECT * FROM people, LATERAL (SELECT * FROM duckdb_settings())",
		"SELECT 1 FROM people WHERE EXISTS (FROM pragma_version())", "SELECT * FROM people ORDER BY write_log('x')",
		"COPY people TO 'TARGET'", "COPY people FROM 'FILE'", "ATTACH 'TARGET' AS t", "EXPORT DATABASE 'TARGET'",
		"INSTALL httpfs", "LOAD httpfs", "SET enable_external_access = true", "RESET lock_configuration",
		"PRAGMA enable_profiling", "CREATE TABLE t AS SELECT 1", "DROP TABLE people", "DELETE FROM people",
		"UPDATE people SET age = 1", "INSERT INTO people SELECT * FROM people", "CHECKPOINT", "BEGIN",
		"PREPARE x AS SELECT 1", "EXPLAIN ANALYZE COPY people TO 'TARGET'", "EXECUTE x", "VACUUM",
		"SELECT 1; COPY people TO 'TARGET'", "COPY people TO 'TARGET'; SELECT 1", "SELECT 1; SELECT 2",
		"SELECT * FROM (COPY people TO 'TARGET')", "WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x",
		"SELECT * FROM import_database('TARGET')", "SELECT $1", "SELECT ?", "", ";", "-- nothing", "SELECT", "SELECT 1\x00",
		strings.Repeat("SELECT 1 ", 1<<14), "SELECT 1" + strings.Repeat("+1", 8000),
		"SELECT * FROM nobody", "SELECT CAST(job AS INTEGER) FROM people",
	} {
		q := strings.NewReplacer("FILE", secret, "TARGET", target, "OWN", file).Replace(question)
		a, err := Ask(t.Context(), file, "", q)
		if err == nil {
			t.Errorf("%.80s was answered: %v", question, a.Rows)
		} else if strings.Contains(err.Error(), "SESAME") {
			t.Errorf("%.80s: the error quotes the secret: %v", question, err)
		}
		if _, err := os.Stat(target); err == nil {
			t.Fatalf("%.80s wrote a file", question)
		}
	}
}

func TestAskRefusesFiles(t *testing.T) {
	folder := t.TempDir()
	home := filepath.Join(folder, "home")
	sealed := filepath.Join(home, "sealed", "people-1")
	if err := os.MkdirAll(sealed, 0o700); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(sealed, "v1.csv")
	for _, name := range []string{filepath.Join(home, "policy.yaml"), real, filepath.Join(folder, "x.txt"), filepath.Join(folder, "x.parquet")} {
		if err := os.WriteFile(name, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link, loop := filepath.Join(folder, "link.csv"), filepath.Join(folder, "loop.csv")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		real: "may be real", link: "may be real", loop: "too many links", folder: "is not a file", "/dev/null": "is not a file",
		filepath.Join(folder, "x.txt"): ".csv, .parquet or .duckdb", filepath.Join(folder, "none.csv"): "no such file",
		filepath.Join(folder, "*.csv"): "no such file", "": "is not a file", filepath.Join(folder, "x.parquet"): "parquet",
		"https://example.com/people.csv": "no such file", filepath.Join(folder, "x.txt", "y.csv"): "not a directory",
	} {
		if _, err := Ask(t.Context(), file, "t", "SELECT * FROM t"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, without %q", file, err, want)
		}
	}
	strange := write(t, "a*[b]?'.csv", rows)
	if a, err := Ask(t.Context(), strange, "t", "SELECT COUNT(*) FROM t"); err != nil || a.Rows[0][0] != json.Number("3") {
		t.Errorf("a strange name: %v, %v", a, err)
	}
}
