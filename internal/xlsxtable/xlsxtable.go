// Package xlsxtable decodes one sheet of an Excel workbook (.xlsx) strictly against declared columns. Sealing uses it,
// for the owner. As in package csvtable, nothing is guessed, and an error names rows and columns and never quotes a
// cell. The rows in errors are those that Excel shows.
//
// The library excelize opens the package, and reads its list of sheets and its number formats. The cells are read from
// the sheet's XML as a stream (see cells), because a sheet that is cut off must be an error and not a shorter table.
//
//   - The first row with a cell names the columns. Without a header, the declared columns are A, B, C, ….
//   - Each further row is a row of the table. An empty row between others is an error. Empty rows at the end are
//     skipped. Cells outside the named columns are ignored.
//   - A text is read as an unquoted field of a CSV file. A number is read from its stored digits. A number with a
//     date format is a day or a time, and nothing else. A boolean is a boolean alone. An error such as #N/A is
//     unreadable in a column of any type.
//   - A formula has the value that is stored beside it. Nothing is calculated.
//   - Merged cells inside the table are an error, because only the first of them has a value.
//   - MaxBytes bounds the memory, whatever the file contains.
package xlsxtable

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/spelling"
	"dither/internal/value"
)

// Reader reads rows of typed values. After an error, including io.EOF, every Read returns that error again.
type Reader struct {
	cells    *cells
	spelling *spelling.Spelling
	epoch    epoch
	columns  []*policy.Column
	places   []int // by column: its place in the sheet, from 0
	named    bool  // whether there is a header
	first    int   // the first row of the table, from 1, with its header
	row      []cell
	rows     int64
	ignored  []string
	invalids []csvtable.Invalid
	faults   csvtable.Faults
	err      error
}

// New returns a Reader of the sheet that the source declares.
func New(w *Workbook, s policy.Source, columns []*policy.Column) (*Reader, error) {
	if len(columns) == 0 {
		return nil, errors.New("no columns are declared")
	}
	found, err := w.find(s.Table)
	if err != nil {
		return nil, err
	}
	in, err := w.cells(found)
	if err != nil {
		return nil, err
	}
	t := &Reader{
		cells: in, spelling: spelling.New(s.Dialect), epoch: w.epoch, columns: columns,
		places: make([]int, len(columns)), invalids: make([]csvtable.Invalid, len(columns)), first: 1,
	}
	for i, c := range columns {
		t.places[i], t.invalids[i].Column = i, c.Name
	}
	if !s.Dialect.Header {
		return t, nil
	}
	return t, t.readHeader()
}

// headerNames returns the names in a row, by place. A number names a column by its digits.
func headerNames(row []cell) (names map[int]string, err error) {
	names = map[int]string{}
	for _, x := range row {
		name := x.text
		if x.kind == number {
			digits, ok := whole(x.text)
			if name = digits; !ok || x.format == dated {
				return nil, fmt.Errorf("the header's cell in column %s is a number or a date: format it as text", letters(x.column))
			}
		} else if x.kind != words {
			return nil, fmt.Errorf("the header's cell in column %s is not a text", letters(x.column))
		}
		names[x.column] = name
	}
	return names, nil
}

func (t *Reader) readHeader() error {
	row, err := t.cells.next(nil)
	if errors.Is(err, io.EOF) {
		return &csvtable.Error{Message: "the sheet is empty; its first row should name the columns (header: true)"}
	}
	if err != nil {
		return err
	}
	t.first, t.named = t.cells.row, true
	names, err := headerNames(row)
	if err != nil {
		return &csvtable.Error{Message: err.Error()}
	}
	at := map[string][]int{}
	for _, x := range row {
		at[names[x.column]] = append(at[names[x.column]], x.column)
	}
	declared := map[string]bool{}
	for i, c := range t.columns {
		declared[c.Name] = true
		switch found := at[c.Name]; {
		case len(found) == 1:
			t.places[i] = found[0]
		case len(found) > 1:
			t.faults.AddColumn(csvtable.Fault{Column: c.Name, Message: fmt.Sprintf(
				"the header names this column more than once, in columns %s and %s", letters(found[0]), letters(found[1]))})
		default:
			t.faults.AddColumn(csvtable.Fault{Column: c.Name, Message: missing(names, c.Name)})
		}
	}
	for _, x := range row {
		if name := names[x.column]; !declared[name] {
			t.ignored = append(t.ignored, name)
		}
	}
	return t.faults.Err(t.names(), nil)
}

