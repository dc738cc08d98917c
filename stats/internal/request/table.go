package request

import (
	"strings"

	"dither/curator"
)

// Table finds a table of the policy by name, ignoring case.
func Table(c *curator.Session, name string) (curator.Table, error) {
	tables, err := c.Tables()
	if err != nil {
		return curator.Table{}, err
	}
	for _, t := range tables {
		if strings.EqualFold(t.Name, name) {
			return t, nil
		}
	}
	return curator.Table{}, Misuse("`dither tables` lists them", "there is no table %q", name)
}

// ManyRows reports whether a unit or a person may have several rows. Such rows are not independent of each other.
func ManyRows(u curator.Unit) bool { return u.Column != "" && u.MaxRows != 1 || u.PersonRows > 1 }
