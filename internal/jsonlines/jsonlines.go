// Package jsonlines decodes a file of JSON objects, one per line, strictly against declared columns. Sealing uses
// it. As in package csvtable, nothing is guessed. An error names the row and the column and never quotes a value.
// MaxLineBytes bounds the memory, whatever the file contains.
//
//   - A line ends at LF or CRLF, or at the end of the file. It contains one object (RFC 8259) and nothing else. An
//     empty line at the very end of the file is skipped; any other empty line is an error. A UTF-8 byte order mark
//     at the start is skipped.
//   - A key names a column. An undeclared key is ignored, whatever its value. A key that occurs twice in an object
//     is an error. Invalid UTF-8 and unpaired surrogates are errors too, because readers of JSON disagree about
//     them.
//   - null and a missing key are NULL.
//   - A column of type integer or real accepts numbers, parsed from their text. A boolean column accepts true and
//     false, a text column strings, and a date column strings of the form YYYY-MM-DD. A timestamp or a
//     time column accepts strings, as in package csvtable. Nothing else is converted:
//     "12" is not a number, and 12.0 is not an integer.
package jsonlines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

// MaxLineBytes is the largest size of a line in bytes, including its end.
const MaxLineBytes = 1 << 20

// Reader reads rows of typed values. After an error, including io.EOF, every Read returns that error again.
type Reader struct {
	in      *bufio.Reader
	columns []*policy.Column
	place   map[string]int // column name → index in columns
	ignored []string
	line    []byte
	seen    []bool // whether the current object has the column, by index in columns
	table   csvtable.Table
	row     int64
}

// maxIgnored is the largest number of undeclared keys that Ignored returns.
const maxIgnored = 100

// New returns a Reader that reads the columns from r.
func New(r io.Reader, columns []*policy.Column) (*Reader, error) {
	table, err := csvtable.NewTable(columns)
	if err != nil {
		return nil, err
	}
	t := &Reader{
		in: bufio.NewReaderSize(r, 1<<16), columns: columns, place: map[string]int{}, seen: make([]bool, len(columns)),
		table: table,
	}
	for i, c := range columns {
		t.place[c.Name] = i
	}
	if mark, _ := t.in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = t.in.Discard(3)
	}
	return t, nil
}

// Ignored returns undeclared keys, in the order of their first occurrence, at most maxIgnored of them.
func (t *Reader) Ignored() []string { return t.ignored }

// Row returns the number of the row that Read read last, from 1; 0 before the first. It is also the number of its
// line.
func (t *Reader) Row() int64 { return t.row }

// Invalids lists, in the declared order, the columns in which some values were unreadable and became NULL.
func (t *Reader) Invalids() []csvtable.Invalid { return t.table.Invalids() }

// Read reads the next object into row: for each column, in the declared order, one value of its type. It returns
// io.EOF after the last object, and *csvtable.Error for an error in the file. If a value cannot be read, Read reads on
// to the end of the file, and its error lists the faults of all columns. It panics if row and the columns differ in
// length.
func (t *Reader) Read(row []value.Value) error { return t.table.Next(row, t.read) }

func (t *Reader) read(row []value.Value) error {
	if err := t.next(); err != nil {
		return err
	}
	clear(t.seen)
	d := json.NewDecoder(bytes.NewReader(t.line))
	d.UseNumber()
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return t.fault("", "the line is not a JSON object")
	}
	for d.More() {
		if err := t.member(d, row); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return t.malformed()
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return t.fault("", "the line contains more than one object")
	}
	for i, c := range t.columns {
		if t.seen[i] {
			continue
		}
		if !c.Nullable {
			t.table.Fault(i, "the object has no such key, and the column is not declared nullable", t.row, t.row)
		}
		row[i] = value.NullOf(c.Type)
	}
	return nil
}

