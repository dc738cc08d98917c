package policy

import (
	"strings"
	"time"
	_ "time/tzdata" // the rules of all zones, so that a sealed file does not depend on the computer

	"dither/internal/value"
)

// Clock says how times are understood.
type Clock struct {
	// Zone is the zone whose clocks all timestamps show. nil means UTC.
	Zone *time.Location
}

// ZoneName returns the name of the zone.
func (c Clock) ZoneName() string {
	if c.Zone == nil {
		return "UTC"
	}
	return c.Zone.String()
}

// notPublic reports whether a name of a zone means the computer's own clock, or another version of the rules, so that it
// does not mean the same everywhere.
func notPublic(name string) bool {
	switch name {
	case "Local", "localtime", "posixrules", "Factory":
		return true
	}
	return strings.HasPrefix(name, "right/") || strings.HasPrefix(name, "posix/")
}

// clock reads the zone, and tells it to the timestamp columns.
func (r *reader) clock(zone field, tables []*Table) (c Clock) {
	name, ok := zone.text()
	if !ok || name == "UTC" {
		return c
	}
	at, err := time.LoadLocation(name)
	if err != nil || name == "" || strings.TrimSpace(name) != name || notPublic(name) {
		zone.fail("write a name of the time zone database, such as Europe/London, or UTC", "unknown zone %s", quote(name))
		return c
	}
	c.Zone = at
	for _, t := range tables {
		for _, column := range t.Columns {
			if column.Type == value.Timestamp {
				column.Zone = at
			}
		}
	}
	return c
}
