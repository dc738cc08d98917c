package render

import (
	"strings"
	"unicode"
)

// MarkdownText escapes a line of text so that Markdown shows it unchanged. The result contains no tag, code, link,
// emphasis or end of a table cell. A backslash becomes an entity, because renderers differ on a backslash before a
// pipe.
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
		case '_': // needs no escape within a word
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

// MarkdownTable returns a GitHub table. The list `right` marks the columns that are aligned to the right. Cells are
// escaped, and short rows are padded.
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

// MarkdownList turns each line of a text into a list item.
func MarkdownList(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if words := strings.Fields(l); len(words) > 0 {
			b.WriteString("- " + MarkdownText(strings.Join(words, " ")) + "\n")
		}
	}
	return b.String()
}

// MarkdownParagraphs returns a text of paragraphs as Markdown. Its line breaks may be anywhere.
func MarkdownParagraphs(text string) string {
	parts := strings.Split(text, "\n\n")
	for i, p := range parts {
		parts[i] = MarkdownText(strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(parts, "\n\n")
}
