package curator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dither/internal/policy"
	"dither/internal/sealing"
)

// urlVariable is the variable that a draft names if the owner gave a server's URL, which does not belong in a policy.
const urlVariable = "DITHER_POSTGRES_URL"

// sketching collects the sketches of a draft's tables.
type sketching struct {
	home    string
	options InitOptions
	tables  []policy.Sketch
	notes   []string
	csv     bool // whether some source is a CSV file
}

// sketchAll returns a sketch of each table that the options name, and notes for the owner.
func sketchAll(ctx context.Context, home string, o InitOptions) ([]policy.Sketch, []string, error) {
	s := &sketching{home: home, options: o}
	for _, from := range o.From {
		if err := s.add(ctx, "", from); err != nil {
			return nil, nil, err
		}
	}
	for _, table := range o.Tables {
		name, from, ok := strings.Cut(table, "=")
		if !ok || name == "" || from == "" || strings.Contains(name, "://") { // a URL may hold a password: do not quote it
			return nil, nil, &Error{Code: CodeUsage, Message: "--table needs a name and a source", Hint: "write --table visits=visits.csv"}
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

// check refuses options that no table takes, and tables of one name. It sets the unit of each table that has the column.
func (s *sketching) check() error {
	o := s.options
	if len(s.tables) > 0 && !s.csv && (o.Delimiter != "" || o.Null != "") {
		return &Error{Code: CodeUsage, Message: "a delimiter and a null text apply only to CSV files"}
	}
	seen, found := map[string]bool{}, false
	for i := range s.tables {
		t := &s.tables[i]
		if name := strings.ToLower(t.Table); seen[name] {
			return &Error{
				Code: CodeUsage, Message: fmt.Sprintf("two tables would have the name %q", t.Table),
				Hint: "name them by --table, such as --table visits=visits.csv",
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
		return &Error{Code: CodeUsage, Message: fmt.Sprintf("no table has a column %q", o.Unit)}
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
		return &Error{Code: CodeUsage, Message: "the source has no table to draft a policy from"}
	case name != "" && len(added) > 1:
		return &Error{
			Code: CodeUsage, Message: fmt.Sprintf("the source of table %q has %d tables", name, len(added)),
			Hint: "select one with # and its name, such as --table visits=clinic.duckdb#visits",
		}
	case name != "":
		added[0].Table = name
	}
	return nil
}

func (s *sketching) read(ctx context.Context, name, from string) error {
	source, inner, _ := strings.Cut(from, "#")
	if server, url, is := serverOf(source); is {
		return s.server(ctx, server, url, name, inner)
	}
	if strings.Contains(from, "://") || strings.Contains(from, "@") && strings.Contains(from, ":") ||
		strings.Contains(from, "password") && strings.Contains(from, "=") {
		return &Error{ // the text may hold a password, so it is not quoted
			Code: CodeUsage, Message: "the source is not a file, nor a URL that begins with postgres://",
			Hint: "name a server by service=NAME or url_env=VARIABLE",
		}
	}
	if _, err := os.Stat(from); err == nil || name == "" {
		source, inner = from, "" // a file's name may contain #
		if err != nil && !strings.ContainsAny(from, "*?") {
			return err
		}
	}
	file, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "*.parquet")
	}
	if found, err := filepath.Glob(file); strings.ContainsAny(file, "*?") && len(found) == 0 {
		return &Error{Code: CodeUsage, Message: file + " matches no file", Hint: "name the files, or a folder of Parquet files", cause: err}
	}
	src := policy.Source{
		Format: formatOf(file), Path: relative(s.home, file), File: file, Dialect: policy.DefaultDialect(file), Table: inner,
	}
	switch src.Format {
	case policy.XLSX:
		return s.workbook(src)
	case policy.DuckDB:
		return s.database(ctx, src, name)
	case policy.CSV:
		s.csv = true
		if err := s.options.dialect(&src); err != nil {
			return err
		}
		columns, err := sketchCSV(src, s.options.Delimiter != "")
		return s.one(src, "", columns, nil, err)
	case policy.JSONLines:
		columns, skipped, err := sketchJSON(src)
		return s.one(src, "", columns, skipped, err)
	default:
		columns, skipped, err := sketchTyped(ctx, src)
		return s.one(src, "", columns, skipped, err)
	}
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

// serverOf returns the server that a text names, and its URL or connection string if the text is one. It reports false for other texts.
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
	for _, t := range tables {
		if inner == "" || inner == t.Source.Table || inner == t.Source.Schema+"."+t.Source.Table {
			t.Table = tableName(t.Source.Table)
			s.tables = append(s.tables, t)
		}
	}
	for _, name := range skipped {
		s.notes = append(s.notes, "left out a column of an unsupported type: "+name)
	}
	if url != "" {
		s.notes = append(s.notes, "the draft names the server by the environment variable "+urlVariable+": set it to the URL "+
			"before `dither seal`. The draft holds neither the URL nor its password, but the shell's history may hold both")
	}
	return nil
}
