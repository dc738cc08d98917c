package survey

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"dither/internal/cli/console"
)

// column is a column of a CSV file, which --column names with its values or its bounds.
type column struct {
	name   string
	domain domain // of values
	bounds bounds // of numbers; low is nil for values
}

func (c column) ofNumbers() bool { return c.bounds.low != nil }

// columnsOf parses all --column NAME=FILE, NAME=K and NAME=LO,HI.
func (o *options) columnsOf() (columns []column, err error) {
	if o.domain != "" || o.bounds != "" {
		return nil, console.Usage("--column has the values or the bounds of a column: leave --domain and --bounds out")
	}
	for _, text := range o.column {
		name, of, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, console.Usage("--column must be NAME=FILE, NAME=K or NAME=LO,HI, such as age=0,100, not %q", text)
		}
		if !utf8.ValidString(name) {
			return nil, console.Usage("--column %q is not UTF-8", name)
		}
		if slices.ContainsFunc(columns, func(c column) bool { return c.name == name }) {
			return nil, console.Usage("--column names %q twice", name)
		}
		c := column{name: name}
		if strings.Contains(of, ",") {
			c.bounds, err = boundsOf(of)
		} else {
			c.domain, err = domainOf(of)
		}
		if err != nil {
			about := strings.NewReplacer("--domain", "its domain", "--bounds", "its bounds").
				Replace(strings.TrimPrefix(err.Error(), "usage: "))
			return nil, console.Usage("--column %s: %s", name, about)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// randomizeColumns writes reports about several columns of a CSV file.
func randomizeColumns(s *console.Console, o *options) error {
	if o.devices != "" {
		return console.Usage("--devices is for one column, and the mechanisms rappor, loloha and dbit")
	}
	if o.bits != "" {
		return console.Usage("--bits is for one column")
	}
	columns, err := o.columnsOf()
	if err != nil {
		return err
	}
	numbers := 0
	for _, c := range columns {
		if c.ofNumbers() {
			numbers++
		}
	}
	switch numbers {
	case 0:
		return randomizeMarginals(s, o, columns)
	case len(columns):
		return randomizeVectors(s, o, columns)
	}
	return console.Usage("columns of values and columns of numbers take a file of reports each; " +
		"a person's ε is then the sum of both")
}

// people calls f with the fields of each person, in the order of the columns, and then says if there was nobody. An
// error of f gets the number of the line.
func people(s *console.Console, o *options, columns []column, f func(fields []string) error) (err error) {
	in := s.Stdin
	if o.in != "-" {
		file, err := os.Open(o.in)
		if err != nil {
			return console.Usage("%v", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	name := inputName(o.in)
	rows := csv.NewReader(in)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return console.Usage("%s is empty: it needs a header with the names of the columns", name)
	}
	if err != nil {
		return console.Usage("%s: %v", name, err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	at := make([]int, len(columns))
	for i, c := range columns {
		if at[i] = slices.Index(header, c.name); at[i] < 0 {
			return console.Usage("%s has no column %q", name, c.name)
		}
		if slices.Contains(header[at[i]+1:], c.name) {
			return console.Usage("%s has two columns %q", name, c.name)
		}
	}
	fields, empty := make([]string, len(columns)), true
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return console.Usage("%s: %v", name, err)
		}
		empty = false
		for i, j := range at {
			fields[i] = row[j]
		}
		if err := f(fields); err != nil {
			line, _ := rows.FieldPos(at[0])
			return console.Usage("%s: line %d: %s", name, line, strings.TrimPrefix(err.Error(), "usage: "))
		}
	}
	if empty {
		return console.Usage("%s has no people: only a header", name)
	}
	return nil
}
