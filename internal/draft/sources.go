package draft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dither/internal/policy"
)

// sketching collects the sketches of a draft's tables.
type sketching struct {
	home    string
	options Options
	tables  []policy.Sketch
	notes   []string
	csv     bool // whether some source is a CSV file
}

// sketchAll returns a sketch of each table that the options name, and notes for the owner.
func sketchAll(ctx context.Context, home string, o Options) ([]policy.Sketch, []string, error) {
	s := &sketching{home: home, options: o}
	for _, from := range o.From {
		if err := s.add(ctx, "", from); err != nil {
			return nil, nil, err
		}
	}
	for _, table := range o.Tables {
		name, from, ok := strings.Cut(table, "=")
		if !ok || name == "" || from == "" || strings.Contains(name, "://") { // a URL may hold a password: do not quote it
			return nil, nil, &Error{Message: "--table needs a name and a source", Hint: "write --table visits=visits.csv"}
		}
		if err := s.add(ctx, name, from); err != nil {
			return nil, nil, err
		}
	}
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	return s.tables, s.notes, nil
}

// check refuses options that no table takes, and tables of one name. It sets the unit of each table that has the
// column.
func (s *sketching) check() error {
	o := s.options
	if len(s.tables) > 0 && !s.csv && o.Delimiter+o.Null+o.Encoding != "" {
		return &Error{Message: "a delimiter, a null text and an encoding apply only to CSV files"}
	}
	seen, found := map[string]bool{}, false
	for i := range s.tables {
		t := &s.tables[i]
		if name := strings.ToLower(t.Table); seen[name] {
			return &Error{
				Message: fmt.Sprintf("two tables would have the name %q", t.Table),
				Hint:    "name them by --table, such as --table visits=visits.csv",
			}
		} else {
			seen[name] = true
		}
		if slices.ContainsFunc(t.Columns, func(c policy.SketchColumn) bool { return c.Name == o.Unit }) {
			t.Unit, found = o.Unit, true
		} else if names := t.Candidates(); len(names) > 0 {
			s.notes = append(s.notes, fmt.Sprintf("table %s: the draft protects each row. If one of these columns identifies a "+
				"person, declare it as the unit: %s", t.Table, strings.Join(names, ", ")))
		}
	}
	if o.Unit != "" && !found && len(s.tables) > 0 {
		return &Error{Message: fmt.Sprintf("no table has a column %q", o.Unit)}
	}
	return nil
}

// add adds the tables of a source. If name is not "", it adds one table, which gets that name.
func (s *sketching) add(ctx context.Context, name, from string) error {
	before := len(s.tables)
	err := s.read(ctx, name, from)
	if err != nil {
		return err
	}
	added := s.tables[before:]
	switch {
	case len(added) == 0:
		return &Error{Message: "the source has no table with columns that dither can read"}
	case name != "" && len(added) > 1:
		return &Error{
			Message: fmt.Sprintf("the source of table %q has %d tables", name, len(added)),
			Hint:    "select one with # and its name, such as --table visits=clinic.duckdb#visits",
		}
	case name != "":
		added[0].Table = name
	}
	return nil
}

func (s *sketching) read(ctx context.Context, name, from string) error {
	source, inner, _ := strings.Cut(from, "#")
	if server, url, is := serverOf(source); is {
		if strings.Contains(inner, "@") { // the # is in a password, so the text is not quoted
			return &Error{
				Message: "the part after # is not the name of a table",
				Hint:    "write %23 for a # in a URL's password, or name the server by service=NAME or url_env=VARIABLE",
			}
		}
		return s.server(ctx, server, url, name, inner)
	}
	if strings.Contains(from, "://") || strings.Contains(from, "@") && strings.Contains(from, ":") ||
		strings.Contains(from, "password") && strings.Contains(from, "=") {
		return &Error{ // the text may hold a password, so it is not quoted
			Message: "the source is not a file, nor a URL that begins with postgres://",
			Hint:    "name a server by service=NAME or url_env=VARIABLE",
		}
	}
	if _, err := os.Stat(from); err == nil {
		source, inner = from, "" // a file's name may contain #
	} else if _, without := os.Stat(source); without != nil && !strings.ContainsAny(source, "*?") {
		return err
	}
	file, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "*.parquet")
	}
	if found, _ := filepath.Glob(file); strings.ContainsAny(file, "*?") && len(found) == 0 {
		return &Error{Message: file + " matches no file", Hint: "name the files, or a folder of Parquet files"}
	}
	if err := otherFormat(file); err != nil {
		return err
	}
	src := policy.Source{
		Format: formatOf(file), Path: relative(s.home, file), File: file, Dialect: policy.DefaultDialect(file), Table: inner,
	}
	if inner != "" && src.Format != policy.XLSX && src.Format != policy.DuckDB {
		return &Error{
			Message: fmt.Sprintf("%s is one table, so #%s selects nothing in it", file, inner),
			Hint:    "leave # and the name out; --table NAME=FILE names the table of the draft",
		}
	}
	switch src.Format {
	case policy.XLSX:
		return s.workbook(src)
	case policy.DuckDB:
		return inFile(file, s.database(ctx, src, name))
	case policy.CSV:
		s.csv = true
		if err := s.options.dialect(&src); err != nil {
			return err
		}
		columns, looks, err := sketchCSV(src, s.options.Delimiter != "")
		if err == nil {
			s.notes = append(s.notes, looks...)
			_ = withCSV(src, func(header []string, _ func() ([]string, error)) error {
				if odd := oddHeader(src.File, header); odd != "" {
					s.notes = append(s.notes, odd)
				}
				return nil
			})
		}
		return s.one(src, "", columns, nil, err)
	case policy.JSONLines:
		columns, skipped, err := sketchJSON(src)
		return s.one(src, "", columns, skipped, err)
	default:
		columns, skipped, err := sketchTyped(ctx, src)
		return s.one(src, "", columns, skipped, inFile(file, err))
	}
}

