package cli

import (
	"fmt"
	"strings"

	"dither/curator"
)

// lossShare is a part of the price.
func lossShare(l curator.Loss) string {
	text, _, _ := strings.Cut(l.String(), " (")
	return text
}

// columnShare is that of a column that is one measure.
func columnShare(c curator.Column) string {
	if c.Scale == nil && c.RankError == nil && c.Shortfall == nil {
		return "–"
	}
	return lossShare(c.Share)
}

func boundsText(b *curator.Bounds) string { return compact(b.Low) + " … " + compact(b.High) }

// foundBounds says which bounds were found.
func foundBounds(r *curator.Release) string {
	var b strings.Builder
	for _, c := range r.Columns {
		if c.Bounds != nil {
			fmt.Fprintf(&b, "%s: values held within the bounds that were found, %s\n", printable(c.Name), boundsText(c.Bounds))
		}
	}
	return b.String()
}
