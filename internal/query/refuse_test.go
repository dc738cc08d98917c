package query

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/refusals.txt with what Parse says")

// TestRefusals runs testdata/refusals.txt: blocks of a statement, the error it meets, and the hint if there is one.
func TestRefusals(t *testing.T) {
	const file = "testdata/refusals.txt"
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(script)), "\n\n") {
		var sql []string
		for line := range strings.SplitSeq(block, "\n") {
			if !strings.HasPrefix(line, "! ") && !strings.HasPrefix(line, "> ") {
				sql = append(sql, line)
			}
		}
		got := describe(strings.Join(sql, "\n"))
		if got != block {
			t.Errorf("got:\n%s\nwant:\n%s", got, block)
		}
		out = append(out, got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func describe(sql string) string {
	s, err := Parse(sql)
	var e *Error
	switch {
	case err == nil:
		return sql + "\n! is accepted as " + s.String()
	case !errors.As(err, &e):
		return sql + "\n! " + err.Error() + " (not an *Error)"
	case e.Hint == "":
		return sql + "\n! " + e.Error()
	}
	return sql + "\n! " + e.Error() + "\n> " + e.Hint
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct{ sql, want string }{
		"bytes": {
			"SELECT '" + strings.Repeat("x", 16<<10) + "' FROM t",
			"1:1: the question has 16400 bytes, more than 16384",
		},
		"tokens": {
			"SELECT 1" + strings.Repeat("\n,1", 1023) + " FROM t",
			"1024:4: the question has 2050 words and signs, more than 2048",
		},
		"NUL":   {"SELECT a\n\x00", "2:1: the question contains a NUL character"},
		"UTF-8": {"SELECT é\xff FROM t", "1:9: the question is not valid UTF-8"},
		"name": {
			`SELECT "` + strings.Repeat(`""`, 64) + `" FROM t`,
			"1:8: a name of 64 bytes is longer than 63",
		},
		"quoted end": {
			"SELECT 1 FROM t WHERE '" + strings.Repeat("é", 500),
			"1:23: unterminated quoted string at or near",
		},
	} {
		_, err := Parse(c.sql)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || len(err.Error()) > 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, sql := range []string{
		"SELECT a" + strings.Repeat(", a", 1022) + " FROM t", // 2,048 tokens
		"SELECT '" + strings.Repeat("x", 16<<10-16) + "' FROM t",
		`SELECT "` + strings.Repeat(`""`, 63) + `" FROM t`,
		"SELECT '\uFFFD'", // a valid character
	} {
		if _, err := Parse(sql); err != nil {
			t.Error(err)
		}
	}
}

// Words and signs of other databases, at which PostgreSQL's parser stops, have hints.
func TestHabits(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a, COUNT(*) FROM t GROUP BY a QUALIFY RANK() OVER (ORDER BY COUNT(*)) < 3": "use a condition around it",
		"SELECT COUNT(*) FROM t WHERE a > {{least}}":                                       "this is a variable of a tool",
		"SELECT COUNT(*) FROM t WHERE $__timeFilter(d)":                                    "this is a variable of a tool",
		"SELECT COUNT(*) FROM t WHERE a > ?":                                               "write the value itself",
		"SELECT COUNT(*) FROM t WHERE a > :least":                                          "write the value itself",
		"SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP":                                 "write GROUP BY ROLLUP (a, b)",
		"SELECT a, COUNT(*), FROM t GROUP BY a":                                            "leave out the comma before FROM",
		"SELECT COUNT(*) FROM [t]":                                                         "leave out the quotes",
		"SELECT a, COUNT(*) FROM t GROUP BY a LIMIT 2, 3":                                  "write LIMIT 3 OFFSET 2",
		"SELECT TOP 5 a, COUNT(*) FROM t GROUP BY a":                                       "leave TOP 5 out, and write LIMIT 5 at the end",
		"SELECT DISTINCT TOP 5 a FROM t":                                                   "leave TOP 5 out, and write LIMIT 5 at the end",
		"SELECT TOP (5) a, COUNT(*) FROM t GROUP BY a":                                     "leave TOP (5) out, and write LIMIT 5 at the end",
		"SELECT TOP(5) COUNT(*) FROM t":                                                    "leave TOP(5) out, and write LIMIT 5 at the end",
		"SELECT TOP (5) WITH TIES a FROM t":                                                "leave TOP (5) WITH TIES out, and write LIMIT 5 at the end",
		"SELECT TOP 5 [a], COUNT(*) FROM [t] GROUP BY [a]":                                 "leave TOP 5 out, and write LIMIT 5 at the end; write names in double",
		"SELECT TOP 10 PERCENT a FROM t":                                                   "write LIMIT with a number of rows at the end",
		"SELECT COUNT(*) AS 'the ''n''' FROM t":                                            `a text in single quotes is no name: write "the 'n'"`,
		"SELECT COUNT(*) 'n' FROM t":                                                       "a text in single quotes is no name: write n",
		"SELECT COUNT(*) FROM 't'":                                                         "a text in single quotes is no name: write t",
		"SELECT a, COUNT(*) FROM t GROUP BY ALL, b":                                        "list the keys",
		"SELECT * FROM t GROUP BY ALL":                                                     "name the columns",
		"SELECT t.* FROM t ORDER BY ALL":                                                   "name the columns",
		"SELECT SUM(a) OVER (ORDER BY ALL) FROM t":                                         "list the columns",
		"SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY ALL":                           "list the columns",
		"SELECT COUNT(*) FROM t WHERE d > INTERVAL/**/3 MONTHS":                            "write INTERVAL '3 month'",
		"SELECT * FROM t PIVOT (SUM(n) FOR a IN ('x'))":                                    "write SUM(CASE WHEN key",
		"SELECT a b c FROM t":                                                              "",
	} {
		_, err := Parse(sql)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Hint, want) || want == "" && e.Hint != "" {
			t.Errorf("%s: %+v", sql, err)
		}
	}
}
