package owner

import (
	"strconv"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// Seal is the command `dither seal`.
var Seal = console.Verb{
	Name:  "seal",
	Args:  "[TABLE …] [--shared] [--copy SCHEMA] [--abandon] | --remove N|old TABLE …",
	About: "read the sources into numbered private versions (owner)",
	Run:   runSeal,
}

// runSeal seals the named tables, or all tables.
func runSeal(s *console.Console, args []string) error {
	var o curator.SealOptions
	remove := ""
	s.Flag(&o.Shared, "shared", "",
		"seal although another home has sealed the same source: the losses of both homes add up")
	abandonFlag(s, &o.Abandon)
	s.Flag(&o.Copy, "copy", "SCHEMA",
		"for tables on a PostgreSQL server: copy them into that schema; questions then read the copy")
	s.Flag(&remove, "remove", "N",
		"remove the file of version N of TABLE, or of all old versions if N is old; numbers and digests stay")
	names, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if remove != "" {
		return removeVersions(s, names, remove)
	}
	return s.With(func(c *curator.Owner) error {
		if len(names) == 0 {
			tables, err := c.Tables()
			if err != nil {
				return err
			}
			for _, t := range tables {
				names = append(names, t.Name)
			}
		}
		for _, name := range names {
			if err := s.Seal(c, name, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeVersions removes files of old versions of tables. The text `which` is the number of a version, or "old" for all
// old versions.
func removeVersions(s *console.Console, tables []string, which string) error {
	number, err := strconv.Atoi(which)
	var numbers []int
	switch {
	case len(tables) == 0 || err == nil && len(tables) > 1 || err != nil && which != "old":
		return console.Usage("seal --remove N TABLE, or seal --remove old TABLE …")
	case err == nil:
		numbers = []int{number}
	}
	return s.With(func(c *curator.Owner) error {
		for _, table := range tables {
			removed, err := c.RemoveVersions(s.Context(), table, numbers...)
			for _, n := range removed {
				s.Print("table %s: the file of version %d is removed; its number and digest stay\n",
					render.Printable(table), n)
			}
			if err != nil {
				return err
			}
			if len(removed) == 0 {
				s.Print("table %s has no old version\n", render.Printable(table))
			}
		}
		return nil
	})
}
