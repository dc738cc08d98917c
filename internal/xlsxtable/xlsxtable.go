// Package xlsxtable decodes one sheet of an Excel workbook (.xlsx) strictly against declared columns. Sealing uses it,
// for the owner. As in package csvtable, nothing is guessed, and an error names rows and columns and never quotes a
// cell. The rows in errors are those that Excel shows.
//
// The cells are read from the sheet's XML as a stream (see cells), because a sheet that is cut off must be an error and
// not a shorter table.
//
//   - The first row with a cell names the columns. Without a header, the declared columns are A, B, C, ….
//   - Each further row is a row of the table. An empty row between others is an error. Empty rows at the end are
//     skipped. Cells outside the named columns are ignored.
//   - A text is read as an unquoted field of a CSV file. A number is read from its stored digits. A number with a
//     date format is a day or a time, and nothing else. A boolean is a boolean alone. An error such as #N/A is
//     unreadable in a column of any type.
//   - A formula has the value that is stored beside it. Nothing is calculated.
//   - Merged cells inside the table are an error, because only the first of them has a value.
//   - References of the workbook name its parts: the sheets, the texts and the formats. Other parts have no meaning.
//   - MaxBytes bounds the memory: a workbook takes a few times as much at most, whatever it contains.
package xlsxtable

import (
	"errors"
	"fmt"
	"io"

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
	table    csvtable.Table
}

// New returns a Reader of the sheet that the source declares.
func New(w *Workbook, s policy.Source, columns []*policy.Column) (*Reader, error) {
	table, err := csvtable.NewTable(columns)
	if err != nil {
		return nil, err
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
		places: make([]int, len(columns)), table: table, first: 1,
	}
	for i := range columns {
		t.places[i] = i
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

// deleteTitles tells the owner what to do about rows above the header.
const deleteTitles = "if it is a title, delete the rows above the header"

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
	listed := make([]string, len(row))
	for i, x := range row {
		listed[i] = names[x.column]
	}
	if !t.table.NamesAny(listed) {
		return &csvtable.Error{Message: fmt.Sprintf("row %d is the first with a cell, so it is read as the header, but it names "+
			"none of the declared columns: %s; or declare header: false, if the sheet has no header", t.first, deleteTitles)}
	}
	found, ignored, err := t.table.Find(listed, csvtable.Header{
		One: "column", Many: "columns", Place: func(i int) string { return letters(row[i].column) },
	})
	if err != nil {
		return err
	}
	for i, at := range found {
		t.places[i] = row[at].column
	}
	t.ignored = ignored
	return nil
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
func (t *Reader) Invalids() []csvtable.Invalid { return t.table.Invalids() }

// Read reads the next row: for each column, in the declared order, one value of its type. It returns io.EOF after the
// last row. If a cell cannot be read, Read reads on to the end, and its error lists the faults of all columns. It
// panics if row and the columns differ in length.
func (t *Reader) Read(row []value.Value) error { return t.table.Next(row, t.read) }

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
	case wrong != "":
		t.table.Unreadable(j, wrong, int64(t.cells.row), 0)
	case v.Null && !c.Nullable:
		t.table.Fault(j, "the cell is empty or NULL, but the column is not declared nullable", int64(t.cells.row), 0)
	}
	return v
}

// merged returns an error if cells of the table are merged.
func (t *Reader) merged() error {
	for _, m := range t.cells.merged {
		if m.bottom < t.first || m.left == m.right && m.top == m.bottom {
			continue
		}
		for _, at := range t.places {
			if m.left <= at && at <= m.right {
				return &csvtable.Error{Message: "the cells " + m.String() + " are merged, so only the first of them has a value: " +
					"unmerge them, and fill in each cell"}
			}
		}
	}
	return nil
}
