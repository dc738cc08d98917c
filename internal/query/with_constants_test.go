package query

import (
	"fmt"
	"strings"
	"testing"
)

// Names of WITH that use an earlier name twice would double at each step, also if they read no table.
func TestConstantsOfWithDoNotDouble(t *testing.T) {
	for _, from := range []string{"", " FROM (VALUES (1)) v (a)"} {
		sql := "WITH c0 AS (SELECT 1 AS x" + from + ")"
		for i := range 60 {
			sql += fmt.Sprintf(", c%d AS (SELECT (SELECT x FROM c%d) + (SELECT x FROM c%d) AS x%s)", i+1, i, i, from)
		}
		for _, sql := range []string{
			sql + " SELECT COUNT(*) FROM visits WHERE cost > (SELECT x FROM c60)",
			sql + " SELECT (SELECT x FROM c60)",
			"SELECT COUNT(*) FROM visits WHERE cost > (" + sql + " SELECT x FROM c60)",
		} {
			_, err := Parse(sql)
			if from == "" && (err == nil || !strings.Contains(err.Error(), "more than 16 tables")) || err == nil {
				t.Errorf("%.60s …: %v", sql, err)
			}
		}
	}
	if _, err := Parse("WITH c AS (SELECT 1 AS x) SELECT COUNT(*) FROM visits WHERE cost > (SELECT x FROM c) AND days < (SELECT x FROM c)"); err != nil {
		t.Error(err)
	}
}
