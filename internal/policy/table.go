package policy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dither/internal/nearest"
	"dither/privacy"
)

// The largest numbers that a table may declare.
const (
	MaxRowsPerUnit  = 1_000_000
	MaxExpectedRows = 1_000_000_000_000
)

// rowUnit is the value of the key unit if each row is a unit of its own.
const rowUnit = "row"

func (r *reader) tables(f, whole field, dir string, neighbours privacy.Neighbours) []*Table {
	if !f.need(whole, "a policy has at least one table") {
		return nil
	}
	before := len(r.errs)
	entries := f.entries()
	if len(entries) == 0 && len(r.errs) == before {
		f.fail("", "a policy has at least one table")
	}
	type origin struct{ file, schema, table string }
	names, sources := map[string]string{}, map[origin]string{}
	tables := make([]*Table, 0, len(entries))
	for _, e := range entries {
		e.unique(names)
		t := r.table(e, dir, neighbours)
		from := origin{t.Source.File, t.Source.Schema, t.Source.Table}
		if t.Source.Live() {
			from.file = t.Source.Local
		}
		if other, again := sources[from]; again && from.file != "" {
			e.failKey("a person in both would be counted twice",
				"two tables have one source: %s is also the source of table %s",
				quote(t.Source.Path), quote(other))
		}
		sources[from] = t.Name
		if t.Source.Format == XLSX {
			r.oneSheet(e, t, tables)
		}
		tables = append(tables, t)
	}
	r.resolve(tables)
	r.unitsBeside(entries, tables)
	return tables
}

func (r *reader) table(f field, dir string, neighbours privacy.Neighbours) *Table {
	t := &Table{Name: f.name()}
	keys, ok := f.keys("description", "public", "source", "unit", "rows_per_unit", "max_groups", "max_rows_per_group",
		"person_rows",
		"stored_rows_per_unit", "expected_rows", "min_units_per_group", "part", "columns", "references", "through",
		"rows_per_value", "totals", "units")
	if !ok {
		return t
	}
	t.Description = keys["description"].description()
	t.Public = keys["public"].boolean(false)
	t.Source = r.source(keys["source"], f, t.Name, dir)
	t.Columns = r.columns(keys["columns"], f)
	r.textFiles(t)
	r.references(keys, t)
	r.rowsPerValue(keys["rows_per_value"], t)
	if t.Public {
		for _, k := range []string{
			"unit", "through", "rows_per_unit", "max_groups", "max_rows_per_group",
			"person_rows", "stored_rows_per_unit", "min_units_per_group", "totals", "units",
		} {
			if keys[k].present() {
				keys[k].failKey("", "a public table has no privacy unit")
			}
		}
	} else {
		t.Unit = r.unit(keys, f, t)
		if !t.Unit.IsRow() {
			t.StoredRows = r.storedRows(keys["stored_rows_per_unit"], t.Unit)
		}
	}
	r.holdouts(keys["columns"], t)
	t.Part = r.part(keys["part"], t)
	t.ExpectedRows, _ = keys["expected_rows"].count(MaxExpectedRows)
	t.MinUnits, _ = keys["min_units_per_group"].count(MaxRowsPerUnit)
	if !t.Public {
		t.Totals = r.totals(keys["totals"], t)
		t.Units = r.units(keys["units"], t, neighbours)
		r.totalsAgree(keys["totals"], t)
		t.ExpectedRows = cmp.Or(t.ExpectedRows, t.Units)
	}
	return t
}

func (r *reader) unit(keys map[string]field, table field, t *Table) (u Unit) {
	if u, ok := r.through(keys, t); ok {
		r.caps(keys, table, u.Through, &u)
		return u
	}
	keys["unit"].need(table, "unit: row, or the column that identifies a person; or public: true")
	s, ok := keys["unit"].text()
	if !ok {
		return u
	}
	if s == rowUnit {
		for _, k := range []string{"rows_per_unit", "max_groups", "max_rows_per_group", "stored_rows_per_unit"} {
			if keys[k].present() {
				keys[k].failKey("if rows belong to persons, declare the column that identifies a person as the unit",
					"if each row is a unit, a unit has one row")
			}
		}
		u.PersonRows, _ = keys["person_rows"].count(MaxRowsPerUnit)
		u.RowsPerUnit, u.MaxGroups, u.RowsPerGroup = 1, 1, 1
		return u
	}
	u.Column = s
	if keys["person_rows"].present() {
		keys["person_rows"].failKey("use rows_per_unit", "applies only to tables whose unit is a row")
	}
	r.unitColumn(keys, u.Column, t)
	r.caps(keys, table, s, &u)
	return u
}

