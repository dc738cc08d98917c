package render

import (
	"strings"

	"dither/curator"
)

// ReleaseMarkdown returns the table of [ReleaseTable] in Markdown. Each line of the footer is a paragraph.
func ReleaseMarkdown(r *curator.Release) string {
	header, right := make([]string, len(r.Columns)), make([]bool, len(r.Columns))
	for i, c := range r.Columns {
		header[i], right[i] = c.Name, c.Kind == curator.Measure
	}
	rows := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		for j, c := range row {
			if c.Estimate != nil {
				rows[i] = append(rows[i], cellText(r.Columns[j], c.Estimate))
			} else {
				rows[i] = append(rows[i], cellKey(c))
			}
		}
	}
	out := MarkdownTable(header, right, rows)
	for line := range strings.Lines(footer(r)) {
		out += "\n" + MarkdownText(line) + "\n"
	}
	return out
}

// ExplanationMarkdown returns the explanation of [ExplanationText] in Markdown: its first lines as a list, and the
// columns as a table.
func ExplanationMarkdown(e *curator.Explanation) string {
	head, _, _ := strings.Cut(ExplanationText(e), "\n\n")
	var rows [][]string
	for _, c := range e.Columns {
		if c.Kind == curator.Key {
			rows = append(rows, []string{c.Name, "key"})
			continue
		}
		rows = append(
			rows,
			[]string{c.Name, c.Mechanism, columnShare(c), optional(c.Sensitivity), optional(c.Scale), forecast(c)},
		)
		for _, p := range c.Parts {
			rows = append(
				rows,
				[]string{
					c.Name + ": " + p.Name,
					p.Mechanism,
					p.Share.Amount(),
					Compact(p.Sensitivity),
					Compact(p.Scale),
				},
			)
		}
		if b := c.Bounds; b != nil {
			rows = append(
				rows,
				[]string{c.Name + ": bounds", "search", b.Share.Amount(), "", "", "within " + boundsText(b)},
			)
		}
	}
	out := MarkdownList(head) + "\n" + MarkdownTable(
		[]string{
			"column",
			"mechanism",
			"share",
			"sensitivity",
			"noise scale",
			"expected error, " + Percent(e.Confidence),
		},
		[]bool{3: true, 4: true},
		rows,
	)
	out += groupingsMarkdown(e)
	for _, n := range e.Notes {
		out += "\n" + MarkdownText(n) + "\n"
	}
	return out
}
