package mean

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"dither/local/internal/lines"
	"dither/privacy"
)

// A file of reports about vectors has a header, too. Each other line is the report of one person: for each sampled
// coordinate, in increasing order, its index from 0, a colon and the report as in a file about single numbers. Spaces
// separate the coordinates.

// VectorFormat is the name of the format in the header.
const VectorFormat = "dither local vectors"

// Column describes a coordinate. The bounds are the numbers that stand for −1 and 1, as decimal texts.
type Column struct {
	Name string `json:"name"`
	Low  string `json:"low"`
	High string `json:"high"`
}

type vectorJSON struct {
	Format    string          `json:"format"`
	Version   int             `json:"version"`
	Mechanism Mechanism       `json:"mechanism"`
	Epsilon   privacy.Epsilon `json:"epsilon"` // of a whole report
	Columns   []Column        `json:"columns"`
}

// Write writes a file of reports. The error is ErrParameter if there is not one column for each coordinate, ErrFile if
// the header is too long, or that of w.
func (v *Vector) Write(w io.Writer, columns []Column, reports [][]Coordinate) error {
	if len(columns) != v.d {
		return fmt.Errorf("%w: there are %d coordinates, but %d columns", ErrParameter, v.d, len(columns))
	}
	line, err := lines.Header(vectorJSON{VectorFormat, lines.Version, v.each.params.Mechanism, v.epsilon, columns})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "%s\n", line) // Flush returns the error
	for _, report := range reports {
		for i, c := range report {
			if i > 0 {
				_ = out.WriteByte(' ')
			}
			_, _ = out.WriteString(strconv.Itoa(c.Index) + ":" + c.Report.text())
		}
		_ = out.WriteByte('\n')
	}
	return out.Flush()
}

// ReadVectors reads a file of reports about vectors. accept is called once, with the parameters and the columns of the
// header, before any report is read; its error is returned. An invalid line is ErrFile, with its number.
func ReadVectors(r io.Reader, accept func(Params, []Column) error) (*VectorTally, error) {
	var j vectorJSON
	in, err := lines.Open(r, VectorFormat, &j)
	if err != nil {
		return nil, err
	}
	if err := accept(Params{j.Mechanism, j.Epsilon}, j.Columns); err != nil {
		return nil, err
	}
	if j.Mechanism == Best {
		return nil, fmt.Errorf("%w: line 1: %q is no mechanism of reports", ErrFile, Best)
	}
	v, err := NewVector(Params{j.Mechanism, j.Epsilon}, len(j.Columns))
	if err != nil {
		return nil, fmt.Errorf("%w: line 1: %w", ErrFile, err)
	}
	t := v.NewTally()
	for {
		line, err := in.Next(v.s * (mostDigits + 7))
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		report, ok := coordinatesOf(string(line))
		if !ok {
			return nil, in.Wrong("is no list of coordinates and their reports, such as 0:+ 3:-")
		}
		if err := t.Add(report); err != nil {
			return nil, fmt.Errorf("%w: %w", in.Wrong("is no report of %s", j.Mechanism), err)
		}
	}
}

// coordinatesOf reads a line of a file of reports.
func coordinatesOf(text string) (report []Coordinate, ok bool) {
	for field := range strings.SplitSeq(text, " ") {
		at, of, _ := strings.Cut(field, ":")
		index, err := strconv.Atoi(at)
		r, ok := reportOf(of)
		if err != nil || strconv.Itoa(index) != at || !ok {
			return nil, false
		}
		report = append(report, Coordinate{index, r})
	}
	return report, true
}
