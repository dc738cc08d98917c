package owner

import (
	"context"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// checkPolicy prints the errors of the policy file, and any other reasons why questions cannot be asked.
func checkPolicy(s *console.Console) error {
	lines, err := curator.CheckPolicy(s.Home)
	if err != nil {
		return err
	}
	for _, l := range lines {
		s.Print("%s\n", render.PrintableLines(l))
	}
	return nil
}

// abandonFlag declares --abandon, which permits changes that would lose unfinished trainings.
func abandonFlag(s *console.Console, into *bool) {
	s.Flag(into, "abandon", "", "abandon unfinished trainings that could not continue; their prices stay spent")
}

// Policy is the command `dither policy`.
var Policy = console.Verb{
	Name:  "policy",
	Args:  "check | expand | accept [--dry-run] [--abandon]",
	About: "check the policy file, record the columns of its patterns, or put a changed one in force",
	Run:   runPolicy,
}

// runPolicy checks or expands the policy file, or puts a changed one in force.
func runPolicy(s *console.Console, args []string) error {
	var o curator.AcceptOptions
	s.Flag(&o.Dry, "dry-run", "", "with accept: show what would change, and change nothing")
	abandonFlag(s, &o.Abandon)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case len(rest) == 1 && rest[0] == "check":
		return checkPolicy(s)
	case len(rest) == 1 && rest[0] == "expand":
		notes, err := curator.ExpandPolicy(s.Context(), s.Home)
		for _, n := range notes {
			s.Print("%s\n", render.PrintableLines(n))
		}
		return err
	case len(rest) == 1 && rest[0] == "accept":
		return acceptPolicy(s, o)
	}
	return console.Usage("policy check, policy expand, or policy accept [--dry-run] [--abandon]")
}

func acceptPolicy(s *console.Console, o curator.AcceptOptions) error {
	return s.With(func(c *curator.Owner) error {
		change, err := c.AcceptPolicyWith(context.Background(), o)
		if err != nil {
			return err
		}
		for _, t := range change.Stale {
			s.Note(
				"warning: the declaration of table %s has changed since it was sealed: run `dither seal`, or "+
					"questions about it are refused\n",
				render.Printable(t),
			)
		}
		for _, id := range change.Abandoned {
			s.Print("- training %s is abandoned: its price stays spent\n", id)
		}
		if len(change.Changes)+len(change.Abandoned) == 0 {
			s.Print("the policy file is the one in force\n")
			return nil
		}
		for _, text := range change.Changes {
			s.Print("- %s\n", render.PrintableLines(text))
		}
		verb := "in force now"
		if o.Dry {
			verb = "not in force yet (--dry-run)"
		}
		if change.Group > 1 {
			s.Print("losses so far count as those of a group of %d units\n", change.Group)
		}
		s.Print("spent %s of %s; %s\n", change.Spent, change.Budget, verb)
		return nil
	})
}
