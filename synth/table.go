package synth

import (
	"bufio"
	"encoding/csv"
	"io"
)

// Table is the rows of a synthetic table. They are drawn as they are written, and are the same each time.
type Table struct {
	Name    string    // of the real table
	Release string    // that paid for the measurements
	Columns []*Column // in the order of the real table
	each    func(yield func(row []string, null []bool) error) error
}

// Table returns the rows of a result.
func (r *Result) Table() *Table {
	return &Table{Name: r.Plan.Table, Release: r.Release, Columns: r.Plan.Output(), each: r.Each}
}

// Each calls yield for each row, with its values as texts in the order of Columns. null says which are NULL. yield must
// not keep the slices. Each returns the first error of yield.
func (t *Table) Each(yield func(row []string, null []bool) error) error { return t.each(yield) }

// WriteCSV writes the rows as CSV, with a line of names. NULL is an empty field.
func (t *Table) WriteCSV(to io.Writer) error {
	buffer := bufio.NewWriterSize(to, 1<<16)
	w := csv.NewWriter(buffer)
	var header []string
	for _, c := range t.Columns {
		header = append(header, c.Name)
	}
	if err := w.Write(header); err != nil {
		return err
	}
	err := t.Each(func(row []string, _ []bool) error {
		if len(row) > 1 || row[0] != "" {
			return w.Write(row)
		}
		w.Flush() // an empty line would be no row
		_, err := buffer.WriteString("\"\"\n")
		return err
	})
	if err != nil {
		return err
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return buffer.Flush()
}
