package render

import (
	"fmt"
	"math"
	"strings"

	"dither/curator"
)

// columnShare writes a column's share of the price, or – if the column is not a single measure.
func columnShare(c curator.Column) string {
	if c.Scale == nil && c.RankError == nil && c.Shortfall == nil {
		return "–"
	}
	return c.Share.Amount()
}

func boundsText(b *curator.Bounds) string { return Compact(b.Low) + " … " + Compact(b.High) }

// BoundsLine returns the line that states what bounds an answer. Numbers and their intervals are about the data
// within these bounds, so every display of an interval has this line beside it.
func BoundsLine(l *curator.Limits) string {
	if text := boundsCaption(l); text != "" {
		return text + "\n"
	}
	return ""
}

// BoundedCaption returns a picture's caption with the bounds before it.
func BoundedCaption(l *curator.Limits, caption string) string {
	if bounds := boundsCaption(l); bounds != "" {
		return bounds + ". " + caption
	}
	return caption
}

// BoundedRecords appends a column that states the bounds to the records of a CSV file, whose first is the header.
func BoundedRecords(l *curator.Limits, records [][]string) [][]string {
	if l == nil {
		return records
	}
	for i := range records {
		text := l.Text
		if i == 0 {
			text = "bounds"
		}
		records[i] = append(records[i], text)
	}
	return records
}

// boundsCaption returns the text of BoundsLine, without the end of the line.
func boundsCaption(l *curator.Limits) string {
	if l == nil {
		return ""
	}
	return "bounds: " + Printable(l.Text)
}

// shortfalls states, for each mode, how far from the most frequent value it may be. A mode has no interval.
func shortfalls(r *curator.Release) string {
	var b strings.Builder
	for _, c := range r.Columns {
		most := c.Shortfall
		for _, g := range r.Groupings {
			for _, o := range g.Orders {
				if o.Column == c.Name && o.Shortfall != nil && (most == nil || *o.Shortfall > *most) {
					most = o.Shortfall
				}
			}
		}
		if most != nil {
			fmt.Fprintf(
				&b,
				"%s: at most %s fewer than the most frequent\n",
				Printable(c.Name),
				Plural(int(math.Ceil(*most)), "row"),
			)
		}
	}
	return b.String()
}

// foundRows states the bound on rows that the question found.
func foundRows(b *curator.RowsBound) string {
	rows := Plural(int(b.Rows), "row") + " count"
	if b.Rows == 1 {
		rows = "1 row counts"
	}
	return fmt.Sprintf("for one %s, at most %s, as found; the policy's bound is %d\n",
		Printable(b.Unit), rows, b.Most)
}

// rowsToFind states how the question will find a bound on rows.
func rowsToFind(b *curator.RowsBound) string {
	return fmt.Sprintf(
		"rows       a bound for one %s is found first, for %s: the %s quantile, within %s units; at most %d\n",
		Printable(b.Unit),
		b.Share.Amount(),
		b.Quantile,
		Compact(math.Ceil(b.RankError)),
		b.Most,
	)
}
