package channel

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Options say how a matrix is read.
type Options struct {
	// divide each row by its sum: for weights, and for what a program printed whose rows sum to 1 but for rounding
	Normalize bool
	Delimiter rune // between fields: , ; | : or a tab; 0 is a comma
}

// maxBytes limits a file.
const maxBytes = 1 << 26

// Read reads a matrix from CSV: a line for each input, of two at least, the probabilities of the outputs separated by
// commas, or by o.Delimiter, each as New reads them. Names may stand around them, by the rules of names. A byte order
// mark, CR LF, empty lines and spaces around fields do no harm. Lines of different length, more than 2²² entries (by
// the length of the first line, before more is read) or 64 MiB, names that may be numbers, rows that do not sum to 1,
// and whatever New refuses are ErrMatrix.
func Read(r io.Reader, o Options) (*Matrix, error) {
	t, err := readTable(r, maxCells, o.Delimiter)
	if err != nil {
		return nil, err
	}
	inputs, outputs, err := t.names(o.Normalize)
	if err != nil {
		return nil, err
	}
	if len(t.lines) == 0 {
		return nil, wrong("it has no rows of numbers")
	}
	b, err := newBuilder(reading(len(t.lines), len(t.lines[0])), inputs, outputs, len(t.lines), len(t.lines[0]))
	if err != nil {
		return nil, err
	}
	for i, row := range t.lines {
		if err := b.row(row, i); err != nil {
			return nil, err
		}
	}
	named := slices.ContainsFunc(b.m.cells[:len(t.lines[0])], func(id int32) bool { return b.m.values[id].lower > 1 })
	m, err := b.matrix(o.Normalize)
	switch {
	case err != nil && outputs == nil && named && !o.Normalize:
		return nil, fmt.Errorf("%w (if the first line is of names, let its first field be \"input\")", err)
	case err == nil && len(m.inputs) == 1:
		return nil, wrong("it has one row: there is nothing to compare it with")
	}
	return m, err
}

// table is the lines of a file of comma-separated fields.
type table struct{ lines [][]string }

// readTable reads at most so many fields.
func readTable(r io.Reader, most int, delimiter rune) (*table, error) {
	if delimiter == 0 {
		delimiter = ','
	}
	if !strings.ContainsRune(",;|:\t", delimiter) {
		return nil, wrong("a delimiter is , ; | : or a tab, not %q", delimiter)
	}
	limited := &io.LimitedReader{R: r, N: maxBytes + 1}
	in := bufio.NewReader(limited)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(len(mark)) // it is buffered
	}
	records := csv.NewReader(in)
	records.Comma, records.FieldsPerRecord, records.TrimLeadingSpace = delimiter, -1, delimiter != '\t'
	t, fields := &table{}, 0
	for {
		record, err := records.Read()
		if limited.N <= 0 {
			return nil, wrong("a file of more than %d bytes", maxBytes)
		}
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, wrong("%w", err)
		}
		if fields += len(record); fields > most+maxSide {
			return nil, wrong("more than %d entries", most)
		}
		for i, f := range record {
			record[i] = strings.TrimSpace(f)
		}
		if len(record) > 1 || record[0] != "" {
			t.lines = append(t.lines, record)
		}
	}
}
