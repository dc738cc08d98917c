package answer

import (
	"testing"

	"dither/curator"

	"dither/strategy"
)

// Otherwise makes choices round differently until the test ends, as another processor would.
func Otherwise(tb testing.TB) {
	before := optimise
	tb.Cleanup(func() { optimise = before })
	optimise = func(w strategy.Workload, unit strategy.Unit) (*strategy.Choice, error) {
		c, err := before(w, unit)
		if err != nil {
			return nil, err
		}
		m := c.Chosen.Matrix
		m.Rows = append([]strategy.Row(nil), m.Rows...)
		last := len(m.Rows) - 1
		entries := append([]int64(nil), m.Rows[last].Entries...)
		entries[0]++
		m.Rows[last] = strategy.Row{First: m.Rows[last].First, Entries: entries}
		c.Chosen, err = strategy.New(c.Chosen.Name, w, m, unit)
		return c, err
	}
}

// Kept reports whether the home has a choice for a workload.
func Kept(c *Column, w strategy.Workload) bool { return c.session.Choice(c.choiceOf(w)) != nil }

// Session returns the session of a column.
func Session(c *Column) *curator.Session { return c.session }