// missing describes the fault of a header without the given name. It names a similar one by its column, because the
// first row of a sheet without a header is a person's.
func missing(header map[int]string, name string) string {
	message := "the header does not name this column"
	near := -1
	for column, other := range header {
		if strings.EqualFold(strings.TrimSpace(other), strings.TrimSpace(name)) && (near < 0 || column < near) {
			near = column
		}
	}
	if near >= 0 {
		message += "; column " + letters(near) + " differs only in case, or in blanks around the name"
	}
	return message
}

func (t *Reader) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	return names
}

// Ignored returns the names in the header that are not declared.
func (t *Reader) Ignored() []string { return t.ignored }

// Row returns the number of rows read so far, without the header.
func (t *Reader) Row() int64 { return t.rows }

// Warnings returns what the owner should know about the rows read so far: hidden ones count like the others.
func (t *Reader) Warnings() []string {
	if t.cells.hidden == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d rows are hidden in the sheet, perhaps by a filter, and were sealed like the others",
		t.cells.hidden)}
}

// Invalids lists, in the declared order, the columns in which some values were unreadable and became NULL.
func (t *Reader) Invalids() []csvtable.Invalid {
	return slices.DeleteFunc(slices.Clone(t.invalids), func(v csvtable.Invalid) bool { return v.Count == 0 })
}

// Read reads the next row: for each column, in the declared order, one value of its type. It returns io.EOF after the
// last row. If a cell cannot be read, Read reads on to the end, and its error lists the faults of all columns. It
// panics if row and the columns differ in length.
func (t *Reader) Read(row []value.Value) error {
	if len(row) != len(t.columns) {
		panic("xlsxtable: a row of another width")
	}
	if t.err != nil {
		return t.err
	}
	for t.err == nil {
		if t.err = t.read(row); t.faults.None() {
			return t.err
		}
	}
	stopped := t.err
	if errors.Is(stopped, io.EOF) {
		stopped = nil
	}
	t.err = t.faults.Err(t.names(), stopped)
	return t.err
}

func (t *Reader) read(row []value.Value) (err error) {
	before := t.cells.row
	t.row, err = t.cells.next(t.row)
	if errors.Is(err, io.EOF) {
		if wrong := t.merged(); wrong != nil {
			return wrong
		}
		return io.EOF
	}
	if err != nil {
		return &csvtable.Error{Message: err.Error(), Err: err}
	}
	if at := t.cells.row; at != before+1 && (t.rows > 0 || t.named) {
		return &csvtable.Error{Message: fmt.Sprintf("row %d of the sheet is empty", before+1)}
	}
	t.rows++
	i := 0
	for j, c := range t.columns {
		if j > 0 && t.places[j] < t.places[j-1] {
			i = 0
		}
		for i < len(t.row) && t.row[i].column < t.places[j] {
			i++
		}
		var x cell
		if i < len(t.row) && t.row[i].column == t.places[j] {
			x = t.row[i]
		}
		row[j] = t.field(j, c, x)
	}
	return nil
}

// field reads the cell of a column. If it cannot be read, field records a fault, or the value is NULL.
func (t *Reader) field(j int, c *policy.Column, x cell) value.Value {
	v, wrong := t.value(c, x)
	switch {
	case wrong == "" && v.Null && !c.Nullable:
		t.faults.Add(c.Name, "the cell is empty or NULL, but the column is not declared nullable", int64(t.cells.row), 0)
	case wrong == "":
	case c.Invalid != policy.InvalidIsNull || !c.Nullable:
		t.faults.Add(c.Name, wrong, int64(t.cells.row), 0)
	default:
		if t.invalids[j].Count++; t.invalids[j].Count == 1 {
			t.invalids[j].FirstRow = int64(t.cells.row)
		}
	}
	return v
}

// merged returns an error if cells of the table are merged.
func (t *Reader) merged() error {
	for _, ref := range t.cells.merged {
		from, to, ok := strings.Cut(ref, ":")
		left, _, fits := place(from)
		right, bottom, also := place(to)
		if !ok || !fits || !also {
			return &csvtable.Error{Message: "the sheet's list of merged cells is damaged"}
		}
		if bottom < t.first || from == to {
			continue
		}
		for _, at := range t.places {
			if left <= at && at <= right {
				return &csvtable.Error{Message: "the cells " + ref + " are merged, so only the first of them has a value: " +
					"unmerge them, and fill in each cell"}
			}
		}
	}
	return nil
}
