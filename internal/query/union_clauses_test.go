package query

import (
	"strings"
	"testing"
)

// A clause that is refused after a SELECT is refused after a UNION ALL in a subquery too.
func TestClausesAfterNestedUnions(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT count(*) FROM (SELECT x FROM a UNION ALL SELECT x FROM b ORDER BY x FETCH FIRST 3 ROWS WITH TIES) c":    "WITH TIES",
		"SELECT x FROM a UNION ALL (SELECT x FROM a UNION ALL SELECT x FROM b ORDER BY x FETCH FIRST 3 ROWS WITH TIES)": "WITH TIES",
		"SELECT count(*) FROM (SELECT x FROM a UNION ALL SELECT x FROM b FOR UPDATE) c":                                 "FOR UPDATE",
	} {
		if s, err := Parse(sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", sql, s, err)
		}
	}
}
