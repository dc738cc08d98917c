package enginetest

import (
	"strings"

	"pgregory.net/rapid"
)

// Orders draws a question for quantiles and modes, in some cases together with sums. The planner accepts most of
// these questions.
func Orders(t *rapid.T, table string) string {
	g := generator{t}
	items := []string{g.ordered()}
	for range rapid.IntRange(0, 2).Draw(t, "more") {
		if g.chance(2) {
			items = append(items, g.ordered())
		} else {
			items = append(items, g.aggregate(table))
		}
	}
	return g.from(strings.Join(items, ", "), table) + g.groups()
}

// ordered draws a quantile or a mode.
func (g generator) ordered() string {
	filter := ""
	if g.chance(3) {
		filter = " FILTER (WHERE " + g.condition(2) + ")"
	}
	value := g.number(2)
	if g.chance(4) {
		value = g.pick("d", "e", "ts", "tu", "tc", "date_trunc('hour', ts)", "date_trunc('month', e)", "COALESCE(d, DATE '2000-01-01')")
	}
	switch g.pick("median", "within", "within", "pair", "several", "mode") {
	case "median":
		return "MEDIAN(" + value + ")" + filter
	case "within":
		return g.pick("PERCENTILE_CONT", "PERCENTILE_DISC") + "(" + g.pick("0", "0.5", "0.25", "0.9999", "1") +
			") WITHIN GROUP (ORDER BY " + value + g.pick("", " DESC") + ")" + filter
	case "pair":
		return g.pick("PERCENTILE_CONT", "PERCENTILE_DISC") + "(" + value + ", " + g.pick("0.5", "0.1") + ")" + filter
	case "several":
		return "APPROX_QUANTILES(" + value + ", " + g.pick("1", "3", "4") + ")" + filter
	}
	return "MODE() WITHIN GROUP (ORDER BY " + g.group() + ")" + filter
}
