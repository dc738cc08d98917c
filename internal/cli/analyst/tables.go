package analyst

import (
	"encoding/json"
	"fmt"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// Tables is the command `dither tables`.
var Tables = console.Verb{
	Name:  "tables",
	About: "list the tables and columns that questions may use, free",
	Run:   runTables,
}

func runTables(s *console.Console, args []string) error {
	s.FormatFlag(console.AnyFormat...)
	if _, helped, err := s.Parse(args); err != nil || helped {
		return err
	}
	return s.Asking(func(c *curator.Session) error {
		tables, err := c.Tables()
		if err != nil {
			return err
		}
		if s.Format == "json" {
			text, err := json.Marshal(tables)
			s.Print("%s\n", render.PrintableJSON(text))
			return err
		}
		if s.Format == "markdown" {
			s.Print("%s", tablesMarkdown(tables))
			return nil
		}
		streams, err := c.Streams(curator.StreamOptions{})
		if err != nil { // whoever may not ask sees the tables alone
			streams = nil
		}
		for i, t := range tables {
			if i > 0 {
				s.Print("\n")
			}
			s.Print("%s\n", describeTable(t))
		}
		for _, r := range streams {
			if released := r.Released(); released > 0 && !r.Damaged {
				s.Print("\n%s: a stream, which is free; %s of %d released\n  %s\n", render.Printable(curator.SQLName(r.Name)),
					render.Plural(released, "period"), r.Periods, render.Printable(strings.Join(r.SQLColumns(), ", ")))
			}
		}
		return nil
	})
}

func describeTable(t curator.Table) string {
	var b strings.Builder
	unit := "each row is a unit"
	if t.Unit != "" {
		unit = "the unit is " + curator.SQLName(t.Unit)
	}
	if t.Through != "" {
		unit += ", through " + curator.SQLName(t.Through)
	}
	if t.Public {
		unit = "public"
	}
	fmt.Fprintf(&b, "%s: %s", render.Printable(curator.SQLName(t.Name)), render.Printable(unit))
	if t.Units > 0 {
		fmt.Fprintf(&b, "; %d units, a declared constant", t.Units)
	}
	for _, total := range t.Totals {
		if total.Column == "" {
			fmt.Fprintf(&b, "; %d rows, a declared total", total.Count)
		}
	}
	if t.ExpectedRows > 0 {
		fmt.Fprintf(&b, "; about %d rows, as declared", t.ExpectedRows)
	}
	if t.Part != "" {
		fmt.Fprintf(&b, "; a question about some values of %s is charged to those alone, and one unit counts in at "+
			"most %d of them",
			render.Printable(curator.SQLName(t.Part)), t.PartsPerUnit)
	}
	if t.Version == 0 {
		b.WriteString("; not sealed yet")
	}
	b.WriteString("\n")
	if t.Description != "" {
		fmt.Fprintf(&b, "  %s\n", render.Printable(t.Description))
	}
	if t.Limits != nil {
		fmt.Fprintf(&b, "  %s", render.BoundsLine(t.Limits))
	}
	var g render.Grid
	for _, c := range t.Columns {
		g.Add("  "+curator.SQLName(c.Name), c.Type, domain(c), c.Description)
		if c.References != "" {
			g.Add("", "", "→ "+c.References)
		}
		if c.RowsPerValue > 0 {
			g.Add("", "", fmt.Sprintf("joins: at most %s for each value", render.Plural(int(c.RowsPerValue), "row")))
		}
	}
	b.WriteString(strings.TrimRight(g.Text("  "), "\n"))
	return b.String()
}

// domain describes the declared values of a column in words.
func domain(c curator.TableColumn) string {
	out := ""
	switch {
	case c.Lower != "":
		out = c.Lower + " … " + c.Upper
	case len(c.Values) > 8:
		out = strings.Join(c.Values[:8], ", ") + fmt.Sprintf(", … (%d values)", len(c.Values))
	case c.Values != nil:
		out = strings.Join(c.Values, ", ")
	case c.Type == "boolean":
		out = "false, true"
	case c.ValuesFrom != "":
		out = "those of " + c.ValuesFrom + ", which is not sealed"
	default:
		out = "no bounds: compare only"
	}
	if c.Nullable {
		out += ", or NULL"
	}
	return out
}

// tablesMarkdown describes the tables in Markdown, with a section for each.
func tablesMarkdown(tables []curator.Table) string {
	var parts []string
	for _, t := range tables {
		about, _, _ := strings.Cut(describeTable(t), "\n")
		part := fmt.Sprintf("### %s\n\n%s\n\n",
			render.MarkdownText(t.Name), render.MarkdownText(strings.TrimPrefix(about, render.Printable(t.Name)+": ")))
		if t.Description != "" {
			part += render.MarkdownText(t.Description) + "\n\n"
		}
		if t.Limits != nil {
			part += render.MarkdownText(render.BoundsLine(t.Limits)) + "\n\n"
		}
		var rows [][]string
		for _, c := range t.Columns {
			rows = append(rows, []string{c.Name, c.Type, domain(c), c.Description})
		}
		parts = append(parts, part+render.MarkdownTable([]string{"column", "type", "values", "about"}, nil, rows))
	}
	return strings.Join(parts, "\n")
}
