package cli

import (
	"context"
	"path/filepath"

	"dither/curator"
)

// initVerb is `dither init`.
var initVerb = verb{
	name:  "init",
	args:  "DIR [--from FILE [--unit COLUMN] [--delimiter C] [--null TEXT]]",
	about: "make a home: a ledger, and a draft of its policy",
	run:   runInit,
}

// runInit makes a home.
func runInit(s *session, args []string) error {
	var o curator.InitOptions
	s.flag(&o.From, "from", "FILE",
		"draft the policy from a CSV (or .csv.gz), Parquet or .duckdb file: names and types")
	s.flag(&o.Unit, "unit", "COLUMN", "the column of FILE that identifies a person (default: each row is a unit)")
	s.flag(&o.Delimiter, "delimiter", "C", "between the fields of a CSV file: ';', '|', tab, … (default ',')")
	s.flag(&o.Null, "null", "TEXT",
		"an unquoted field of a CSV file that reads so is NULL, as NA (default: an empty one)")
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
