package derive_test

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/derive"
)

// An answer has the groups that WHERE leaves possible, and ORDER BY and LIMIT choose among them. Numbers keep the noise
// that they were released with.
func TestAnswersShowPossibleGroups(t *testing.T) {
	rows := people(60)
	for _, c := range []struct{ rest, want string }{
		{"WHERE g = 'a' GROUP BY g, x > 0", "a/false a/true"},
		{"WHERE x > 5 GROUP BY g, x > 0", "a/true b/true"},
		{"WHERE x > 5 OR g = 'b' GROUP BY g, x > 0", "a/true b/false b/true"},
		{"WHERE x > 5 OR g = 'b' GROUP BY g, x > 0 ORDER BY 2, 1 LIMIT 2", "b/false a/true"},
		{"WHERE x > 5 OR g = 'b' GROUP BY g, x > 0 HAVING g = 'a'", "a/true"},
		{"WHERE x > 5 AND x < 3 GROUP BY g, x > 0", ""},
		{"WHERE x > 5 AND x < 3 GROUP BY ROLLUP (g, x > 0)", ""},
		{"WHERE x > 5 GROUP BY ROLLUP (g, x > 0)", "a/true a/Σ b/true b/Σ Σ/Σ"},
		{"GROUP BY x > 9, x > 0", "?/false ?/false ?/true"}, // x > 9 without x > 0 is impossible
	} {
		columns := "g, x > 0, COUNT(*)"
		if strings.HasPrefix(c.want, "?") {
			columns = "x > 9, x > 0, COUNT(*)"
		}
		p := planOf(t, "SELECT "+columns+" FROM t "+c.rest, "1")
		answer, err := derive.New(p)
		if err != nil {
			t.Fatal(err)
		}
		numbers := noisySets(t, p, exactSets(p, rows))
		var got []string
		for _, row := range answer.Rows(numbers, 0.05) {
			text := []string{row[0].Key.String(), row[1].Key.String()}
			for i := range text {
				if row[i].Summed {
					text[i] = "Σ"
				}
			}
			if strings.HasPrefix(c.want, "?") {
				text[0] = "?"
			}
			got = append(got, strings.Join(text, "/"))
			if p.Sets == nil {
				found := false
				for _, n := range numbers {
					found = found || n[0].Cmp(row[2].Estimate.Whole) == 0
				}
				if !found {
					t.Errorf("%s: %v was not released", c.rest, row[2].Estimate.Whole)
				}
			}
		}
		if fmt.Sprint(strings.Join(got, " ")) != c.want && c.want[:min(1, len(c.want))] != "?" || len(got) != len(strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", c.rest, got, c.want)
		}
		if n := answer.Groups(); !strings.Contains(c.rest, "LIMIT") && !strings.Contains(c.rest, "HAVING") && n != len(got) {
			t.Errorf("%s: %d groups are foretold, and %d shown", c.rest, n, len(got))
		}
	}
}
