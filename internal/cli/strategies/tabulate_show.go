package strategies

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy/tabulate"
)

// mostShown is the largest number of rows of a table that a terminal shows.
const mostShown = 40

// mostWide is the largest number of values of a classification that become columns of a shown table.
const mostWide = 8

func showResult(s *console.Console, r *tabulate.Result, out string) error {
	switch s.Format {
	case "json":
		return s.JSON(r)
	case "csv":
		return s.CSV(allRecords(r))
	case "markdown":
		for i := range r.Tables {
			s.Print("%s", markdown(&r.Tables[i]))
		}
		s.Print("%s", render.MarkdownList(foot(r, out)))
		return nil
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		header, rows, right := wide(t)
		g := render.Grid{Right: right}
		g.Add(header...)
		for _, row := range rows[:min(len(rows), mostShown)] {
			g.Add(row...)
		}
		s.Print("%s\n%s", render.Printable(t.Name), g.Text("  "))
		if more := len(rows) - mostShown; more > 0 {
			s.Print("… %s more: --out FOLDER and --format csv have all\n", render.Plural(more, "row"))
		}
		s.Print("\n")
	}
	s.Print("%s", foot(r, out))
	return nil
}

// foot describes the numbers of all tables.
func foot(r *tabulate.Result, out string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	paid := "price " + r.Plan.Price.String()
	if r.Replayed {
		paid += ", released before: free"
	}
	line("released as %s, %s; %s remain", strings.Join(r.Releases, ", "), paid, r.Remaining)
	var bounds []string
	for _, g := range r.Plan.Groups {
		if text := render.BoundsLine(g.Limits); !slices.Contains(bounds, text) {
			bounds = append(bounds, text)
			b.WriteString(text)
		}
	}
	line("± is the margin of error at %s confidence; it is conservative, because it includes the rounding", render.Percent(r.Plan.Confidence))
	line("values add up exactly over all levels and tables of one release; counts are raised to 0 where noise makes them negative")
	for _, text := range r.Plan.Warnings {
		line("warning: %s", text)
	}
	if r.MarkBelow > 0 {
		line("%s marks values below %d. The mark only warns readers: it protects nobody, because the noise does that", mark, r.MarkBelow)
	}
	if out != "" {
		line("files: %s", render.Printable(out))
	}
	return b.String()
}

// mark stands beside marked values.
const mark = "◦"

func markdown(t *tabulate.TableResult) string {
	header, rows, right := wide(t)
	text := "## " + render.MarkdownText(t.Name) + "\n\n"
	if t.Description != "" {
		text += render.MarkdownText(strings.Join(strings.Fields(t.Description), " ")) + "\n\n"
	}
	return text + render.MarkdownTable(header, right, rows) + "\n"
}

// wide returns a table for people. The values of the last classification become columns if they are few.
func wide(t *tabulate.TableResult) (header []string, rows [][]string, right []bool) {
	labels := t.Header()
	labels = labels[:len(labels)-5]
	var values []string
	if len(t.Columns) > 0 {
		for _, c := range t.Cells {
			if v := c.Values[len(c.Values)-1]; !slices.Contains(values, v) {
				if values = append(values, v); len(values) > mostWide {
					break
				}
			}
		}
	}
	if n := len(values); n == 0 || n > mostWide {
		for i := range t.Cells {
			c := &t.Cells[i]
			rows = append(rows, append(slices.Clone(t.Labels(c)), cellText(c)))
		}
		return append(labels, "value"), rows, append(make([]bool, len(labels)), true)
	}
	last := len(labels) - 1
	for _, v := range values {
		header = append(header, labels[last]+": "+v)
	}
	header = append(slices.Clone(labels[:last]), header...)
	right = make([]bool, len(header))
	at := map[string]int{}
	for i := range t.Cells {
		c := &t.Cells[i]
		own := t.Labels(c)
		name := fmt.Sprintf("%q", own[:last])
		row, ok := at[name]
		if !ok {
			row = len(rows)
			at[name] = row
			rows = append(rows, append(slices.Clone(own[:last]), make([]string, len(values))...))
		}
		rows[row][last+slices.Index(values, own[last])] = cellText(c)
	}
	for i := last; i < len(right); i++ {
		right[i] = true
	}
	return header, rows, right
}

// cellText returns a value with its margin of error and its mark.
func cellText(c *tabulate.Cell) string {
	text := render.Grouped(c.Text()) + " ± " + twoDigits(c.Margin)
	if c.Marked {
		text += " " + mark
	}
	return text
}

// twoDigits writes a number with two significant digits, also if the second one is 0.
func twoDigits(x float64) string {
	text := render.TwoDigits(x)
	y, err := strconv.ParseFloat(text, 64)
	if size := math.Abs(y); err == nil && size >= 1e-3 && size < 10 {
		return strconv.FormatFloat(y, 'f', 1-int(math.Floor(math.Log10(size))), 64)
	}
	return render.Grouped(text)
}

// allRecords returns the records of all tables, with the name of the table first and the columns of all tables.
func allRecords(r *tabulate.Result) [][]string {
	header := []string{"table"}
	for i := range r.Tables {
		names := r.Tables[i].Header()
		for _, name := range names[:len(names)-5] {
			if !slices.Contains(header[1:], name) {
				header = append(header, name)
			}
		}
	}
	labels := len(header)
	out := [][]string{nil}
	for i := range r.Tables {
		records := r.Tables[i].Records()
		own := records[0][:len(records[0])-5]
		out[0] = append(slices.Clone(header), records[0][len(own):]...)
		for _, record := range records[1:] {
			row := make([]string, labels)
			row[0] = r.Tables[i].Name
			for j, name := range own {
				row[1+slices.Index(header[1:], name)] = record[j]
			}
			out = append(out, append(row, record[len(own):]...))
		}
	}
	return out
}
