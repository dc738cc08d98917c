// Package draft drafts policies from the names and types of sources, for the owner, who answers the questions in the
// draft. It proposes no bounds, keys or counts, because these would be facts about rows.
//
// It reads headers, schemas and the first records of files leniently, unlike sealing: a guess that is wrong is corrected
// by the owner, or found by sealing.
package draft

import (
	"context"

	"dither/internal/policy"
)

// Options describe the sources of a draft.
type Options struct {
	// From are sources, each of which stands for all of its tables: files, folders or patterns of Parquet files, and
	// PostgreSQL servers.
	From []string
	// Tables are single tables, as name=source, or as name=source#table.
	Tables []string
	Unit   string // the column that identifies a person, in each table that has it; "" if each row is a unit
	// Delimiter, Null and Encoding describe CSV files, in the policy's notation. "" is the default.
	Delimiter, Null, Encoding string
}

// Error is a request that cannot be met as it was written.
type Error struct{ Message, Hint string }

func (e *Error) Error() string { return e.Message }

// Policy returns the text of a policy with the sources' names and types, and notes for the owner. Paths in it are
// relative to the home, if possible. Without sources, it returns a template. An error is an *Error, or states which source
// could not be read.
func Policy(ctx context.Context, home string, o Options) (text []byte, notes []string, err error) {
	sketches, notes, err := sketchAll(ctx, home, o)
	if err != nil {
		return nil, nil, err
	}
	text, err = policy.Draft(sketches...)
	return text, notes, err
}
