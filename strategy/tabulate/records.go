package tabulate

import (
	"slices"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// numbers are the names of the columns after a cell's labels.
var numbers = []string{"value", "estimate", "stddev", "margin", "marked"}

// Header returns the names of a table's columns: level and place, if it has rows by place, its classifications, and
// those of the numbers. Names are distinct, whatever their case.
func (t *TableResult) Header() (out []string) {
	taken := slices.Clone(numbers)
	add := func(name string) {
		for slices.ContainsFunc(taken, func(x string) bool { return strings.EqualFold(x, name) }) {
			name += "_"
		}
		taken, out = append(taken, name), append(out, name)
	}
	if t.Places != "" {
		add("level")
		add(t.Places)
	}
	for _, c := range t.Columns {
		add(plain(c))
	}
	return append(out, numbers...)
}

// plain returns the name of a column that is written in quotes, and other expressions as they are.
func plain(expression string) string {
	inner, ok := strings.CutPrefix(expression, `"`)
	if inner, found := strings.CutSuffix(inner, `"`); ok && found && inner != "" && !strings.Contains(inner, `"`) {
		return inner
	}
	return expression
}

// Labels returns a cell's labels, in the order of Header.
func (t *TableResult) Labels(c *Cell) []string {
	if t.Places == "" {
		return c.Values
	}
	return append([]string{c.Level, c.Place}, c.Values...)
}

// Records returns a table as text, with its header.
func (t *TableResult) Records() [][]string {
	out := [][]string{t.Header()}
	for i := range t.Cells {
		c := &t.Cells[i]
		float := func(x float64) string { return exact.FormatFloat(x, 'g', -1) }
		out = append(out, slices.Concat(t.Labels(c), []string{
			c.Text(), float(c.Estimate), float(c.StdDev), float(c.Margin), strconv.FormatBool(c.Marked),
		}))
	}
	return out
}
