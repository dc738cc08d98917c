// Package render writes what people and programs read: numbers, tables, Markdown, CSV, charts, and with these a release
// and its explanation. It reads no files and asks nothing.
package render

import (
	"strings"
	"unicode/utf8"
)

// Grid lays text out in columns.
type Grid struct {
	Rows  [][]string
	Right []bool // which columns are aligned to the right
}

// Add adds a row; whatever a cell holds, it cannot steer the terminal.
func (g *Grid) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Printable(c)
	}
	g.Rows = append(g.Rows, row)
}

// Widths are the widths of the columns, in characters.
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

// Text is the grid as lines, with a separator between columns.
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

// Ruled writes the grid with lines between its columns, and a rule in place of its second line, under the header.
func (g *Grid) Ruled() string {
	lines := strings.SplitAfter(g.Text(" │"), "\n")
	var rule []string
	for _, w := range g.Widths() {
		rule = append(rule, strings.Repeat("─", w+1))
	}
	lines[1] = strings.Join(rule, "┼") + "\n"
	return strings.Join(lines, "")
}