// inFile names the file in an error of the engine, which does not.
func inFile(file string, err error) error {
	if named := (*Error)(nil); err == nil || errors.As(err, &named) || strings.Contains(err.Error(), filepath.Base(file)) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// one adds a table of a file. Its name is made from the text as, or from the file's name if that is "".
func (s *sketching) one(src policy.Source, as string, columns []policy.SketchColumn, skipped []string, err error) error {
	if err != nil {
		return err
	}
	t := policy.Sketch{Table: tableName(as), Source: src, Columns: columns}
	switch {
	case as == "" && src.IsPattern() && strings.HasPrefix(filepath.Base(src.File), "*"):
		t.Table = tableName(filepath.Dir(src.File))
	case as == "":
		t.Table = tableName(src.File)
	}
	for _, name := range skipped {
		s.notes = append(s.notes, "left out a column of an unsupported type: "+name)
	}
	s.tables = append(s.tables, t)
	return nil
}

// beginnings maps the first bytes of files that dither does not read to what they are and what to do.
var beginnings = []struct{ bytes, what, hint string }{
	{"\xd0\xcf\x11\xe0", "is a document of an older Office, such as an .xls workbook", "save it as .xlsx or as CSV"},
	{"%PDF-", "is a PDF document", "ask for the data as CSV, Excel (.xlsx) or Parquet"},
	{"SQLite format 3", "is a SQLite database", "export each table as CSV: sqlite3 -csv -header FILE 'SELECT * FROM t' > t.csv"},
	{"$FL2", "is an SPSS file", "export it as CSV or Parquet"},
	{"HEADER RECORD", "is a SAS transport file", "export it as CSV or Parquet"},
	{"<stata_dta>", "is a Stata file", "export it as CSV or Parquet"},
	{"ARROW1", "is an Arrow or Feather file", "write it as Parquet"},
}

// otherFormat refuses a file that would be read as text and is none: by its first bytes, or an array of JSON by its
// name.
func otherFormat(file string) error {
	if f := formatOf(file); f != policy.CSV && f != policy.JSONLines {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return nil // the reader of the format says why
	}
	defer func() { _ = in.Close() }() // the file was only read, so an error of Close loses nothing
	buffer := make([]byte, 512)
	n, _ := io.ReadFull(in, buffer)
	head := string(buffer[:n])
	for _, b := range beginnings {
		if strings.HasPrefix(head, b.bytes) {
			return &Error{Message: file + " " + b.what, Hint: b.hint}
		}
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json", ".jsonl", ".ndjson":
		if strings.HasPrefix(strings.TrimSpace(head), "[") {
			return &Error{Message: file + " holds an array of JSON", Hint: "write one object on each line: jq -c '.[]' FILE > rows.jsonl"}
		}
	}
	text := strings.HasPrefix(head, "\xff\xfe") || strings.HasPrefix(head, "\xfe\xff") // UTF-16, which is read
	if !text && !strings.HasPrefix(head, "\x1f\x8b") && strings.ContainsRune(head, 0) {
		return &Error{
			Message: file + " has NUL bytes, so it is no text in UTF-8",
			Hint:    "save it as CSV in UTF-8, or in UTF-16 with a byte order mark",
		}
	}
	return nil
}

func formatOf(file string) policy.Format {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(file, ".gz"))) {
	case ".jsonl", ".ndjson", ".json":
		return policy.JSONLines
	case ".parquet":
		return policy.Parquet
	case ".duckdb", ".db":
		return policy.DuckDB
	case ".xlsx", ".xlsm":
		return policy.XLSX
	}
	return policy.CSV
}

// dialect copies the options for CSV files into a source.
func (o Options) dialect(s *policy.Source) error {
	s.Dialect.Null = o.Null
	switch o.Encoding {
	case "", policy.UTF8:
	case policy.UTF16, policy.Windows1252:
		s.Dialect.Spelling = &policy.Spelling{Encoding: o.Encoding}
	default:
		return &Error{
			Message: fmt.Sprintf("unknown encoding %q", o.Encoding),
			Hint:    "write --encoding utf-8, utf-16 or windows-1252, which contains ISO 8859-1",
		}
	}
	if o.Delimiter != "" {
		c, ok := policy.ParseDelimiter(o.Delimiter)
		if !ok || c == s.Dialect.Quote {
			return &Error{
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
