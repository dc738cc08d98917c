package csvtable

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fault is one kind of fault in one column, with its number and its first places.
type Fault struct {
	Column  string  // "" for a fault of whole records
	Message string  // what is wrong, and what to do; never the content of a cell
	Count   int64   // the number of fields or records with this fault; 0 if the column as a whole is at fault
	Rows    []int64 // the first rows with this fault, from 1, at most firstRows
	Line    int64   // the line of the first one; 0 if unknown
}

// firstRows is the number of rows that a Fault names.
const firstRows = 3

// Faults collects the faults of a source, so that its owner sees all of them after one reading. The zero value is
// ready to use. Its size is bounded: messages are constants, so each column has few of them.
type Faults struct {
	list  []Fault
	place map[[2]string]int // column and message → index in list
}

// Add records a fault of one field, or of one record if the column is "".
func (f *Faults) Add(column, message string, row, line int64) {
	key := [2]string{column, message}
	i, again := f.place[key]
	if !again {
		if f.place == nil {
			f.place = map[[2]string]int{}
		}
		i = len(f.list)
		f.place[key] = i
		f.list = append(f.list, Fault{Column: column, Message: message, Line: line})
	}
	found := &f.list[i]
	if found.Count++; len(found.Rows) < firstRows {
		found.Rows = append(found.Rows, row)
	}
}

// AddColumn records a fault that has been counted already, or a fault of the column as a whole.
func (f *Faults) AddColumn(fault Fault) { f.list = append(f.list, fault) }

// None reports whether there is no fault.
func (f *Faults) None() bool { return len(f.list) == 0 }

// Err returns nil if there is no fault, and otherwise an *Error with all faults: those of records, and then in the
// order of the columns. stopped is the fault that ended the reading early, or nil. The parameter columns names the
// columns in the declared order.
func (f *Faults) Err(columns []string, stopped error) error {
	if f.None() {
		return stopped
	}
	list := slices.Clone(f.list)
	place := map[string]int{"": -1}
	for i, name := range columns {
		place[name] = i
	}
	slices.SortStableFunc(list, func(a, b Fault) int { return place[a.Column] - place[b.Column] })
	if only := list[0]; len(list) == 1 && only.Count <= 1 && stopped == nil {
		e := &Error{Line: only.Line, Column: only.Column, Message: only.Message, Faults: list}
		if len(only.Rows) > 0 {
			e.Row = only.Rows[0]
		}
		return e
	}
	return &Error{Message: describe(list, stopped), Faults: list, Err: stopped}
}

// describe lists faults, one per line.
func describe(list []Fault, stopped error) string {
	var b strings.Builder
	names := map[string]bool{}
	for _, f := range list {
		names[f.Column] = true
	}
	switch n := int64(len(names)); {
	case !names[""]:
		b.WriteString(counted(n, "column has", "columns have") + " faults:")
	case n == 1:
		b.WriteString("records have faults:")
	default:
		b.WriteString("records and " + counted(n-1, "column", "columns") + " have faults:")
	}
	for _, f := range list {
		switch {
		case f.Column == "":
			b.WriteString("\n- " + counted(f.Count, "record", "records"))
		case f.Count > 0:
			fmt.Fprintf(&b, "\n- column %q, %s", f.Column, counted(f.Count, "field", "fields"))
		default:
			fmt.Fprintf(&b, "\n- column %q", f.Column)
		}
		b.WriteString(f.places() + ": " + f.Message)
	}
	if stopped != nil {
		b.WriteString("\n- later rows were not read: " + stopped.Error())
	}
	return b.String()
}

// places names the first rows of a fault.
func (f Fault) places() string {
	if len(f.Rows) == 0 {
		return ""
	}
	numbers := make([]string, len(f.Rows))
	for i, row := range f.Rows {
		numbers[i] = strconv.FormatInt(row, 10)
	}
	text, word := strings.Join(numbers, ", "), " in row "
	if f.Count > int64(len(f.Rows)) {
		text += ", …"
	}
	if f.Count > 1 {
		word = " in rows "
	}
	if f.Line > 0 {
		text += fmt.Sprintf(" (the first on line %d)", f.Line)
	}
	return word + text
}

func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
