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

// Options determine how [Read] reads a matrix.
type Options struct {
	// Normalize divides each row by its sum. It is for weights, and for output of programs whose rows sum to 1 only
	// up to rounding.
	Normalize bool
	Delimiter rune // between fields: , ; | : or a tab; 0 means a comma
}

// maxBytes is the largest size of a file.
const maxBytes = 1 << 26

// Read reads a matrix from CSV. Each line is one input, and its fields are the probabilities of the outputs, in the
// form that [New] accepts. There must be at least two inputs. o.Delimiter separates fields. The first line may name
// the outputs, and the first fields may name the inputs: docs/explanation/checking.md has the rules. Read ignores a
// byte order mark, CR before LF, empty lines, and spaces around fields.
//
// Read returns ErrMatrix for whatever New refuses, for more than 2²² entries, for more than 64 MiB, and for names
// that may be numbers. With o.Normalize, rows need not sum to 1.
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
		return nil, fmt.Errorf("%w (if the first line contains names, begin it with \"input\")", err)
	case err == nil && len(m.inputs) == 1:
		return nil, wrong("it has only one row, so there is nothing to compare")
	}
	return m, err
}

// table holds the lines of a CSV file, each as a list of fields.
type table struct{ lines [][]string }

// readTable reads a CSV file. It returns ErrMatrix for a file with many more than `most` fields, or with more than
// maxBytes bytes.
func readTable(r io.Reader, most int, delimiter rune) (*table, error) {
	if delimiter == 0 {
		delimiter = ','
	}
	if !strings.ContainsRune(",;|:\t", delimiter) {
		return nil, wrong("the delimiter must be , ; | : or a tab, not %q", delimiter)
	}
	limited := &io.LimitedReader{R: r, N: maxBytes + 1}
	in := bufio.NewReader(limited)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(len(mark)) // the mark is in the buffer, so this cannot fail
	}
	records := csv.NewReader(in)
	records.Comma, records.FieldsPerRecord, records.TrimLeadingSpace = delimiter, -1, delimiter != '\t'
	t, fields := &table{}, 0
	for {
		record, err := records.Read()
		if limited.N <= 0 {
			return nil, wrong("the file has more than %d bytes", maxBytes)
		}
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, wrong("%w", err)
		}
		if fields += len(record); fields > most+maxSide {
			return nil, wrong("the file has more than %d entries", most)
		}
		for i, f := range record {
			record[i] = strings.TrimSpace(f)
		}
		if len(record) > 1 || record[0] != "" {
			t.lines = append(t.lines, record)
		}
	}
}
