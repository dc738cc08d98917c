package csvtable

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"dither/internal/policy"
	"dither/internal/value"
)

// Table is what the readers of all formats share: the declared columns, and the faults that were found in them.
type Table struct {
	columns  []*policy.Column
	invalids []Invalid // by column
	faults   Faults
	err      error
}

// NewTable returns a Table of the declared columns, of which there must be one.
func NewTable(columns []*policy.Column) (Table, error) {
	if len(columns) == 0 {
		return Table{}, errors.New("no columns are declared")
	}
	t := Table{columns: columns, invalids: make([]Invalid, len(columns))}
	for i, c := range columns {
		t.invalids[i].Column = c.Name
	}
	return t, nil
}

// Invalids lists the columns in which unreadable values became NULL, in the declared order.
func (t *Table) Invalids() []Invalid {
	return slices.DeleteFunc(slices.Clone(t.invalids), func(v Invalid) bool { return v.Count == 0 })
}

// Next reads a row with read. If that records a fault of a column, Next reads on to the end of the source, and its error
// lists the faults of all columns. After an error, including io.EOF, Next returns the same error again. It panics if the
// length of row is not the number of columns.
func (t *Table) Next(row []value.Value, read func([]value.Value) error) error {
	if len(row) != len(t.columns) {
		panic("csvtable: a row of another width")
	}
	if t.err != nil {
		return t.err
	}
	for t.err == nil {
		if t.err = read(row); t.faults.None() {
			return t.err
		}
	}
	stopped := t.err
	if errors.Is(stopped, io.EOF) {
		stopped = nil
	}
	t.err = t.Err(stopped)
	return t.err
}

// Err returns the faults of all columns as an *Error. Without faults, it returns stopped, which ended the reading.
func (t *Table) Err(stopped error) error {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	return t.faults.Err(names, stopped)
}

// Fault records a fault of column i in a row. line is 0 if a source has no lines.
func (t *Table) Fault(i int, message string, row, line int64) {
	t.faults.Add(t.columns[i].Name, message, row, line)
}

// Record records a fault of a whole row.
func (t *Table) Record(message string, row, line int64) { t.faults.Add("", message, row, line) }

// Unreadable records that a value of column i cannot be read. The value becomes NULL if the policy says so. Otherwise it is
// a fault with the given message.
func (t *Table) Unreadable(i int, message string, row, line int64) {
	if c := t.columns[i]; c.Invalid != policy.InvalidIsNull || !c.Nullable {
		t.Fault(i, message, row, line)
	} else if t.invalids[i].Count++; t.invalids[i].Count == 1 {
		t.invalids[i].FirstRow = row
	}
}

// Header describes the places of a header's names in messages. A message never quotes a name, because the first row of
// a source without a header is a person's.
type Header struct {
	One, Many string           // "its field" and "its fields", for example
	Place     func(int) string // the place of a name, by its index
	Line      int64            // the line of the header, or 0
}

// Find returns the index of each declared column's name in a header, and the names that are not declared. It returns an
// *Error if the header lacks a name, or has it twice.
func (t *Table) Find(names []string, h Header) (places []int, ignored []string, err error) {
	at := make(map[string][]int, len(names))
	for i, name := range names {
		at[name] = append(at[name], i)
	}
	places = make([]int, len(t.columns))
	declared := make(map[string]bool, len(t.columns))
	var alike map[string]int // the first field with each name, without blanks and case
	for i, c := range t.columns {
		declared[c.Name] = true
		message := "the header does not name this column"
		switch found := at[c.Name]; {
		case len(found) == 1:
			places[i] = found[0]
			continue
		case len(found) > 1:
			message = fmt.Sprintf("the header names this column more than once, in %s %s and %s", h.Many, h.Place(found[0]),
				h.Place(found[1]))
		default:
			if alike == nil {
				alike = firstPlaces(names)
			}
			if near, ok := alike[folded(c.Name)]; ok {
				message += fmt.Sprintf("; %s %s differs only in case, or in blanks around the name", h.One, h.Place(near))
			}
		}
		t.faults.AddColumn(Fault{Column: c.Name, Message: message, Line: h.Line})
	}
	if err := t.Err(nil); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if !declared[name] {
			ignored = append(ignored, name)
		}
	}
	return places, ignored, nil
}

// NamesAny reports whether a header has the name of some declared column, perhaps in another case or with blanks.
func (t *Table) NamesAny(header []string) bool {
	alike := firstPlaces(header)
	return slices.ContainsFunc(t.columns, func(c *policy.Column) bool {
		_, found := alike[folded(c.Name)]
		return found
	})
}

// firstPlaces returns the index of the first of the names that are equal without blanks and case.
func firstPlaces(names []string) map[string]int {
	out := make(map[string]int, len(names))
	for i, name := range names {
		if _, ok := out[folded(name)]; !ok {
			out[folded(name)] = i
		}
	}
	return out
}

// folded returns a name without blanks around it, in which each letter stands for all letters that strings.EqualFold
// takes for equal.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, strings.TrimSpace(name))
}
