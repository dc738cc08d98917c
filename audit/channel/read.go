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

	"dither/internal/expsum"
)

// Options say how a matrix is read.
type Options struct {
	Normalize bool // divide each row by its sum: for weights, and for what a program printed whose rows sum to 1 but for rounding
}

// maxBytes limits a file.
const maxBytes = 1 << 26

// Read reads a matrix from CSV: a line for each input, the probabilities of the outputs separated by commas, each as New reads them. Names may stand
// around them:
//
//   - The first line names the outputs if its first field is empty or begins with "input", or if no field after the first is a number.
//   - The first field of each line names the input if there is a first line of names and its first field is empty or begins with "input", or
//     if the first field of any line is no number, or if the first line of names is one field shorter than the next.
//
// A byte order mark, CR LF, empty lines and spaces around fields do no harm. Lines of different length, more than 2²² entries (by the length of the first
// line, before more is read) or 64 MiB, rows that do not sum to 1, and whatever New refuses are ErrMatrix.
func Read(r io.Reader, o Options) (*Matrix, error) {
	t, err := readTable(r, maxCells)
	if err != nil {
		return nil, err
	}
	inputs, outputs := t.names()
	if len(t.lines) == 0 {
		return nil, wrong("it has no rows of numbers")
	}
	b, err := newBuilder(inputs, outputs, len(t.lines), len(t.lines[0]))
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
	if err != nil && outputs == nil && named && !o.Normalize {
		return nil, fmt.Errorf("%w (if the first line is of names, let it begin with \"input\")", err)
	}
	return m, err
}

// table is the lines of a file of comma-separated fields.
type table struct{ lines [][]string }

// readTable reads at most so many fields.
func readTable(r io.Reader, most int) (*table, error) {
	limited := &io.LimitedReader{R: r, N: maxBytes + 1}
	in := bufio.NewReader(limited)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(len(mark)) // it is buffered
	}
	records := csv.NewReader(in)
	records.FieldsPerRecord, records.TrimLeadingSpace = -1, true
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

// names takes the names off the lines, by the rule of Read. nil are none.
func (t *table) names() (inputs, outputs []string) {
	if len(t.lines) == 0 {
		return nil, nil
	}
	first := t.lines[0]
	corner := first[0] == "" || strings.HasPrefix(strings.ToLower(first[0]), "input")
	if corner || !slices.ContainsFunc(first[min(1, len(first)-1):], numeric) {
		outputs, t.lines = first, t.lines[1:]
	}
	named := outputs != nil && corner || slices.ContainsFunc(t.lines, func(line []string) bool { return len(line) > 1 && !numeric(line[0]) }) ||
		outputs != nil && len(t.lines) > 0 && len(t.lines[0]) == len(outputs)+1
	if !named {
		return nil, outputs
	}
	for i, line := range t.lines {
		inputs, t.lines[i] = append(inputs, line[0]), line[1:]
	}
	if corner || outputs != nil && len(t.lines) > 0 && len(outputs) == len(t.lines[0])+1 {
		outputs = outputs[1:]
	}
	return inputs, outputs
}

// numeric reports a text that is meant as a number, well or badly: no name is taken for one that it may hide an error of.
func numeric(text string) bool {
	switch strings.ToLower(strings.TrimLeft(text, "+-")) {
	case "", "nan", "inf", "infinity", "na", "null", "none":
		return true
	}
	if strings.ContainsAny(text[:1], "0123456789.+-(") || strings.HasPrefix(text, "exp(") {
		return true
	}
	_, err := expsum.Parse(text)
	return !errors.Is(err, expsum.ErrSyntax)
}
