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

	"dither/internal/policy"
	"dither/internal/sealing"
)

// separators are what people put between the fields of a "CSV" file.
const separators = ",;\t|"

// sketchCSV reads a header and guesses types from the first records, for a draft that its owner corrects. Unless chosen, a
// delimiter that splits nothing is refused: the draft would be of one column that nobody means.
func sketchCSV(src policy.Source, chosen bool) (columns []policy.SketchColumn, err error) {
	err = withCSV(src, func(header []string, next func() ([]string, error)) error {
		if c := unsplit(header, src.Dialect); c != 0 && !chosen {
			return &Error{
				Code: CodeUsage,
				Message: fmt.Sprintf(
					"the header of %s reads as one field that holds %s: the delimiter is another one",
					src.File,
					character(c),
				),
				Hint: "say --delimiter " + character(c) + "; or --delimiter ',' if it is one name",
			}
		}
		if err := checkHeader(src.File, header); err != nil {
			return err
		}
		full := func() ([]string, error) {
			record, err := next()
			for i, field := range record {
				if field == src.Dialect.Null {
					record[i] = "" // which says nothing of a type
				}
			}
			return record, err
		}
		for i, t := range policy.GuessTypes(header, full) {
			columns = append(columns, policy.SketchColumn{Name: header[i], Type: t})
		}
		return nil
	})
	return columns, err
}

// withText hands over a source of texts, as it is inside what may be compressed.
func withText(src policy.Source, do func(io.Reader) error) error {
	if info, err := os.Stat(src.File); err != nil { // before opening: opening a pipe would wait
		return err
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", src.File)
	}
	f, err := os.Open(src.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	var in io.Reader = f
	if src.Dialect.Gzip {
		z, err := gzip.NewReader(f)
		if err != nil {
			return fmt.Errorf("%s: %w", src.File, err)
		}
		in = z
	}
	return do(in)
}

// withCSV hands over a CSV source's header and what reads the records after it, loosely: sealing is strict.
func withCSV(src policy.Source, do func(header []string, next func() ([]string, error)) error) error {
	return withText(src, func(in io.Reader) error {
		const enough = 16 << 20
		r := csv.NewReader(io.LimitReader(in, enough))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = src.Dialect.Delimiter, true, -1
		header, err := r.Read()
		if err != nil {
			return fmt.Errorf("%s has no header to draft a policy from", src.File)
		}
		header[0] = strings.TrimPrefix(header[0], "\ufeff")
		return do(header, r.Read)
	})
}

// unsplit is the separator that a header of a single field holds, most often if there are several, or 0: then the delimiter
// is probably that one.
func unsplit(header []string, d policy.Dialect) (found rune) {
	if len(header) != 1 {
		return 0
	}
	most := 0
	for _, c := range separators {
		if n := strings.Count(header[0], string(c)); c != d.Delimiter && n > most {
			found, most = c, n
		}
	}
	return found
}

// character writes a delimiter as the policy and the command line take it.
func character(c rune) string {
	if c == '\t' {
		return "tab"
	}
	return "'" + string(c) + "'"
}

// doubt says what is odd about a CSV source's header, for the owner, or "". What cannot be read is sealing's to tell.
func doubt(t *policy.Table) (text string) {
	if t.Source.Format != policy.CSV || !t.Source.Dialect.Header {
		return ""
	}
	_ = withCSV(t.Source, func(header []string, _ func() ([]string, error)) error {
		if c := unsplit(header, t.Source.Dialect); c != 0 {
			text = fmt.Sprintf(
				"the header of %s reads as one field that holds %s: is that the delimiter? (source: {delimiter: %s})",
				t.Source.Path,
				character(c),
				character(c),
			)
		}
		return nil
	})
	return text
}

// checkHeader refuses names that no policy can hold, by their place alone: a file without a header has a person's row there.
func checkHeader(file string, header []string) error {
	seen := map[string]int{}
	for i, name := range header {
		wrong := policy.CheckName(name)
		if wrong == "" {
			folded := strings.ToLower(name)
			if first, again := seen[folded]; again {
				wrong = fmt.Sprintf("is the same as field %d's, but for case", first+1)
			}
			seen[folded] = i
		}
		if wrong != "" {
			return &Error{
				Code:    CodeUsage,
				Message: fmt.Sprintf("the header of %s: the name in field %d of %d %s", file, i+1, len(header), wrong),
				Hint:    "is the first line a header, and the delimiter right (--delimiter)? If so, rename it in the file",
			}
		}
	}
	return nil
}

// sketchTyped takes names and types from a Parquet file or a table of a .duckdb file.
func sketchTyped(ctx context.Context, src policy.Source) (columns []policy.SketchColumn, skipped []string, err error) {
	tmp, err := os.MkdirTemp("", "dither-init-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	described, err := sealing.Files(tmp).DescribeSource(ctx, src)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range described.Columns {
		columns = append(columns, policy.SketchColumn{Name: c.Name, Type: c.Type})
	}
	return columns, described.Skipped, nil
}

func formatOf(file string) policy.Format {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(file, ".gz"))) {
	case ".jsonl", ".ndjson":
		return policy.JSONLines
	case ".parquet":
		return policy.Parquet
	case ".duckdb", ".db":
		return policy.DuckDB
	}
	return policy.CSV
}
