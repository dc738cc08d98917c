package curator

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"dither/internal/draft"
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
	// Delimiter, Null and Encoding describe CSV files, in the policy's notation. "" is a comma for Delimiter, an empty
	// field for Null, and UTF-8 (or UTF-16 with a byte order mark) for Encoding.
	Delimiter, Null, Encoding string
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
		if text, notes, err = draft.Policy(ctx, home, draft.Options(o)); err != nil {
			return nil, draftError(err)
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

// ExpandPolicy records, for each pattern of columns without names, the names of the source's columns that match it. It
// writes them into the policy file and changes nothing else there. The names are public declarations from then on: no
// plan depends on the file. It returns a note for each pattern.
func ExpandPolicy(ctx context.Context, home string) ([]string, error) {
	notes, err := draft.Expand(ctx, home)
	if err != nil {
		return nil, draftError(err)
	}
	return notes, nil
}

// draftError returns the error of a draft as *Error.
func draftError(err error) *Error {
	if refused := (*draft.Error)(nil); errors.As(err, &refused) {
		return &Error{Code: CodeUsage, Message: refused.Message, Hint: refused.Hint, cause: err}
	}
	return homeError(err)
}
