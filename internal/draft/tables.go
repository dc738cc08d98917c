package draft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"dither/internal/nearest"
	"dither/internal/policy"
	"dither/internal/sealing"
)

// urlVariable is the variable that a draft names if the owner gave a server's URL, which does not belong in a policy.
const urlVariable = "DITHER_POSTGRES_URL"

// workbook adds the sheets of a workbook.
func (s *sketching) workbook(src policy.Source) error {
	f, err := os.Open(src.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the file was only read
	sheets, columns, err := sealing.SketchSheets(f, src.Table)
	if err != nil {
		return fmt.Errorf("%s: %w", src.File, err)
	}
	src.Dialect = policy.Dialect{Header: true}
	for _, sheet := range sheets {
		as := ""
		if src.Table != "" || len(sheets) > 1 {
			src.Table, as = sheet, sheet
		}
		if err := checkHeader(src.File, namesOfColumns(columns[sheet])); err != nil {
			return err
		}
		if err := s.one(src, as, columns[sheet], nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func namesOfColumns(columns []policy.SketchColumn) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// database adds the tables of a .duckdb file: the one that the source selects, the one with the given name, or all.
func (s *sketching) database(ctx context.Context, src policy.Source, name string) (err error) {
	tables := []string{src.Table}
	if src.Table == "" {
		if tables, err = duckdbTables(ctx, src.File); err != nil {
			return err
		}
		if slices.Contains(tables, name) {
			tables = []string{name}
		}
	} else if all, err := duckdbTables(ctx, src.File); err == nil && !slices.Contains(all, src.Table) {
		return noTable(src.File, src.Table, all)
	}
	for _, table := range tables {
		src.Table = table
		columns, skipped, err := sketchTyped(ctx, src)
		if err != nil {
			return err
		}
		if len(columns) == 0 {
			continue
		}
		for i := range skipped {
			skipped[i] = table + "." + skipped[i]
		}
		if err := s.one(src, table, columns, skipped, nil); err != nil {
			return err
		}
	}
	return nil
}

func duckdbTables(ctx context.Context, file string) (tables []string, err error) {
	if info, err := os.Stat(file); err != nil { // checked first, because DuckDB would quote its own text
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	tmp, err := os.MkdirTemp("", "dither-init-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	return sealing.Files(tmp).Tables(ctx, file)
}

// noTable is the error of a source without a table that its owner selects. It names some of the tables there are.
func noTable(source, table string, all []string) error {
	slices.Sort(all)
	hint := "it has " + strings.Join(all, ", ")
	switch near := nearest.Name(table, all); {
	case len(all) == 0:
		hint = "it has no table that dither can read, or that this role may read"
	case near != "":
		hint = fmt.Sprintf("did you mean #%s?", near)
	case len(all) > mostNamed:
		hint = fmt.Sprintf("it has %s and %d more", strings.Join(all[:mostNamed], ", "), len(all)-mostNamed)
	}
	return &Error{Message: fmt.Sprintf("%s has no table %q", source, table), Hint: hint}
}

// mostNamed is the largest number of tables that an error names.
const mostNamed = 10

// serverOf returns the server that a text names, and its URL or connection string if the text is one. It reports false
// for other texts.
func serverOf(text string) (source policy.Source, url string, is bool) {
	source.Format = policy.Postgres
	if service, ok := strings.CutPrefix(text, "service="); ok {
		source.Service = service
		return source, "", true
	}
	if variable, ok := strings.CutPrefix(text, "url_env="); ok {
		source.URLEnv = variable
		return source, "", true
	}
	source.URLEnv = urlVariable
	is = strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") ||
		strings.Contains(text, "dbname=") && strings.Contains(text, "host=")
	return source, text, is
}

// server adds the tables on a server: the one that inner names, the one with the given name, or all.
func (s *sketching) server(ctx context.Context, source policy.Source, url, name, inner string) error {
	tables, skipped, err := sealing.DescribeServer(ctx, source, url)
	if err != nil {
		return err
	}
	if inner == "" && slices.ContainsFunc(tables, func(t policy.Sketch) bool { return t.Source.Table == name }) {
		inner = name
	}
	var all, taken []string
	for _, t := range tables {
		all = append(all, strings.TrimPrefix(t.Source.Schema+"."+t.Source.Table, "public."))
		if inner == "" || inner == t.Source.Table || inner == t.Source.Schema+"."+t.Source.Table {
			t.Table = tableName(t.Source.Table)
			s.tables, taken = append(s.tables, t), append(taken, t.Source.Table+".")
		}
	}
	if inner != "" && len(taken) == 0 {
		if strings.Contains(url, "password") { // the # may be in a password
			return &Error{Message: "the server has no table of the name after #"}
		}
		return noTable("the server", inner, all)
	}
	for _, name := range skipped {
		if slices.ContainsFunc(taken, func(table string) bool { return strings.HasPrefix(name, table) }) {
			s.notes = append(s.notes, "left out a column of an unsupported type: "+name)
		}
	}
	if url != "" {
		s.notes = append(s.notes, "the draft names the server by the environment variable "+urlVariable+": set it to the URL "+
			"before `dither seal`. The draft holds neither the URL nor its password, but the shell's history may hold both")
	}
	return nil
}

// sketchTyped reads names and types from a Parquet file, or from a table of a .duckdb file.
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
