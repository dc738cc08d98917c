package render

import (
	"fmt"
	"strings"

	"dither/curator"
)

// ReleaseTable returns an answer as a table for the user. Each number has its error bar.
func ReleaseTable(r *curator.Release) string {
	var g Grid
	header := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		header[i] = " " + Printable(c.Name)
		g.Right = append(g.Right, c.Kind == curator.Measure)
	}
	g.Add(header...)
	g.Add() // Ruled replaces this row by a rule
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			if c.Estimate != nil {
				cells[i] = " " + cellText(r.Columns[i], c.Estimate)
			} else {
				cells[i] = " " + cellKey(c)
			}
		}
		g.Add(cells...)
	}
	return g.Ruled() + footer(r)
}

// withoutIntervals names the columns that have no interval, each with the reason.
func withoutIntervals(r *curator.Release) string {
	text := ""
	for _, c := range r.Columns {
		if c.NoInterval != "" {
			text += fmt.Sprintf("%s has no interval: %s\n", Printable(c.Name), c.NoInterval)
		}
	}
	return text
}

func footer(r *curator.Release) string {
	if r.Free {
		text := noteLines(r.Notes) + withoutIntervals(r) + BoundsLine(r.Limits) + fmt.Sprintf("%s, remaining %s", paid(r), r.Remaining)
		if r.Limits != nil { // released numbers of a stream, with intervals
			text += fmt.Sprintf("; %s intervals cover noise, not sampling", Percent(r.Confidence))
		}
		return text + "\n"
	}
	empty := ""
	if len(r.Rows) == 0 {
		empty = "no rows: no group was released, or HAVING, LIMIT or OFFSET left none\n"
	}
	found := ""
	if r.RowsBound != nil {
		found = foundRows(r.RowsBound)
	}
	return empty + found + shortfalls(r) + withoutIntervals(r) + measuredLines(r) + noteLines(r.Notes) +
		TruncationLines(r.Truncation) + fmt.Sprintf(
		"%s, remaining %s; %s intervals cover noise, not sampling (%s)\n",
		paid(r),
		r.Remaining,
		Percent(r.Confidence),
		releases(r),
	)
}

// measuredLines states what bounds an answer. If several questions were measured, it names each with its release, its
// bounds, and what these cut.
func measuredLines(r *curator.Release) (out string) {
	if len(r.Questions) == 0 {
		return BoundsLine(r.Limits)
	}
	for _, m := range r.Questions {
		price := m.Price.String()
		if m.Replayed {
			price = "released before: free"
		}
		out += fmt.Sprintf("measured %s: %s (%s)\n", m.ID, Printable(m.SQL), price)
		if bounds := BoundsLine(m.Limits); bounds != "" {
			out += "  " + bounds
		}
		for line := range strings.Lines(TruncationLines(m.Truncation)) {
			out += "  " + line
		}
	}
	return out
}

// releases names the releases of an answer.
func releases(r *curator.Release) string {
	if len(r.Questions) == 0 {
		return r.ID
	}
	var names []string
	for _, m := range r.Questions {
		names = append(names, m.ID)
	}
	return strings.Join(names, ", ")
}

// noteLines returns a line for each note.
func noteLines(notes []string) (out string) {
	for _, note := range notes {
		out += "note: " + note + "\n"
	}
	return out
}

// notesText returns the notes of an answer, and the reasons why numbers have no interval, as one line.
func notesText(r *curator.Release) string {
	lines := strings.TrimSuffix(withoutIntervals(r), "\n")
	if lines != "" {
		lines = strings.ReplaceAll(lines, "\n", ". ") + "."
	}
	for _, note := range r.Notes {
		switch {
		case lines == "":
		case strings.HasSuffix(lines, "."):
			lines += " "
		default:
			lines += "; "
		}
		lines += note
	}
	return lines
}
