package policy

import (
	"slices"
	"strings"
	"time"

	"dither/internal/value"
	"dither/internal/zone"
)

// Clock says how times are understood.
type Clock struct {
	// Zone is the zone whose clocks all timestamps show. nil means UTC.
	Zone *time.Location
	// Grain is the unit to whose start now() and CURRENT_DATE are truncated: one of value.DateUnits, "hour" or "minute".
	// "" means a day.
	Grain string
}

// Now returns the time that clocks in the zone show at a moment, truncated to the grain, in microseconds since 1970-01-01
// 00:00:00.
func (c Clock) Now(at time.Time) int64 {
	local := value.Local(at.UnixMicro(), c.Zone)
	switch {
	case slices.Contains(value.ClockUnits, c.Grain):
		return value.TimeTrunc(c.Grain, local)
	case c.Grain != "":
		return value.DateTrunc(c.Grain, value.DayOf(local)) * value.DayMicros
	}
	return value.DayOf(local) * value.DayMicros
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

// grain reads the unit to which the current time is truncated. A shorter one than a minute would make each question a
// new one.
func (r *reader) grain(f field) string {
	units := append(slices.Clone(value.DateUnits), "hour", "minute")
	switch name, ok := f.text(); {
	case !ok || name == "day":
		return ""
	case !slices.Contains(units, name):
		f.fail("write one of "+strings.Join(units, ", "), "unknown unit %s", quote(name))
		return ""
	default:
		return name
	}
}

// clock reads the zone, and tells it to the timestamp columns.
func (r *reader) clock(in, grain field, tables []*Table) (c Clock) {
	c.Grain = r.grain(grain)
	name, ok := in.text()
	if !ok || name == "UTC" {
		return c
	}
	at, err := zone.Load(name)
	if err != nil || name == "" || strings.TrimSpace(name) != name || notPublic(name) {
		in.fail("write a name of the time zone database, such as Europe/London, or UTC", "unknown zone %s", quote(name))
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
