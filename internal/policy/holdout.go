package policy

import (
	"strings"

	"dither/internal/value"
)

// holdout reads the share of units that a column holds out.
func (r *reader) holdout(keys map[string]field, c *Column) {
	f := keys["holdout"]
	s, ok := f.text()
	if !ok {
		return
	}
	share, err := percentage(s)
	switch {
	case err != nil || !strings.HasSuffix(strings.TrimSpace(s), "%"):
		f.fail("write, for example, 20%", "not a share of the units: %s", quote(s))
	case c.Type != value.Boolean || c.Nullable || c.ValuesFrom != nil || len(c.Values) > 0 || c.Invalid != InvalidRefused:
		f.failKey("declare it as {type: boolean, holdout: 20%}", "a column that holds units out is boolean, and has no other keys")
	default:
		c.Holdout = share
	}
}

// holdouts refuses a column that holds units out in a table whose sealing cannot set it.
func (r *reader) holdouts(f field, t *Table) {
	n := 0
	for _, c := range t.Columns {
		if c.Holdout == nil {
			continue
		}
		switch n++; {
		case n > 1:
			f.failKey("", "a table has at most one column that holds units out")
		case t.Public:
			f.failKey("", "a public table has no units to hold out")
		case t.Unit.Through != "":
			f.failKey("declare the holdout in the table that the reference leads to", "table %s has no column that identifies its units", quote(t.Name))
		case t.Unit.Column == c.Name:
			f.failKey("", "the column that holds units out does not identify them")
		case t.Source.Live() || t.Source.Format.Typed():
			f.failKey("use a source in CSV, JSON lines or Excel", "holdouts are not supported for sources of format %s", string(t.Source.Format))
		}
	}
}