// caps reads the limits on what one unit contributes to an answer: rows_per_unit, max_groups and
// max_rows_per_group.
func (r *reader) caps(keys map[string]field, table field, who string, u *Unit) {
	keys["rows_per_unit"].need(table, "the most rows of one "+clip(who)+" that may count in an answer")
	var ok bool
	u.RowsPerUnit, ok = keys["rows_per_unit"].count(MaxRowsPerUnit)
	u.MaxGroups, u.RowsPerGroup = u.RowsPerUnit, u.RowsPerUnit
	if ok && keys["max_groups"].present() {
		u.MaxGroups, _ = keys["max_groups"].count(u.RowsPerUnit)
	}
	if ok && keys["max_rows_per_group"].present() {
		u.RowsPerGroup, _ = keys["max_rows_per_group"].count(u.RowsPerUnit)
	}
}

// unitColumn checks that a column can identify a unit. It must have no bounds or values, because these would merge
// persons.
func (r *reader) unitColumn(keys map[string]field, name string, t *Table) {
	c := t.Column(name)
	switch {
	case c == nil && len(t.Columns) == 0: // errors were already recorded for the columns
	case c == nil:
		known := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			known[i] = c.Name
		}
		hint := "unit: row, or the name of a column"
		if near := nearest.Name(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		keys["unit"].fail(hint, "%s is not among the columns", quote(name))
	case c.Type != 0 && !identifies(c.Type):
		keys["unit"].fail("", "a unit column is of type integer, text or date, and %s is %s", quote(name), c.Type)
	case bound(c):
		keys["unit"].fail("", "the unit column %s must have neither bounds nor values: they would merge persons",
			quote(name))
	}
}

func (r *reader) source(f, table field, name, dir string) (s Source) {
	if !f.need(table, "source: {csv: file.csv}") {
		return s
	}
	formats := []string{string(CSV), string(JSONLines), string(XLSX), string(Parquet), string(DuckDB), string(Postgres)}
	keys, ok := f.keys(slices.Concat(formats, []string{
		"table", "sheet", "delimiter", "quote", "header", "null", "gzip",
	}, spellingKeys)...)
	if !ok {
		return s
	}
	for _, name := range formats {
		if !keys[name].present() {
			continue
		}
		if s.Format != "" {
			keys[name].failKey("", "a source is one of csv, jsonl, xlsx, parquet, duckdb, postgres; found %s too", s.Format)
			continue
		}
		if s.Format = Format(name); s.Format == Postgres {
			keys[name].server(&s)
			continue
		}
		s.Path, s.File, s.Local = keys[name].file(dir)
	}
	switch s.Format {
	case "":
		f.failKey("", "a source is one of csv, jsonl, xlsx, parquet, duckdb, postgres")
		return s
	case DuckDB:
		s.Table = name
		if inside, ok := keys["table"].text(); ok {
			s.Table = inside
			if inside == "" || strings.ContainsFunc(inside, unicode.IsControl) {
				keys["table"].fail("", "not the name of a table")
			}
		}
	case Postgres:
		keys["table"].need(f, "write, for example, table: public.visits")
		s.Schema, s.Table = keys["table"].qualified()
		s.Path = s.Schema + "." + s.Table + " (" + s.Local + ")"
	default:
		if keys["table"].present() {
			keys["table"].failKey("", "applies only to duckdb and postgres sources")
		}
	}
	if s.Format == XLSX {
		s.Table = keys["sheet"].sheet()
	} else if keys["sheet"].present() {
		keys["sheet"].failKey("", "applies only to xlsx sources")
	}
	for _, k := range []string{"delimiter", "quote", "encoding"} {
		if s.Format != CSV && keys[k].present() {
			keys[k].failKey("", "applies only to csv sources")
		}
	}
	for _, k := range append([]string{"header", "null"}, spellingKeys...) {
		if s.Format != CSV && s.Format != XLSX && k != "encoding" && keys[k].present() {
			keys[k].failKey("", "applies only to csv and xlsx sources")
		}
	}
	switch s.Format {
	case CSV:
		s.Dialect = r.dialect(keys, s.Path)
	case XLSX:
		s.Dialect = Dialect{Header: keys["header"].boolean(true)}
		r.spelling(keys, &s.Dialect)
		if keys["gzip"].present() {
			keys["gzip"].failKey("", "applies only to csv and jsonl sources")
		}
	case JSONLines:
		s.Dialect.Gzip = keys["gzip"].boolean(DefaultDialect(s.Path).Gzip)
	default:
		if keys["gzip"].present() {
			keys["gzip"].failKey("", "applies only to csv and jsonl sources")
		}
	}
	return s
}

