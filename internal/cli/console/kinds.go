package console

import (
	"slices"
	"strings"

	"dither/internal/nearest"
)

// Kinds runs a command whose first argument names a kind, on which its flags depend. The function declare declares the
// flags of the kind with the given index, or the flags of all kinds for −1, which help and completion use. The function
// run runs the kind after its flags are parsed.
func (s *Console) Kinds(verb string, kinds, args []string, declare func(kind int), run func(kind int) error) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		declare(-1)
		if _, helped, err := s.Parse(args); err != nil || helped {
			return err
		}
		return Usage("%s needs one of %s", verb, strings.Join(kinds, ", "))
	}
	kind := slices.Index(kinds, args[0])
	if kind < 0 {
		return Usage(
			"there is no %s %q%s; choose one of %s",
			verb,
			args[0],
			DidYouMean(nearest.Name(args[0], kinds)),
			strings.Join(kinds, ", "),
		)
	}
	declare(kind)
	rest, helped, err := s.Parse(args[1:])
	switch {
	case err != nil || helped:
		return err
	case len(rest) > 0:
		return Usage("%s %s takes only flags, not %q", verb, args[0], rest[0])
	}
	return run(kind)
}

// HelpOf makes the help of the current command that of one of its kinds: its description, the arguments of its usage line,
// and the text below its flags.
func (s *Console) HelpOf(kind, about, args, more string) {
	s.verb.Name, s.verb.About, s.verb.Args = s.verb.Name+" "+kind, about, args
	s.verb.More = func(*Console) string { return more }
}
