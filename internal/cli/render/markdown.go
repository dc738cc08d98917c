package render

import (
	"strings"
	"unicode"
)

// MarkdownText writes a text of one line so that Markdown shows it as it is: it opens no tag, code, link or emphasis, and
// ends no cell. A backslash is an entity, since renderers differ on what it does before a pipe.
func MarkdownText(s string) string {
	r := []rune(Printable(strings.Trim(s, " \r\n")))
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

// MarkdownTable is a GitHub table; right says which columns are aligned to the right. Cells are escaped, and rows that are
// short are filled up.
func MarkdownTable(header []string, right []bool, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for i := range header {
			cell := ""
			if i < len(cells) {
				cell = MarkdownText(cells[i])
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

// MarkdownList makes an item of each line of a text that is laid out in columns.
func MarkdownList(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if words := strings.Fields(l); len(words) > 0 {
			b.WriteString("- " + MarkdownText(strings.Join(words, " ")) + "\n")
		}
	}
	return b.String()
}

// MarkdownParagraphs is a text of paragraphs, whose lines are broken anyhow, in Markdown.
func MarkdownParagraphs(text string) string {
	parts := strings.Split(text, "\n\n")
	for i, p := range parts {
		parts[i] = MarkdownText(strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(parts, "\n\n")
}
