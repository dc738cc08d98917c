package draft

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dither/internal/policy"
	"dither/internal/sealing"
)

// unrecorded is what a pattern without names needs.
const unrecorded = "run `dither policy expand`, which records in the policy the names of the source's columns that match"

// Expand records, for each pattern of columns without names, the names of the source's columns that match it. It
// writes them into the policy file and changes nothing else there. The names are public declarations from then on: no
// plan depends on the file. It returns a note for each pattern.
func Expand(ctx context.Context, home string) ([]string, error) {
	file := filepath.Join(home, policy.FileName)
	p, err := policy.Load(file)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var notes []string
	for _, at := range p.Patterns() {
		t := p.Table(at.Table)
		header, err := sourceNames(ctx, t.Source)
		if err != nil {
			return nil, err
		}
		if slices.Contains(header, at.Pattern) {
			continue // a column of this very name
		}
		var names []string
		for _, name := range header {
			if policy.Matches(at.Pattern, name) && t.Column(name) == nil {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return nil, &Error{
				Message: fmt.Sprintf("table %s: no further column of %s matches %q", t.Name, t.Source.Path, at.Pattern),
			}
		}
		if text, err = policy.Record(text, home, at, names); err != nil {
			return nil, &Error{
				Message: fmt.Sprintf("table %s: the columns that match %q: %v", t.Name, at.Pattern, err),
			}
		}
		many := fmt.Sprintf("%d columns", len(names))
		if len(names) == 1 {
			many = "1 column"
		}
		notes = append(notes, fmt.Sprintf("table %s: %q stands for %s", t.Name, at.Pattern, many))
	}
	if len(notes) == 0 {
		return []string{"the policy has no pattern without names"}, nil
	}
	if err := replaceFile(file, text); err != nil {
		return nil, err
	}
	return notes, nil
}

// replaceFile replaces a file's content at once, or not at all. The file keeps its mode.
func replaceFile(file string, text []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), "policy-*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // fails harmlessly once the file has its name
	if _, err = temp.Write(text); err == nil {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(temp.Name(), info.Mode().Perm())
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

// sourceNames returns the names of a source's columns, from its header or its schema and never from rows.
func sourceNames(ctx context.Context, src policy.Source) (names []string, err error) {
	switch {
	case src.Format == policy.CSV && src.Dialect.Header:
		err = withCSV(src, func(header []string, _ func() ([]string, error)) error {
			names = header
			return nil
		})
		return names, err
	case src.Format == policy.XLSX && src.Dialect.Header:
		return sheetNames(src)
	case src.Format.Typed():
		columns, skipped, err := sketchTyped(ctx, src)
		for _, c := range columns {
			names = append(names, c.Name)
		}
		return append(names, skipped...), err
	}
	return nil, &Error{
		Message: "the names of the columns of " + src.Path + " are not read",
		Hint:    "list them in the policy, such as names: q1..q300",
	}
}

// sheetNames returns the names in the header of a source's sheet.
func sheetNames(src policy.Source) ([]string, error) {
	f, err := os.Open(src.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	sheets, columns, err := sealing.SketchSheets(f, src.Table)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", src.Path, err)
	case len(sheets) != 1:
		return nil, fmt.Errorf("%s has %d sheets: declare one by source: {sheet: …}", src.Path, len(sheets))
	}
	return namesOfColumns(columns[sheets[0]]), nil
}

// patternsLeft returns the patterns of a table that have no names yet, for the owner.
func patternsLeft(p *policy.Policy, table string) (left []string) {
	for _, at := range p.Patterns() {
		if at.Table == table {
			left = append(left, fmt.Sprintf("%q", at.Pattern))
		}
	}
	return left
}

// PatternHint returns a hint for a table that cannot be sealed because its policy has a pattern without names, or "".
func PatternHint(p *policy.Policy, table string) string {
	if left := patternsLeft(p, table); len(left) > 0 {
		return "if " + strings.Join(left, ", ") + " stands for several columns, " + unrecorded
	}
	return ""
}
