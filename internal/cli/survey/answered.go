package survey

import (
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// answered is an answer in all formats.
type answered struct {
	object  any        // as JSON
	records [][]string // as CSV, the first with the names
	header  []string   // of the table
	rows    [][]string
	right   []bool // whether a column of the table is aligned to the right
	words   string // below the table
}

// show prints the answer in the format that the flags ask for.
func (a answered) show(s *console.Console) error {
	switch s.Format {
	case "json":
		return s.JSON(a.object)
	case "csv":
		return s.CSV(a.records)
	case "markdown":
		s.Print("%s\n%s\n", render.MarkdownTable(a.header, a.right, a.rows), render.MarkdownParagraphs(a.words))
	default:
		s.Print("%s\n%s\n", grid(a.header, a.rows, a.right...), a.words)
	}
	return nil
}
