// Package owner implements the data owner's commands: init, policy, seal, budget and ledger.
package owner

import (
	"context"
	"path/filepath"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// Init is the command `dither init`.
var Init = console.Verb{
	Name: "init",
	Args: "DIR [--from SOURCE …] [--table NAME=SOURCE …] [--unit COLUMN] [--delimiter C] [--null TEXT] " +
		"[--encoding NAME]",
	About: "create a home: a ledger and a draft of its policy",
	Run:   runInit,
}

// runInit creates a home, with an empty ledger and a draft of the policy.
func runInit(s *console.Console, args []string) error {
	var o curator.InitOptions
	s.Flag(&o.From, "from", "SOURCE",
		"draft the policy from the names and types of a CSV, JSON lines, Excel, Parquet or .duckdb file, a folder of "+
			"Parquet files, or a PostgreSQL server (service=NAME, url_env=VARIABLE or a URL); may be repeated")
	s.Flag(&o.Tables, "table", "NAME=SOURCE",
		"like --from, for one table with that name; SOURCE#TABLE selects it in a .duckdb file, a workbook or on a server; "+
			"may be repeated")
	s.Flag(&o.Unit, "unit", "COLUMN", "the column that identifies a person (default: each row is a unit)")
	s.Flag(&o.Delimiter, "delimiter", "C",
		"the delimiter between the fields of a CSV file: ';', '|', tab, … (default ',')")
	s.Flag(&o.Null, "null", "TEXT", "the unquoted field of a CSV file that means NULL, such as NA (default: an "+
		"empty field)")
	s.Flag(&o.Encoding, "encoding", "NAME",
		"the encoding of a CSV file: utf-8, utf-16 or windows-1252 (default: utf-8, or utf-16 after a byte order mark)")
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) > 1 || len(o.From)+len(o.Tables) == 0 && o.Unit+o.Delimiter+o.Null+o.Encoding != "" {
		return console.Usage("init DIR [--from SOURCE …] [--table NAME=SOURCE …] [--unit COLUMN] [--delimiter C] [--null TEXT] " +
			"[--encoding NAME]")
	}
	if len(rest) == 1 {
		s.Home = rest[0]
	}
	notes, err := curator.InitDraft(context.Background(), s.Home, o)
	if err != nil {
		return err
	}
	s.Print("%s is a home now\n", filepath.Clean(s.Home))
	for _, n := range notes {
		s.Print("%s\n", render.PrintableLines(n))
	}
	return nil
}
