package enginetest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
)

// What docs/reference/sql.md says that there is of functions and aggregates is among the constructs that tests must
// meet.
func TestConstructsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{ // by another name, or other than as a function
		"COUNT": true, "DISTINCT": true, "WHERE": true, "WITHIN": true, "GROUP": true, "ORDER": true, "BY": true,
		"DESC": true, "FROM": true, "C": true, "X": true, "Y": true, "Q": true, "N": true, "UNIT": true,
		"COUNTIF": true, "COUNT_IF": true, "CEILING": true, "APPROX_COUNT_DISTINCT": true, "DATE_PART": true, "FIELD": true, "DAY": true, "YEAR": true,
		"QUARTER": true, "MONTH": true, "DOW": true, "ISODOW": true, "DOY": true, "WEEK": true, "EPOCH": true,
		"ISOYEAR": true, "DECADE": true, "CENTURY": true, "MILLENNIUM": true,
	}
	for _, c := range enginetest.Constructs {
		if known[c.Name] {
			t.Errorf("%s stands twice", c.Name)
		}
		known[c.Name] = true
	}
	rows, names := 0, 0
	for line := range strings.Lines(string(text)) {
		head, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		switch head {
		case "functions", "of dates", "aggregates", "quantiles":
		default:
			continue
		}
		rows++
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(line, -1) {
			for _, name := range regexp.MustCompile(`[A-Za-z_]+[0-9]?`).FindAllString(quoted, -1) {
				if names++; !known[strings.ToUpper(name)] {
					t.Errorf("%s is no construct of enginetest.Constructs", name)
				}
			}
		}
	}
	if rows != 4 || names < 60 {
		t.Errorf("%d names in %d rows of the table were read", names, rows)
	}
}
