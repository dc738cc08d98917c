package attack

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits on a CSV file: bytes in all, bytes in a record, fields in a record, and bytes in a value.
const (
	mostBytes  = 32 << 20
	mostRecord = 8 << 20
	mostFields = 1 << 20
	mostValue  = 4096
)

// byteOrder is the mark with which some programs begin a file.
const byteOrder = "\ufeff"

// records reads the records of a CSV file, which must all have the same length, and calls the function do for each
// record, with its line number. It returns ErrTable, with the line, if the file is invalid or if do(line, record)
// returns an error.
func records(r io.Reader, do func(line int, record []string) error) error {
	text := bufio.NewReader(r)
	if mark, err := text.Peek(len(byteOrder)); err == nil && string(mark) == byteOrder {
		_, _ = text.Discard(len(byteOrder))
	}
	in := csv.NewReader(&limited{r: text, line: 1})
	in.ReuseRecord, in.TrimLeadingSpace = true, true
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
			if errors.Is(wrong.Err, csv.ErrFieldCount) {
				return fmt.Errorf("%w: line %d has %d fields, but the first line has %d",
					ErrTable, wrong.Line, len(record), in.FieldsPerRecord)
			}
			return fmt.Errorf("%w: line %d: %w", ErrTable, wrong.Line, wrong.Err)
		}
		if err != nil {
			return err
		}
		line, _ := in.FieldPos(0)
		for i := range record {
			if record[i] = strings.TrimSpace(record[i]); len(record[i]) > mostValue {
				return fmt.Errorf("%w: line %d: field %d is longer than %d bytes", ErrTable, line, i+1, mostValue)
			}
		}
		if err := do(line, record); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrTable, line, err)
		}
	}
}

// limited passes on a file and enforces the limits while it does so. It runs before the CSV reader, so that the CSV
// reader never holds a larger record.
type limited struct {
	r                           io.Reader
	total, record, fields, line int
	quoted                      bool // inside quotes, where the end of a line does not end a record
}

func (b *limited) Read(to []byte) (int, error) {
	n, err := b.r.Read(to)
	for _, c := range to[:n] {
		b.total++
		b.record++
		switch {
		case c == '"':
			b.quoted = !b.quoted
		case c == '\n':
			if b.line++; !b.quoted {
				b.record, b.fields = 0, 0
			}
		case c == ',' && !b.quoted:
			b.fields++
		}
		switch {
		case b.total > mostBytes:
			return 0, fmt.Errorf("%w: it is larger than %d MB", ErrTable, mostBytes>>20)
		case b.record > mostRecord || b.fields >= mostFields:
			return 0, fmt.Errorf("%w: line %d: a record can have at most %d MB and %d fields",
				ErrTable, b.line, mostRecord>>20, mostFields)
		}
	}
	return n, err
}
