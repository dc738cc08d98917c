// Package render formats results for people and programs: numbers, tables, Markdown, CSV and charts, and with these
// a release and its explanation. It does not read files or ask questions.
package render

import (
	"strings"
	"unicode/utf8"
)

// Grid is a table of text in aligned columns.
type Grid struct {
	Rows  [][]string
	Right []bool // columns that are aligned to the right
}

// Add adds a row. It replaces control characters in the cells.
func (g *Grid) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Printable(c)
	}
	g.Rows = append(g.Rows, row)
}

// Widths returns the width of each column, in characters.
func (g *Grid) Widths() []int {
	var w []int
	for _, row := range g.Rows {
		for i, c := range row {
			if i == len(w) {
				w = append(w, 0)
			}
			w[i] = max(w[i], utf8.RuneCountInString(c))
		}
	}
	return w
}

// Text returns the grid as lines, with a separator between the columns.
func (g *Grid) Text(separator string) string {
	w := g.Widths()
	var b strings.Builder
	for _, row := range g.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			pad := strings.Repeat(" ", w[i]-utf8.RuneCountInString(c))
			if i < len(g.Right) && g.Right[i] {
				cells[i] = pad + c
			} else {
				cells[i] = c + pad
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, separator), " ") + "\n")
	}
	return b.String()
}

// Ruled returns the grid with lines between its columns. Its second row must be empty, and becomes a rule below the
// header.
func (g *Grid) Ruled() string {
	lines := strings.SplitAfter(g.Text(" │"), "\n")
	var rule []string
	for _, w := range g.Widths() {
		rule = append(rule, strings.Repeat("─", w+1))
	}
	lines[1] = strings.Join(rule, "┼") + "\n"
	return strings.Join(lines, "")
}