// sheet reads the name of a sheet, as the workbook shows it.
func (f field) sheet() string {
	s, ok := f.text()
	if ok && (s == "" || len(s) > maxNameBytes || strings.ContainsFunc(s, unicode.IsControl)) {
		f.fail("omit the key if the workbook has one visible sheet", "not the name of a sheet")
	}
	return s
}

// oneSheet refuses a table from the same workbook as an earlier one, unless both name their sheets. Otherwise one sheet
// could be both.
func (r *reader) oneSheet(e field, t *Table, before []*Table) {
	for _, other := range before {
		if other.Source.Format == XLSX && other.Source.File == t.Source.File && t.Source.File != "" &&
			(other.Source.Table == "" || t.Source.Table == "") {
			e.failKey("declare source: {sheet: …} for both", "tables %s and %s have the same workbook",
				quote(other.Name), quote(t.Name))
		}
	}
}

// file reads a path. It returns the path as written, the path resolved against the policy's folder, and a spelling
// that is the same for every way to write the path.
func (f field) file(dir string) (path, resolved, local string) {
	path, ok := f.text()
	switch {
	case !ok:
		return "", "", ""
	case path == "" || strings.ContainsFunc(path, unicode.IsControl):
		f.fail("", "not the path of a file")
		return "", "", ""
	case strings.Contains(path, "://"): // do not quote the value, which may contain a password
		f.fail("to read from a server, write postgres: {service: clinic}", "a URL is not the path of a file")
		return "", "", ""
	case !filepath.IsAbs(path):
		return path, filepath.Join(dir, path), filepath.Clean(path)
	}
	local = filepath.Clean(path)
	if filepath.IsAbs(dir) {
		if rel, err := filepath.Rel(dir, local); err == nil {
			local = rel
		}
	}
	return path, filepath.Clean(path), local
}

// DefaultDialect returns the dialect of a CSV file with the given path if the policy declares none.
func DefaultDialect(path string) Dialect {
	return Dialect{Delimiter: ',', Quote: '"', Header: true, Gzip: strings.HasSuffix(strings.ToLower(path), ".gz")}
}

func (r *reader) dialect(keys map[string]field, path string) Dialect {
	d := DefaultDialect(path)
	if c, ok := keys["delimiter"].character(); ok {
		d.Delimiter = c
	}
	if c, ok := keys["quote"].character(); ok {
		d.Quote = c
	}
	if d.Delimiter == d.Quote {
		at := keys["quote"]
		if !at.present() {
			at = keys["delimiter"]
		}
		at.fail("", "the quote and the delimiter are the same character")
	}
	d.Header = keys["header"].boolean(d.Header)
	d.Gzip = keys["gzip"].boolean(d.Gzip)
	r.spelling(keys, &d)
	for _, s := range d.Nulls() {
		if strings.ContainsRune(s, d.Delimiter) || strings.ContainsRune(s, d.Quote) ||
			strings.ContainsFunc(s, unicode.IsControl) {
			keys["null"].fail("", "no unquoted field can have the text %s", quote(s))
		}
	}
	return d
}

// character reads a delimiter or a quote character.
func (f field) character() (rune, bool) {
	s, ok := f.text()
	if !ok {
		return 0, false
	}
	c, ok := ParseDelimiter(s)
	if !ok {
		f.fail(`write ",", ";", "|" or tab`,
			"must be one ASCII character that is not a letter or digit, found %s", quote(s))
	}
	return c, ok
}

// ParseDelimiter parses one printable ASCII character that is not a letter or a digit, or a tab. A tab is written
// as itself, as \t, or as the word tab.
func ParseDelimiter(s string) (rune, bool) {
	if s == "tab" || s == `\t` || s == "\t" {
		return '\t', true
	}
	c, size := utf8.DecodeRuneInString(s)
	if size != len(s) || c < ' ' || c > '~' || unicode.IsLetter(c) || unicode.IsDigit(c) {
		return 0, false
	}
	return c, true
}
