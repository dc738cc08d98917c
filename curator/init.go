package curator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"dither/internal/policy"
)

// InitOptions describe the source from which a new home's policy is drafted.
type InitOptions struct {
	// From are files (CSV, .csv.gz, JSON lines, .xlsx, Parquet or .duckdb), folders or patterns of Parquet files, and
	// PostgreSQL servers: service=NAME, url_env=VARIABLE or a URL. Each stands for all of its tables. Without From and
	// Tables, InitDraft drafts a template.
	From []string
	// Tables are single tables, as name=source. After the source, # and a name select one table of a .duckdb file or a
	// server, or one sheet of a workbook.
	Tables []string
	Unit   string // the column that identifies a person, in each table that has it; "" if each row is a unit
	// Delimiter and Null describe CSV files, in the policy's notation. "" is a comma for Delimiter, and an empty
	// field for Null.
	Delimiter, Null string
}

// InitDraft makes a folder a home, as [Init] does. If the folder has no policy, it writes a draft: names and types
// come from the source, and bounds and values are questions that the owner answers from public knowledge. It
// returns notes for the owner.
func InitDraft(ctx context.Context, home string, o InitOptions) ([]string, error) {
	file := filepath.Join(home, policy.FileName)
	_, err := os.Lstat(file)
	drafted := errors.Is(err, os.ErrNotExist)
	if !drafted && len(o.From)+len(o.Tables) > 0 {
		return nil, &Error{Code: CodeUsage, Message: file + " already exists", Hint: "leave --from and --table out to keep it"}
	}
	var text []byte
	var notes []string
	if drafted {
		if text, notes, err = draft(ctx, home, o); err != nil {
			if already := (*Error)(nil); errors.As(err, &already) {
				return nil, already
			}
			return nil, homeError(err)
		}
	}
	if err := Init(home); err != nil {
		return nil, err
	}
	if note := resetBefore(home); note != "" {
		notes = append(notes, note)
	}
	if !drafted {
		return append(notes, "kept the policy "+file), nil
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, homeError(err)
	}
	return append(notes, "drafted "+file+": answer the questions in it, then run `dither policy check`"), nil
}

// draft returns the text of a policy with the sources' names and types, and notes for the owner.
func draft(ctx context.Context, home string, o InitOptions) (text []byte, notes []string, err error) {
	sketches, notes, err := sketchAll(ctx, home, o)
	if err != nil {
		return nil, nil, err
	}
	text, err = policy.Draft(sketches...)
	return text, notes, err
}

// dialect copies the options for CSV files into a source.
func (o InitOptions) dialect(s *policy.Source) error {
	s.Dialect.Null = o.Null
	if o.Delimiter != "" {
		c, ok := policy.ParseDelimiter(o.Delimiter)
		if !ok || c == s.Dialect.Quote {
			return &Error{
				Code:    CodeUsage,
				Message: "a delimiter must be a tab, or one ASCII character that is not a letter, digit or quote",
				Hint:    "write --delimiter ';', for example",
			}
		}
		s.Dialect.Delimiter = c
	}
	return nil
}

// relative returns a file's path relative to the home, if there is one, so that both can move together. Otherwise
// it returns file.
func relative(home, file string) string {
	if home, err := filepath.Abs(home); err == nil {
		if path, err := filepath.Rel(home, file); err == nil {
			return path
		}
	}
	return file
}

// tableName returns a table name made from a file's name. SQL accepts it without quotes.
func tableName(file string) string {
	name, _, _ := strings.Cut(strings.ToLower(filepath.Base(file)), ".")
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "t_" + name
	}
	return name
}
