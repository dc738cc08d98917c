// Package csvtable decodes a CSV file strictly against a declared schema, for the owner, once, at sealing.
//
// Nothing is guessed: the dialect and the columns are declared. Anything that does not fit is an error that names the
// row, the line and the column, and never quotes a cell. MaxRecordBytes bounds the memory whatever the file holds, so a
// quote that never closes or a line of 100 MB costs one record's buffer, not the file.
//
// The grammar is RFC 4180's with the declared delimiter and quote:
//
//   - a record ends at LF or CRLF, or at the end of the file; a CR elsewhere belongs inside quotes;
//   - a quote opens a quoted field only as its first character, is doubled inside it, and after the closing one comes a
//     delimiter or the record's end; line ends inside quotes are kept as they are;
//   - every record has as many fields as the header or, without one, as there are declared columns;
//   - an empty line is no record: at the very end of the file it is skipped, anywhere else it is an error. This holds
//     for a table of one column too, so declare a text for NULL there;
//   - a UTF-8 byte order mark at the start is skipped; NUL and invalid UTF-8 are errors in any field, declared or not;
//   - an unquoted field that reads as Dialect.Null is NULL; a quoted one never is.
package csvtable

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"dither/internal/policy"
	"dither/internal/value"
)

// MaxRecordBytes bounds a record, line ends and quotes included.
const MaxRecordBytes = 1 << 20

// Error is a fault of the file, for its owner. It has positions and names, never a cell's content.
type Error struct {
	Row     int64  // the data record, 1-based; 0 for the header or the file as a whole
	Line    int64  // the line of the fault, or where the record begins; 0 if unknown
	Column  string // the declared column, "" if the fault is the record's
	Message string
	Err     error // the reader's own failure, if that is the cause
}

// Error states the place and the fault.
func (e *Error) Error() string {
	var where []string
	if e.Row > 0 {
		where = append(where, fmt.Sprintf("row %d", e.Row))
	}
	if e.Line > 0 {
		where = append(where, fmt.Sprintf("line %d", e.Line))
	}
	if e.Column != "" {
		where = append(where, fmt.Sprintf("column %q", e.Column))
	}
	if where == nil {
		return e.Message
	}
	return strings.Join(where, ", ") + ": " + e.Message
}

// Unwrap is the underlying reader's error, if that is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Invalid counts the values of one column that could not be read and became NULL.
type Invalid struct {
	Column   string
	Count    int64
	FirstRow int64 // 1-based
}

// Reader reads typed rows. After an error, io.EOF included, every Read returns that error again.
type Reader struct {
	scan     scanner
	null     string
	columns  []*policy.Column
	field    []int // column → index of its field in a record
	width    int   // fields that a record must have
	ignored  []string
	invalids []Invalid // per column
	row      int64
	err      error
}

// New starts a reader of r: it checks the dialect and, if there is a header, reads it and finds the columns in it by
// name, in any order. It ignores fields without a declared column. Faults of the file are *Error.
func New(r io.Reader, d policy.Dialect, columns []*policy.Column) (*Reader, error) {
	if err := checkDialect(d); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, errors.New("no columns are declared")
	}
	t := &Reader{
		scan: scanner{
			in: bufio.NewReaderSize(r, 1<<16), delimiter: byte(d.Delimiter),
			quote: byte(d.Quote), line: 1,
		},
		null:     d.Null,
		columns:  columns,
		field:    make([]int, len(columns)),
		width:    len(columns),
		invalids: make([]Invalid, len(columns)),
	}
	for i, c := range columns {
		t.field[i] = i
		t.invalids[i].Column = c.Name
	}
	if mark, _ := t.scan.in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = t.scan.in.Discard(3)
	}
	if d.Header {
		if err := t.readHeader(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func checkDialect(d policy.Dialect) error {
	for _, c := range []struct {
		name string
		r    rune
	}{{"delimiter", d.Delimiter}, {"quote", d.Quote}} {
		if c.name == "quote" && c.r == 0 {
			continue // no quoting at all
		}
		if c.r <= 0 || c.r >= utf8.RuneSelf || c.r == '\r' || c.r == '\n' {
			return fmt.Errorf("the %s must be one ASCII character other than NUL, CR and LF", c.name)
		}
	}
	if d.Delimiter == d.Quote {
		return errors.New("the delimiter and the quote are the same character")
	}
	return nil
}

func (t *Reader) readHeader() error {
	err := t.scan.next()
	if errors.Is(err, io.EOF) {
		return &Error{Message: "the file is empty; its first line should name the columns (header: true)"}
	}
	if err != nil {
		return err
	}
	names, first := t.scan.texts(), make(map[string]int)
	seen := make(map[string]int)
	for i, name := range names {
		if seen[name]++; seen[name] == 1 {
			first[name] = i
		}
	}
	declared := make(map[string]bool)
	for i, c := range t.columns {
		at, ok := first[c.Name]
		if !ok {
			return &Error{Line: 1, Column: c.Name, Message: "the header does not name this column"}
		}
		if seen[c.Name] > 1 {
			return &Error{Line: 1, Column: c.Name, Message: "the header names this column more than once"}
		}
		t.field[i], declared[c.Name] = at, true
	}
	for _, name := range names {
		if !declared[name] {
			t.ignored = append(t.ignored, name)
		}
	}
	t.width = len(names)
	return nil
}

// Ignored names the header's columns that are not declared, in the file's order.
func (t *Reader) Ignored() []string { return t.ignored }

// Row is the 1-based number of the data record that Read read last; 0 before the first.
func (t *Reader) Row() int64 { return t.row }

// Invalids lists, in the declared order, the columns with values that were unreadable and became NULL.
func (t *Reader) Invalids() []Invalid {
	var found []Invalid
	for _, v := range t.invalids {
		if v.Count > 0 {
			found = append(found, v)
		}
	}
	return found
}

// Read reads the next record into row, one value of the declared type per column in the declared order. It returns
// io.EOF after the last, *Error for a fault of the file, and panics if row is not as long as the columns.
func (t *Reader) Read(row []value.Value) error {
	if len(row) != len(t.columns) {
		panic("csvtable: a row of another width")
	}
	if t.err == nil {
		t.err = t.read(row)
	}
	return t.err
}

func (t *Reader) read(row []value.Value) error {
	if err := t.scan.next(); err != nil {
		var fault *Error
		if errors.As(err, &fault) {
			fault.Row = t.row + 1
		}
		return err
	}
	t.row++
	if got := len(t.scan.fields); got != t.width {
		return t.fault("", fmt.Sprintf("the record has %d fields instead of %d", got, t.width))
	}
	record := string(t.scan.record) // the text values are parts of this one string
	for i, c := range t.columns {
		f := t.scan.fields[t.field[i]]
		text := record[f.start:f.end]
		if !f.quoted && text == t.null {
			if !c.Nullable {
				return t.fault(c.Name, "the value is NULL, but the column is not declared nullable")
			}
			row[i] = value.NullOf(c.Type)
			continue
		}
		v, err := value.Parse(c.Type, text)
		if err != nil {
			if c.Invalid != policy.InvalidIsNull || !c.Nullable {
				return t.fault(c.Name, Misspelt(c.Type, text))
			}
			if t.invalids[i].Count++; t.invalids[i].Count == 1 {
				t.invalids[i].FirstRow = t.row
			}
			v = value.NullOf(c.Type)
		}
		row[i] = v
	}
	return nil
}

func (t *Reader) fault(column, message string) *Error {
	return &Error{Row: t.row, Line: t.scan.began, Column: column, Message: message}
}
