// Package csvtable decodes a CSV file strictly against a declared schema. Sealing uses it, for the owner.
//
// The reader guesses nothing: the dialect and the columns are declared. Anything that does not fit is an error. The
// error names the row, the line and the column, and never quotes a cell. MaxRecordBytes bounds the memory, whatever
// the file holds: a quote that never closes, or a line of 100 MB, needs the buffer of one record and not of the
// file.
//
// The grammar is that of RFC 4180 with the declared delimiter and quote:
//
//   - A record ends at LF or CRLF, or at the end of the file. Any other CR must be inside quotes.
//   - A quoted field begins with a quote as its first character. A quote inside it is doubled. After the closing
//     quote comes a delimiter or the end of the record. Line ends inside quotes are kept as they are.
//   - Every record has as many fields as the header or, without a header, as there are declared columns.
//   - An empty line at the very end of the file is skipped. Any other empty line is an error, even in a table of one
//     column. For NULL in such a table, declare a text that stands for it.
//   - The text is UTF-8, or in the declared encoding (see [Text]). A byte order mark at the start is skipped. NUL and
//     bytes that are not valid in the encoding are errors in any field, declared or not.
//   - [spelling.Spelling] reads the fields as values.
package csvtable

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dither/internal/policy"
	"dither/internal/spelling"
	"dither/internal/value"
)

// MaxRecordBytes is the largest number of bytes of a record, including line ends and quotes.
const MaxRecordBytes = 1 << 20

// Error is a fault of the file, for its owner. It contains positions and names, and never the content of a cell.
type Error struct {
	Row     int64  // number of the data record, from 1; 0 for the header or the file as a whole
	Line    int64  // line of the fault, or on which the record begins; 0 if unknown
	Column  string // the declared column; "" if the fault concerns the whole record
	Message string
	Faults  []Fault // all faults of columns, if there are any
	Err     error   // the error of the underlying reader, if that is the cause
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

// Unwrap returns the error of the underlying reader, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Invalid counts the values of one column that could not be read and became NULL.
type Invalid struct {
	Column   string
	Count    int64
	FirstRow int64 // from 1
}

// Reader reads typed rows. After an error, including io.EOF, every call of Read returns the same error.
type Reader struct {
	scan     scanner
	spelling *spelling.Spelling
	table    Table
	columns  []*policy.Column
	field    []int // by column: the index of its field in a record
	width    int   // the number of fields of each record
	ignored  []string
	row      int64
	lengths  []int // the wrong numbers of fields that were found first
}

// New returns a reader of r. It checks the dialect. If there is a header, New reads it and finds the declared
// columns in it by name, in any order. Fields without a declared column are ignored. Faults of the file are
// returned as *Error.
func New(r io.Reader, d policy.Dialect, columns []*policy.Column) (*Reader, error) {
	if err := checkDialect(d); err != nil {
		return nil, err
	}
	table, err := NewTable(columns)
	if err != nil {
		return nil, err
	}
	encoding := ""
	if d.Spelling != nil {
		encoding = d.Spelling.Encoding
	}
	in, err := Text(r, encoding)
	if err != nil {
		return nil, err
	}
	t := &Reader{
		scan: scanner{
			in: in, delimiter: byte(d.Delimiter), quote: byte(d.Quote), encoding: encoding, line: 1,
		},
		spelling: spelling.New(d),
		table:    table,
		columns:  columns,
		field:    make([]int, len(columns)),
		width:    len(columns),
	}
	for i := range columns {
		t.field[i] = i
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
			continue // 0 means that there is no quoting
		}
		if c.r <= 0 || c.r >= utf8.RuneSelf || c.r == '\r' || c.r == '\n' {
			return fmt.Errorf("the %s must be one ASCII character other than NUL, CR and LF", c.name)
		}
	}
	if d.Delimiter == d.Quote {
		return errors.New("the delimiter and the quote must be different characters")
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
	names := t.scan.texts()
	t.width = len(names)
	t.field, t.ignored, err = t.table.Find(names, Header{
		One: "its field", Many: "its fields", Line: 1, Place: func(i int) string { return strconv.Itoa(i + 1) },
	})
	return err
}

// Ignored returns the names of the header's columns that are not declared, in the order of the file.
func (t *Reader) Ignored() []string { return t.ignored }

// Row returns the number, from 1, of the last data record that was read, or 0 before the first.
func (t *Reader) Row() int64 { return t.row }

// Read reads the next record into row: one value of the declared type for each column, in the declared order. It
// returns io.EOF after the last record, and an *Error for a fault of the file. If a field cannot be read, or a record
// has a wrong number of fields, Read reads on to the end of the file, and its error lists all such faults. It panics if
// the length of row is not the number of columns.
func (t *Reader) Read(row []value.Value) error { return t.table.Next(row, t.read) }

// Invalids lists the columns in which unreadable values became NULL, in the declared order.
func (t *Reader) Invalids() []Invalid { return t.table.Invalids() }

// read reads the next record. It records faults of columns and wrong lengths in t.table, and returns any other fault.
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
		t.table.Record(t.length(got), t.row, t.scan.began)
		return nil
	}
	record := string(t.scan.record) // all texts of the row share this string
	for i, c := range t.columns {
		f := t.scan.fields[t.field[i]]
		row[i] = t.value(i, c, record[f.start:f.end], f.quoted)
	}
	return nil
}

// otherLengths is how many wrong numbers of fields have a message of their own, so that there are few messages.
const otherLengths = 3

// length states that a record has a wrong number of fields.
func (t *Reader) length(got int) string {
	if !slices.Contains(t.lengths, got) {
		if len(t.lengths) == otherLengths {
			return fmt.Sprintf("the record has another number of fields than %d", t.width)
		}
		t.lengths = append(t.lengths, got)
	}
	return fmt.Sprintf("the record has %s instead of %d", counted(int64(got), "field", "fields"), t.width)
}

// value reads the field of column i.
func (t *Reader) value(i int, c *policy.Column, text string, quoted bool) value.Value {
	v, ok := t.spelling.Value(c, text, quoted)
	switch {
	case !ok:
		t.table.Unreadable(i, Misspelt(c.Type, text), t.row, t.scan.began)
	case v.Null && !c.Nullable:
		t.table.Fault(i, "the value is NULL, but the column is not declared nullable", t.row, t.scan.began)
	}
	return v
}
