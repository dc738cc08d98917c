package render

import (
	"math"
	"strings"

	"dither/curator"
)

// groupingsText lists, for each grouping set, its share of the price, its noise and the error of its rows.
func groupingsText(e *curator.Explanation) string {
	if len(e.Groupings) == 0 {
		return ""
	}
	out := ""
	for _, table := range groupingTables(e) {
		var g Grid
		for _, row := range table {
			row[0] = " " + row[0]
			g.Add(row...)
		}
		out += "\n" + g.Text("  ")
	}
	return out
}

// groupingsMarkdown is [groupingsText] in Markdown.
func groupingsMarkdown(e *curator.Explanation) string {
	if len(e.Groupings) == 0 {
		return ""
	}
	out := ""
	for _, table := range groupingTables(e) {
		out += "\n" + MarkdownTable(table[0], make([]bool, len(table[0])), table[1:])
	}
	return out
}

// groupingTables returns two tables: the noisy vectors of each grouping set, and the errors of its rows after all
// sets are fitted together.
func groupingTables(e *curator.Explanation) [2][][]string {
	vectors := [][]string{{"rows by", "rows", "noisy vector", "share", "sensitivity", "noise scale"}}
	fitted := [][]string{{"rows by", "column", "expected error once fitted, " + Percent(e.Confidence)}}
	for _, s := range e.Groupings {
		by, rows := groupedBy(s), Plural(s.Cells, "row")
		for _, v := range s.Vectors {
			vectors = append(
				vectors,
				[]string{
					by,
					rows,
					v.Name + ": " + v.Mechanism,
					v.Share.String(),
					Compact(v.Sensitivity),
					Compact(v.Scale),
				},
			)
			by, rows = "", ""
		}
		for _, x := range s.Orders {
			vectors = append(
				vectors,
				[]string{by, rows, Printable(x.Column) + ": " + x.Mechanism, x.Share.Amount(), "", ""},
			)
			by, rows = "", ""
		}
		by = groupedBy(s)
		for _, x := range s.Orders {
			of := curator.Column{
				RankError:    x.RankError,
				IntervalRows: x.IntervalRows,
				Shortfall:    x.Shortfall,
				Expected:     &curator.Expected{},
			}
			fitted = append(fitted, []string{by, x.Column, forecast(of)})
			by = ""
		}
		for _, x := range s.Expected {
			fitted = append(fitted, []string{by, x.Column, forecast(curator.Column{Expected: &x.Expected})})
			by = ""
		}
	}
	return [2][][]string{vectors, fitted}
}

func groupedBy(g curator.Grouping) string {
	if len(g.Keys) == 0 {
		return "(total)"
	}
	return strings.Join(g.Keys, ", ")
}

// reuseErrors states the errors of an answer from earlier releases.
func reuseErrors(r *curator.Reuse) string {
	out := ""
	for _, x := range r.Expected {
		if math.IsNaN(x.HalfWidth) && math.IsNaN(x.HalfWidthTimesN) {
			continue
		}
		out += ", " + Printable(x.Column) + " " + forecast(curator.Column{Expected: &x.Expected})
		if r.Differ {
			out += " at most"
		}
	}
	return out
}

// paid states what an answer cost.
func paid(r *curator.Release) string {
	switch {
	case r.Free:
		return "free: no private row was read"
	case r.From != nil:
		return "answered from " + strings.Join(r.From, ", ") + ", at no cost"
	case r.Replayed:
		return "released before: free"
	}
	if r.Paid != nil {
		return "price " + r.Paid.String() + " (" + r.Price.String() + " less what was released before)"
	}
	return "price " + r.Price.String()
}
