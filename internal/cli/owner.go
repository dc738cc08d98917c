package cli

import (
	"context"
	"os"
	"strconv"

	"dither/curator"
)

// sealVerb is `dither seal`.
var sealVerb = verb{
	name:  "seal",
	args:  "[TABLE …] [--shared] [--copy SCHEMA] [--abandon] | --remove N|old TABLE …",
	about: "read the sources into numbered private versions (owner)",
	run:   runSeal,
}

// runSeal seals the tables that are named, or all.
func runSeal(s *session, args []string) error {
	var o curator.SealOptions
	remove := ""
	s.flag(&o.Shared, "shared", "",
		"seal although another home has sealed the same source: what both answer then adds up")
	s.abandonFlag(&o.Abandon)
	s.flag(&o.Copy, "copy", "SCHEMA",
		"of tables on a PostgreSQL server: make a copy in that schema, which questions then read")
	s.flag(&remove, "remove", "N",
		"remove the file of an old version of TABLE, or of all old ones: old; its number and digest stay")
	names, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	if remove != "" {
		return s.removeVersions(names, remove)
	}
	return s.with(func(c *curator.Curator) error {
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
			if err := s.seal(c, name, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeVersions removes the files of old versions of tables.
func (s *session) removeVersions(tables []string, which string) error {
	number, err := strconv.Atoi(which)
	var numbers []int
	switch {
	case len(tables) == 0 || err == nil && len(tables) > 1 || err != nil && which != "old":
		return usage("seal --remove N TABLE, or seal --remove old TABLE …")
	case err == nil:
		numbers = []int{number}
	}
	return s.with(func(c *curator.Curator) error {
		for _, table := range tables {
			removed, err := c.RemoveVersions(s.context(), table, numbers...)
			for _, n := range removed {
				s.print("table %s: the file of version %d is removed; its number and digest stay\n", printable(table), n)
			}
			if err != nil {
				return err
			}
			if len(removed) == 0 {
				s.print("table %s has no old version\n", printable(table))
			}
		}
		return nil
	})
}

// seal seals one table, with progress where a person watches, and prints the owner's report on stderr: an answer on stdout
// stays an answer.
func (s *session) seal(c *curator.Curator, table string, o curator.SealOptions) error {
	watched := isTerminal(s.stderr)
	if watched {
		o.Progress = func(rows, bytes, total int64) {
			if total > 0 {
				s.note("\rsealing %s: %d rows, %d %%", printable(table), rows, 100*bytes/total)
			}
		}
	}
	report, err := c.Seal(s.context(), table, o)
	if watched {
		s.note("\r\033[K")
	}
	if err != nil {
		return err
	}
	s.note("%s", printableLines(report.Text))
	return nil
}

// sealMissing seals a table that never had a version: the first use.
func (s *session) sealMissing(c *curator.Curator, table string) error {
	tables, err := c.Tables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.Name == table && t.NeverSealed {
			if err := s.seal(c, t.Name, curator.SealOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// abandonFlag is of what would lose unfinished trainings.
func (s *session) abandonFlag(into *bool) {
	s.flag(into, "abandon", "",
		"with accept, and of seal: give up unfinished trainings that would be lost; their prices stay spent")
}

// isTerminal reports whether a person is likely to be looking.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// policyVerb is `dither policy`.
var policyVerb = verb{
	name:  "policy",
	args:  "check | accept [--dry-run] [--abandon]",
	about: "check the policy file; put a changed one in force",
	run:   runPolicy,
}

// runPolicy checks the policy file, or puts a changed one in force.
func runPolicy(s *session, args []string) error {
	var o curator.AcceptOptions
	s.flag(&o.Dry, "dry-run", "", "with accept: say what would change, and change nothing")
	s.abandonFlag(&o.Abandon)
	rest, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case len(rest) == 1 && rest[0] == "check":
		return s.checkPolicy()
	case len(rest) == 1 && rest[0] == "accept":
		return s.acceptPolicy(o)
	}
	return usage("policy check, or policy accept [--dry-run] [--abandon]")
}

func (s *session) acceptPolicy(o curator.AcceptOptions) error {
	return s.with(func(c *curator.Curator) error {
		change, err := c.AcceptPolicyWith(context.Background(), o)
		if err != nil {
			return err
		}
		for _, t := range change.Stale {
			s.note("warning: the declaration of table %s changed since it was sealed: questions about it wait for `dither seal`\n", printable(t))
		}
		for _, id := range change.Abandoned {
			s.print("- training %s is given up: its price stays spent\n", id)
		}
		if len(change.Changes)+len(change.Abandoned) == 0 {
			s.print("the policy file is the one in force\n")
			return nil
		}
		for _, text := range change.Changes {
			s.print("- %s\n", printableLines(text))
		}
		verb := "in force now"
		if o.Dry {
			verb = "not in force yet (--dry-run)"
		}
		if change.Group > 1 {
			s.print("losses so far count as for a group of %d units\n", change.Group)
		}
		s.print("spent %s of %s; %s\n", change.Spent, change.Budget, verb)
		return nil
	})
}
