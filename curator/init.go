package curator

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dither/internal/engine/duckdb"
	"dither/internal/policy"
)

// InitOptions say what a new home's policy is drafted from.
type InitOptions struct {
	From string // a CSV (or .csv.gz), Parquet or .duckdb file; "" drafts a template
	Unit string // the column of From that identifies a person; "" where each row is a unit
}

// InitDraft makes a folder a home, as Init does, and writes a draft of its policy where there is none: names and types from
// the source, bounds and values as questions for the owner to answer from public knowledge. It returns notes for the owner.
func InitDraft(ctx context.Context, home string, o InitOptions) ([]string, error) {
	file := filepath.Join(home, policy.FileName)
	_, err := os.Lstat(file)
	drafted := errors.Is(err, os.ErrNotExist)
	if !drafted && o.From != "" {
		return nil, &Error{Code: CodeUsage, Message: file + " is there already", Hint: "init without --from keeps it"}
	}
	var text []byte
	var notes []string
	if drafted {
		if text, notes, err = draft(ctx, home, o); err != nil {
			return nil, homeError(err)
		}
	}
	if err := Init(home); err != nil {
		return nil, err
	}
	if !drafted {
		return append(notes, "kept the policy "+file), nil
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, homeError(err)
	}
	return append(notes, "drafted "+file+": answer its questions, then `dither policy check`"), nil
}

// draft writes a policy from a source's names and types.
func draft(ctx context.Context, home string, o InitOptions) (text []byte, notes []string, err error) {
	if o.From == "" {
		text, err = policy.Draft(policy.Sketch{})
		return text, nil, err
	}
	from, err := filepath.Abs(o.From)
	if err != nil {
		return nil, nil, err
	}
	s := policy.Sketch{Table: tableName(from), Unit: o.Unit}
	s.Source = policy.Source{Format: formatOf(from), Path: relative(home, from), File: from, Dialect: policy.DefaultDialect(from)}
	if s.Source.Format == policy.CSV {
		s.Columns, err = sketchCSV(s.Source)
	} else {
		if s.Source.Format == policy.DuckDB {
			s.Source.Table = s.Table
			notes = append(notes, fmt.Sprintf("the table inside is taken to be %q", s.Table))
		}
		var skipped []string
		s.Columns, skipped, err = sketchTyped(ctx, s.Source)
		for _, name := range skipped {
			notes = append(notes, "left out, of a type that is not sealed: "+name)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	text, err = policy.Draft(s)
	return text, notes, err
}

// relative names a file from the home's folder where that is possible, so that both can move together.
func relative(home, file string) string {
	if home, err := filepath.Abs(home); err == nil {
		if path, err := filepath.Rel(home, file); err == nil {
			return path
		}
	}
	return file
}

func formatOf(file string) policy.Format {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".parquet":
		return policy.Parquet
	case ".duckdb", ".db":
		return policy.DuckDB
	}
	return policy.CSV
}

// tableName makes a name that needs no quotes in SQL from a file's name.
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

// sketchCSV reads a header and guesses types from the first records, for a draft that its owner corrects.
func sketchCSV(src policy.Source) (columns []policy.SketchColumn, err error) {
	f, err := os.Open(src.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = f
	if src.Dialect.Gzip {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.File, err)
		}
		in = z
	}
	const enough = 16 << 20
	r := csv.NewReader(io.LimitReader(in, enough))
	r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = true, -1, false
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s has no header to draft a policy from", src.File)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for i, t := range policy.GuessTypes(header, r.Read) {
		columns = append(columns, policy.SketchColumn{Name: header[i], Type: t})
	}
	return columns, nil
}

// sketchTyped takes names and types from a Parquet file or a table of a .duckdb file.
func sketchTyped(ctx context.Context, src policy.Source) (columns []policy.SketchColumn, skipped []string, err error) {
	tmp, err := os.MkdirTemp("", "dither-init-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	described, err := duckdb.NewSealer(tmp).DescribeSource(ctx, src)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range described.Columns {
		columns = append(columns, policy.SketchColumn{Name: c.Name, Type: c.Type})
	}
	return columns, described.Skipped, nil
}
