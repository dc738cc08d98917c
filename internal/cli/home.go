package cli

import (
	"context"
	"path/filepath"

	"dither/curator"
)

// runInit makes a home.
func runInit(s *session, args []string) error {
	var o curator.InitOptions
	s.flags.StringVar(&o.From, "from", "", "")
	s.flags.StringVar(&o.Unit, "unit", "", "")
	s.flags.StringVar(&o.Delimiter, "delimiter", "", "")
	s.flags.StringVar(&o.Null, "null", "", "")
	rest, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) > 1 || o.From == "" && o != (curator.InitOptions{}) {
		return usage("init DIR [--from FILE [--unit COLUMN] [--delimiter C] [--null TEXT]]")
	}
	if len(rest) == 1 {
		s.home = rest[0]
	}
	notes, err := curator.InitDraft(context.Background(), s.home, o)
	if err != nil {
		return err
	}
	s.print("%s is a home now\n", filepath.Clean(s.home))
	for _, n := range notes {
		s.print("%s\n", printableLines(n))
	}
	return nil
}

// checkPolicy says what is wrong with the policy file, and what still keeps questions from being asked.
func (s *session) checkPolicy() error {
	lines, err := curator.CheckPolicy(s.home)
	if err != nil {
		return err
	}
	for _, l := range lines {
		s.print("%s\n", printableLines(l))
	}
	return nil
}
