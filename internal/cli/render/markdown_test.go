package render

import (
	"strings"
	"testing"

	"dither/curator"
)

func TestMarkdownText(t *testing.T) {
	for in, want := range map[string]string{
		"person_years":    "person_years",
		"_emphasis_":      `\_emphasis\_`,
		"COUNT(*)":        `COUNT(\*)`,
		"a|b":             `a\|b`,
		`a\|b`:            `a&#92;\|b`,
		`ends in \`:       `ends in &#92;`,
		"`code`":          "\\`code\\`",
		"two\nlines\r\n":  "two·lines",
		"<b>&amp;</b>":    "&lt;b&gt;&amp;amp;&lt;/b&gt;",
		"[x](http://y.z)": `\[x\](http://y.z)`,
		"~~$x$~~":         `\~\~\$x\$\~\~`,
		"\x1b[31m\u202e":  `·\[31m·`,
		"\u2028":          "·",
		"57.2 ± 1.3":      "57.2 ± 1.3",
	} {
		if got := MarkdownText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Whatever names and keys hold, each line of the table has as many cells as the head.
func TestMarkdownTableHolds(t *testing.T) {
	hostile := []string{"a|b", `\`, `\\|`, "`|`", "x\ny", "|---|", "", "<td>", "\r", "\\", "` | `"}
	columns := []curator.Column{keyColumn("k|e\ny\\")}
	var rows []curator.Row
	for _, h := range hostile {
		columns = append(columns, countColumn(h))
		row := curator.Row{key(h)}
		for range hostile {
			row = append(row, about(3))
		}
		rows = append(rows, row)
	}
	table, _, _ := strings.Cut(ReleaseMarkdown(release(columns, rows...)), "\n\n")
	lines := strings.Split(table, "\n")
	if len(lines) != 2+len(rows) {
		t.Fatalf("%d lines for %d rows", len(lines), len(rows))
	}
	for _, l := range lines {
		if cells := strings.Count(strings.ReplaceAll(l, `\|`, ""), "|") - 1; cells != len(columns) {
			t.Errorf("%d cells: %s", cells, l)
		}
		if strings.Contains(strings.NewReplacer(`\|`, "", "\\`", "", `\[`, "", `\]`, "", `\_`, "").Replace(l), `\`) {
			t.Errorf("a backslash that a pipe may follow: %s", l)
		}
	}
}
