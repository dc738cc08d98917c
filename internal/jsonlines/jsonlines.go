// Package jsonlines decodes a file of JSON objects, one per line, strictly against a declared schema, for the owner,
// once, at sealing. As in csvtable, nothing is guessed, an error names the row and the column and never quotes a value,
// and MaxLineBytes bounds the memory whatever the file holds.
//
//   - A line ends at LF or CRLF, or at the end of the file, and holds one object (RFC 8259) and nothing else. An empty
//     line at the very end of the file is skipped; any other is an error. A UTF-8 byte order mark at the start is
//     skipped.
//   - A key names a column. An undeclared key is ignored, whatever its value. A key that occurs twice in an object is
//     an error, and so are invalid UTF-8 and halves of surrogate pairs, on which readers of JSON disagree.
//   - null and a missing key are NULL.
//   - A column of type integer or real accepts numbers, parsed from their text; boolean accepts true and false; text
//     accepts strings, and date a string YYYY-MM-DD. Nothing else is converted: "12" is no number, and 12.0 no integer.
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

// MaxLineBytes bounds a line, its end included.
const MaxLineBytes = 1 << 20

// Reader reads typed rows. After an error, io.EOF included, every Read returns that error again.
type Reader struct {
	in       *bufio.Reader
	columns  []*policy.Column
	place    map[string]int // of a column, by name
	ignored  []string
	line     []byte
	seen     []bool // by column, in the present object
	invalids []csvtable.Invalid
	row      int64
	err      error
}

// maxIgnored bounds how many undeclared keys are named.
const maxIgnored = 100

// New starts a reader of r.
func New(r io.Reader, columns []*policy.Column) (*Reader, error) {
	if len(columns) == 0 {
		return nil, errors.New("no columns are declared")
	}
	t := &Reader{
		in: bufio.NewReaderSize(r, 1<<16), columns: columns, place: map[string]int{},
		seen: make([]bool, len(columns)), invalids: make([]csvtable.Invalid, len(columns)),
	}
	for i, c := range columns {
		t.place[c.Name], t.invalids[i].Column = i, c.Name
	}
	if mark, _ := t.in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = t.in.Discard(3)
	}
	return t, nil
}

// Ignored names undeclared keys in the order of their first line; at most a hundred.
func (t *Reader) Ignored() []string { return t.ignored }

// Row is the 1-based number of the row that Read read last, which is also its line; 0 before the first.
func (t *Reader) Row() int64 { return t.row }

// Invalids lists, in the declared order, the columns with values that were unreadable and became NULL.
func (t *Reader) Invalids() []csvtable.Invalid {
	return slices.DeleteFunc(slices.Clone(t.invalids), func(v csvtable.Invalid) bool { return v.Count == 0 })
}

// Read reads the next object into row, one value of the declared type per column in the declared order. It returns
// io.EOF after the last, *csvtable.Error for a fault of the file, and panics if row is not as long as the columns.
func (t *Reader) Read(row []value.Value) error {
	if len(row) != len(t.columns) {
		panic("jsonlines: a row of another width")
	}
	if t.err == nil {
		t.err = t.read(row)
	}
	return t.err
}

func (t *Reader) read(row []value.Value) error {
	if err := t.next(); err != nil {
		return err
	}
	clear(t.seen)
	d := json.NewDecoder(bytes.NewReader(t.line))
	d.UseNumber()
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return t.fault("", "the line is no JSON object")
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
		return t.fault("", "the line holds more than one object")
	}
	for i, c := range t.columns {
		if t.seen[i] {
			continue
		}
		if !c.Nullable {
			return t.fault(c.Name, "the object has no such key, and the column is not declared nullable")
		}
		row[i] = value.NullOf(c.Type)
	}
	return nil
}

// next reads a line, without its end.
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
		return t.fault("", `the line holds half of a surrogate pair (\ud800 to \udfff)`)
	}
	return nil
}

// atEnd reports that nothing follows.
func (t *Reader) atEnd() bool {
	_, err := t.in.Peek(1)
	return err != nil
}

// member reads a key and its value.
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
	row[i], err = t.value(i, found)
	return err
}

// skip skips the rest of a list or an object that was just opened.
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

// value converts a key's value.
func (t *Reader) value(i int, found any) (value.Value, error) {
	c := t.columns[i]
	if found == nil {
		if !c.Nullable {
			return value.Value{}, t.fault(c.Name, "the value is null, but the column is not declared nullable")
		}
		return value.NullOf(c.Type), nil
	}
	v, err := converted(c.Type, found)
	if err == nil {
		return v, nil
	}
	if c.Invalid != policy.InvalidIsNull || !c.Nullable {
		return v, t.fault(c.Name, err.Error())
	}
	if t.invalids[i].Count++; t.invalids[i].Count == 1 {
		t.invalids[i].FirstRow = t.row
	}
	return value.NullOf(c.Type), nil
}

// converted returns a value of the type, or an error that says what was found instead.
func converted(t value.Type, found any) (value.Value, error) {
	var kind, text string
	takes := false
	switch x := found.(type) {
	case string:
		kind, text, takes = "string", x, t == value.Text || t == value.Date
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
		return value.Value{}, fmt.Errorf("the value is a %s, and the column of type %s", kind, t)
	}
	v, err := value.Parse(t, text)
	if err != nil {
		return v, errors.New(csvtable.Misspelt(t, text))
	}
	return v, nil
}

func (t *Reader) malformed() error { return t.fault("", "the line is not JSON, or ends too early") }

func (t *Reader) fault(column, message string) error {
	return &csvtable.Error{Row: t.row, Line: t.row, Column: column, Message: message}
}

// halves reports an escaped surrogate without its other half, which encoding/json would replace by U+FFFD.
func halves(line []byte) bool {
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		high, is := surrogate(line[i:])
		i++ // what is escaped
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

// surrogate reports whether a text begins with \uD800 to \uDFFF, and whether that is a first half.
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
