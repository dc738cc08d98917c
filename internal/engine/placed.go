package engine

import (
	"fmt"
	"strconv"
	"strings"

	"dither/internal/bounded"
)

// placing collects the values that must be put in order, for the aggregates of one PerUnit that are bounded.Inner.Ordered.
// Aggregates of one value share its order.
type placing struct {
	firsts map[string]int // the index of the first aggregate of each value, by the value's canonical text
	names  []string       // these indices, in order
}

// name returns the name of the value of the i-th aggregate: the index of the first aggregate of the same value.
func (p *placing) name(a bounded.Inner, i int) string {
	first, ok := p.firsts[a.X.String()]
	if !ok {
		first = i
		p.firsts[a.X.String()] = i
		p.names = append(p.names, strconv.Itoa(i))
	}
	return strconv.Itoa(first)
}

// numbered returns a SELECT of rows. For each collected value x, it adds the columns r, the place of x among the values
// of its group, counted from 1, and n, the number of these values. NULLs come last, so they have no place up to n.
// Engines number rows on disk if they must, so a group may have any number of rows.
func (p *placing) numbered(rows string, group []string) string {
	if len(p.names) == 0 {
		return rows
	}
	part := "PARTITION BY " + strings.Join(group, ", ")
	out := "SELECT *"
	for _, x := range p.names {
		out += fmt.Sprintf(", row_number() OVER (%s ORDER BY x%s ASC NULLS LAST) AS r%[2]s, count(x%[2]s) OVER (%[1]s) AS n%[2]s", part, x)
	}
	return out + " FROM (" + rows + ") AS o"
}

// placed returns the SQL of the value of the column x followed by name at the place that a and the offset describe. The
// comparisons say that r − 1 is the place, without a division. All terms are integers of at most 64 bits, because a group
// has fewer than 2⁴⁸ rows.
func placed(a bounded.Inner, offset int64, name string) string {
	place := fmt.Sprintf("n%s * %d + %d", name, a.Num, offset)
	return fmt.Sprintf("min(CASE WHEN (r%[1]s - 1) * %[2]d <= %[3]s AND %[3]s < r%[1]s * %[2]d THEN x%[1]s END)", name, a.Den, place)
}

// between returns the SQL of a bounded.InnerBetween. Engines compute each of its two values once, because both texts are
// equal. Without a value both are NULL, and so is the result.
func (d Inside) between(a bounded.Inner, name string) string {
	lower, upper := a.Places()
	from, to := placed(a, lower, name), placed(a, upper, name)
	share := fmt.Sprintf("(CAST(((max(n%s) - 1) * %d) %% %d AS %s) / %s)", name, a.Num, a.Den, d.Real, d.Double(float64(a.Den)))
	return fmt.Sprintf("least(%[1]s + (%[2]s - %[1]s) * %[3]s, %[2]s)", from, to, share)
}
