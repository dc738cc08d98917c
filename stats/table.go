package stats

import (
	"strings"

	"dither/curator"
)

// tableOf finds a table of the policy.
func tableOf(c *curator.Curator, name string) (curator.Table, error) {
	tables, err := c.Tables()
	if err != nil {
		return curator.Table{}, err
	}
	for _, t := range tables {
		if strings.EqualFold(t.Name, name) {
			return t, nil
		}
	}
	return curator.Table{}, misuse("`dither tables` lists them", "there is no table %q", name)
}

// manyRows tells of a unit, or of a person, that may have several rows: these are not independent.
func manyRows(u curator.Unit) bool { return u.Column != "" && u.MaxRows != 1 || u.PersonRows > 1 }
