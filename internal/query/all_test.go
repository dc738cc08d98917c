package query

import "testing"

// GROUP BY ALL and ORDER BY ALL stand for items of the SELECT list, and positions stay as they are.
func TestAll(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a, COUNT(*) FROM t GROUP BY ALL":                              "SELECT a, count(*) FROM t GROUP BY a",
		"select a + 1 as b, c, 'x', 7, sum(d) / 2 from t group by all;":       "SELECT a + 1 AS b, c, 'x', 7, sum(d) / 2 FROM t GROUP BY a + 1, c",
		"SELECT COUNT(*) FROM t GROUP BY ALL HAVING COUNT(*) > 1":             "SELECT count(*) FROM t HAVING count(*) > 1",
		"SELECT a, MEAN(b) FROM t GROUP BY /* all */ ALL -- all":              "SELECT a, avg(b) FROM t GROUP BY a",
		"SELECT a, RANK() OVER (ORDER BY COUNT(*)) FROM t GROUP BY ALL":       "SELECT a, rank() OVER (ORDER BY count(*)) FROM t GROUP BY a",
		"SELECT n FROM (SELECT a, MAX(b) n FROM t GROUP BY ALL) q":            "SELECT n FROM (SELECT a, max(b) AS n FROM t GROUP BY a) AS q",
		"SELECT a, COUNT(*) FROM t GROUP BY ALL ORDER BY ALL DESC LIMIT 2":    "SELECT a, count(*) FROM t GROUP BY a ORDER BY 1 DESC, 2 DESC LIMIT 2",
		"SELECT a, COUNT(*) FROM t GROUP BY 1 ORDER BY ALL NULLS FIRST":       "SELECT a, count(*) FROM t GROUP BY 1 ORDER BY 1 NULLS FIRST, 2 NULLS FIRST",
		"SELECT a, mode() WITHIN GROUP (ORDER BY b) FROM t GROUP BY ALL":      "SELECT a, mode() WITHIN GROUP (ORDER BY b) FROM t GROUP BY a",
		"SELECT a, COUNT(*) FROM t WHERE b = 'group by all' GROUP BY ALL":     "SELECT a, count(*) FROM t WHERE b = 'group by all' GROUP BY a",
		`SELECT a FROM t GROUP BY "all"`:                                      `SELECT a FROM t GROUP BY "all"`,
		"SELECT a FROM t GROUP BY ALL UNION ALL SELECT b FROM u GROUP BY ALL": "SELECT * FROM (SELECT a FROM t GROUP BY a UNION ALL SELECT b FROM u GROUP BY b)",
	} {
		s, err := Parse(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		} else if got := s.String(); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	s, err := Parse("SELECT a, COUNT(*)\nFROM t GROUP BY ALL\nHAVING b > 1")
	if err != nil {
		t.Fatal(err)
	}
	if at := s.Having.Pos(); at != (Pos{Line: 3, Column: 10}) {
		t.Errorf("HAVING is at %+v", at)
	}
}
