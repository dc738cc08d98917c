package cli

import (
	"fmt"
	"strings"
	"unicode"

	"dither/curator"
)

// markdownText writes a text of one line so that Markdown shows it as it is: it opens no tag, code, link or emphasis, and
// ends no cell. A backslash is an entity, since renderers differ on what it does before a pipe.
func markdownText(s string) string {
	r := []rune(printable(strings.Trim(s, " \r\n")))
	var b strings.Builder
	for i, c := range r {
		switch c {
		case '\\':
			b.WriteString("&#92;")
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '_': // within a word it is only itself
			if i == 0 || i == len(r)-1 || !wordly(r[i-1]) || !wordly(r[i+1]) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		case '|', '`', '*', '[', ']', '~', '$':
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// markdownTable is a GitHub table; right says which columns are aligned to the right. Cells are escaped, and rows that are
// short are filled up.
func markdownTable(header []string, right []bool, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for i := range header {
			cell := ""
			if i < len(cells) {
				cell = markdownText(cells[i])
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	line(header)
	for i := range header {
		if i < len(right) && right[i] {
			b.WriteString("| --: ")
		} else {
			b.WriteString("| --- ")
		}
	}
	b.WriteString("|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// markdownList makes an item of each line of a text that is laid out in columns.
func markdownList(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if words := strings.Fields(l); len(words) > 0 {
			b.WriteString("- " + markdownText(strings.Join(words, " ")) + "\n")
		}
	}
	return b.String()
}

// releaseMarkdown is releaseTable in Markdown.
func releaseMarkdown(r *curator.Release) string {
	header, right := make([]string, len(r.Columns)), make([]bool, len(r.Columns))
	for i, c := range r.Columns {
		header[i], right[i] = c.Name, c.Kind == curator.Measure
	}
	rows := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		for _, c := range row {
			if c.Estimate != nil {
				rows[i] = append(rows[i], withError(c.Estimate))
			} else {
				rows[i] = append(rows[i], cellKey(c))
			}
		}
	}
	return markdownTable(header, right, rows) + "\n" + markdownText(footer(r)) + "\n"
}

// explanationMarkdown is explanationText in Markdown: its first lines as they are, and the columns as a table.
func explanationMarkdown(e *curator.Explanation) string {
	head, _, _ := strings.Cut(explanationText(e), "\n\n")
	var rows [][]string
	for _, c := range e.Columns {
		if c.Kind == curator.Key {
			rows = append(rows, []string{c.Name, "key"})
			continue
		}
		rows = append(rows, []string{c.Name, c.Mechanism, columnShare(c), optional(c.Sensitivity), optional(c.Scale), forecast(c)})
		for _, p := range c.Parts {
			rows = append(rows, []string{c.Name + ": " + p.Name, p.Mechanism, lossShare(p.Share), compact(p.Sensitivity), compact(p.Scale)})
		}
		if b := c.Bounds; b != nil {
			rows = append(rows, []string{c.Name + ": bounds", "search", lossShare(b.Share), "", "", "within " + boundsText(b)})
		}
	}
	out := markdownList(head) + "\n" + markdownTable(
		[]string{"column", "mechanism", "share", "sensitivity", "noise scale", "expected error, " + percent(e.Confidence)}, []bool{3: true, 4: true}, rows,
	)
	out += groupingsMarkdown(e)
	for _, n := range e.Notes {
		out += "\n" + markdownText(n) + "\n"
	}
	return out
}

// tablesMarkdown is what may be asked about, in Markdown: a section for each table.
func tablesMarkdown(tables []curator.Table) string {
	var parts []string
	for _, t := range tables {
		about, _, _ := strings.Cut(describeTable(t), "\n")
		part := fmt.Sprintf("### %s\n\n%s\n\n", markdownText(t.Name), markdownText(strings.TrimPrefix(about, printable(t.Name)+": ")))
		if t.Description != "" {
			part += markdownText(t.Description) + "\n\n"
		}
		var rows [][]string
		for _, c := range t.Columns {
			rows = append(rows, []string{c.Name, c.Type, domain(c), c.Description})
		}
		parts = append(parts, part+markdownTable([]string{"column", "type", "values", "about"}, nil, rows))
	}
	return strings.Join(parts, "\n")
}

// budgetMarkdown is what showBudget prints, as a list.
func budgetMarkdown(b *curator.Budget) string {
	var text strings.Builder
	words := session{stdout: &text}
	words.showBudget(b)
	return markdownList(text.String())
}