// next reads the next line into t.line and checks it. It returns io.EOF after the last line.
func (t *Reader) next() error {
	t.line = t.line[:0]
	for {
		part, err := t.in.ReadSlice('\n')
		t.line = append(t.line, part...)
		if len(t.line) > MaxLineBytes {
			t.row++
			return t.fault("", fmt.Sprintf("the line is longer than %d bytes", MaxLineBytes))
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && len(t.line) == 0 {
			return io.EOF
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return &csvtable.Error{Row: t.row + 1, Message: err.Error(), Err: err}
		}
		break
	}
	t.row++
	switch line := bytes.TrimSpace(t.line); {
	case len(line) == 0 && t.atEnd():
		t.row--
		return io.EOF
	case len(line) == 0:
		return t.fault("", "the line is empty")
	case !utf8.Valid(line):
		return t.fault("", "the line is not valid UTF-8")
	case halves(line):
		return t.fault("", `the line contains half of a surrogate pair (\ud800 to \udfff)`)
	}
	return nil
}

// atEnd reports whether the whole file has been read.
func (t *Reader) atEnd() bool {
	_, err := t.in.Peek(1)
	return err != nil
}

// member reads one key and its value, and stores the value in row.
func (t *Reader) member(d *json.Decoder, row []value.Value) error {
	token, err := d.Token()
	key, ok := token.(string)
	if err != nil || !ok {
		return t.malformed()
	}
	i, declared := t.place[key]
	if !declared {
		if len(t.ignored) < maxIgnored && !slices.Contains(t.ignored, key) {
			t.ignored = append(t.ignored, key)
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return t.malformed()
		}
		return nil
	}
	if t.seen[i] {
		return t.fault(key, "the object has this key twice")
	}
	t.seen[i] = true
	var found any
	if token, err := d.Token(); err != nil {
		return t.malformed()
	} else if opens, nested := token.(json.Delim); nested {
		found = opens
		if err := skip(d); err != nil {
			return t.malformed()
		}
	} else {
		found = token
	}
	row[i] = t.value(i, found)
	return nil
}

// skip skips the rest of a list or an object whose opening delimiter was read.
func skip(d *json.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// value converts found, the value of a key, to the type of column i. If that fails, it records a fault, or the column's
// value is NULL.
func (t *Reader) value(i int, found any) value.Value {
	c := t.columns[i]
	if found == nil {
		if !c.Nullable {
			t.table.Fault(i, "the value is null, but the column is not declared nullable", t.row, t.row)
		}
		return value.NullOf(c.Type)
	}
	v, err := converted(c, found)
	if err == nil {
		return v
	}
	t.table.Unreadable(i, err.Error(), t.row, t.row)
	return value.NullOf(c.Type)
}

// converted returns found as a value of column c, or an error that says what found is.
func converted(c *policy.Column, found any) (value.Value, error) {
	t := c.Type
	var kind, text string
	takes := false
	switch x := found.(type) {
	case string:
		kind, text = "string", c.Tidy(x)
		takes = t == value.Text || t == value.Date || t == value.Timestamp || t == value.Time
	case json.Number:
		kind, text, takes = "number", x.String(), t == value.Integer || t == value.Real
	case bool:
		if t == value.Boolean {
			return value.OfBool(x), nil
		}
		kind = "boolean"
	default:
		kind = "list or an object"
	}
	if !takes {
		return value.Value{}, fmt.Errorf("the value is a %s, but the column has type %s", kind, t)
	}
	v, err := value.ParseIn(t, text, c.Zone)
	if err != nil {
		return v, errors.New(csvtable.Misspelt(t, text))
	}
	return v, nil
}

func (t *Reader) malformed() error { return t.fault("", "the line is not JSON, or ends too early") }

func (t *Reader) fault(column, message string) error {
	return &csvtable.Error{Row: t.row, Line: t.row, Column: column, Message: message}
}

// halves reports whether a line has an escaped surrogate without its other half. encoding/json would replace it by
// U+FFFD.
func halves(line []byte) bool {
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		high, is := surrogate(line[i:])
		i++ // skip the escaped character
		switch {
		case !is:
		case !high:
			return true
		default:
			low, again := surrogate(line[i+5:])
			if !again || low {
				return true
			}
			i += 10
		}
	}
	return false
}

// surrogate reports, as is, whether text begins with \uD800 to \uDFFF. high reports whether that is the first half
// of a pair.
func surrogate(text []byte) (high, is bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return false, false
	}
	switch c := text[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return true, true
	case c >= 'c' && c <= 'f':
		return false, true
	}
	return false, false
}
