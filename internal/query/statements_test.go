package query

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A semicolon splits a text only where PostgreSQL ends a statement.
func TestStatements(t *testing.T) {
	for sql, want := range map[string][]string{
		"":                                  nil,
		" ;; -- nothing; at all\n;/* ; */":  nil,
		"SELECT 1; SELECT 2":                {"SELECT 1", "SELECT 2"},
		"\uFEFFSELECT 1;":                   {"SELECT 1"},
		`SELECT ';', ";" ; SELECT 'it''s;'`: {`SELECT ';', ";"`, `SELECT 'it''s;'`},
		`SELECT E'\';', 1; SELECT E'\\'; SELECT '\'; SELECT 4`: {`SELECT E'\';', 1`, `SELECT E'\\'`, `SELECT '\'`, "SELECT 4"},
		"SELECT $$;'$$; SELECT $a$ $$; $b$ ; $a$; SELECT 3":    {"SELECT $$;'$$", "SELECT $a$ $$; $b$ ; $a$", "SELECT 3"},
		"SELECT U&'\\0027;'; SELECT B'0;'":                     {"SELECT U&'\\0027;'", "SELECT B'0;'"},
		"SELECT 1 /* a; /* b; */ c; */; SELECT 2":              {"SELECT 1 /* a; /* b; */ c; */", "SELECT 2"},
		"SELECT 1 -- a; 'b\n; SELECT 2":                        {"SELECT 1 -- a; 'b", "SELECT 2"},
		"SELECT 'ä;'; SELECT \"ö;\"":                           {"SELECT 'ä;'", "SELECT \"ö;\""},
		// a text may continue on the next line
		"SELECT 'a;'\n';b'; SELECT 2": {"SELECT 'a;'\n';b'", "SELECT 2"},
	} {
		got, err := Statements(sql)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", sql, got, err, want)
		}
	}
	for _, sql := range []string{
		"SELECT 1; SELECT 'a", "SELECT $$a; SELECT 2", "SELECT /* a; SELECT 2", `SELECT "a; SELECT 2`, `SELECT E'\'; SELECT 2`,
		"SELECT 1;\x00 SELECT 2", "SELECT '\xff'; SELECT 2", strings.Repeat("SELECT 1; ", maxStatements/10+1),
	} {
		var e *Error
		if got, err := Statements(sql); !errors.As(err, &e) || e.Pos.Line == 0 {
			t.Errorf("%.40q: %.40q, %v", sql, got, err)
		}
	}
}

// FuzzStatements checks that no text makes Statements fail without an *Error, and that splitting a piece again changes
// nothing.
func FuzzStatements(f *testing.F) {
	f.Add("SELECT E'\\';' ; $$;$$ -- ;\n/* ; */;")
	f.Fuzz(func(t *testing.T, sql string) {
		all, err := Statements(sql)
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		for _, one := range all {
			if again, err := Statements(one); err != nil || len(again) != 1 || again[0] != one {
				t.Fatalf("%q: %q, %v", one, again, err)
			}
		}
	})
}
