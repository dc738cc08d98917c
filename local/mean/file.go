package mean

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"dither/local/internal/lines"
	"dither/privacy"
)

// A file of reports has a header, as those of package local. Each other line is a report: + or - for a sign, or an
// integer for a point of the window's grid.

// Header describes the reports of a file. The bounds are the numbers that stand for −1 and 1.
type Header struct {
	Params
	Low, High string // decimal texts
}

type headerJSON struct {
	Format    string          `json:"format"`
	Version   int             `json:"version"`
	Mechanism Mechanism       `json:"mechanism"`
	Epsilon   privacy.Epsilon `json:"epsilon"`
	Low       string          `json:"low"`
	High      string          `json:"high"`
}

// FileFormat is the name of the format in the header.
const FileFormat = "dither local numbers"

// ErrFile reports a file that is no file of reports. Its text has the number of the line.
var ErrFile = lines.Err

// Write writes a file of reports.
func Write(w io.Writer, h Header, reports []Report) error {
	line, err := json.Marshal(headerJSON{FileFormat, lines.Version, h.Mechanism, h.Epsilon, h.Low, h.High})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "%s\n", line) // Flush returns the error
	for _, r := range reports {
		_, _ = out.WriteString(r.text() + "\n")
	}
	return out.Flush()
}

// text returns a line of a file of reports.
func (r Report) text() string {
	switch {
	case r.Window:
		return strconv.Itoa(int(r.Point))
	case r.Point > 0:
		return "+"
	}
	return "-"
}

// reportOf reads a line of a file of reports.
func reportOf(text string) (report Report, ok bool) {
	switch text {
	case "+":
		return Report{Point: 1}, true
	case "-":
		return Report{Point: -1}, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return Report{true, int32(n)}, err == nil && strconv.FormatInt(n, 10) == text
}

// mostDigits is the largest number of bytes of a report.
const mostDigits = 11

// ReadTally reads a file of reports, and returns their tally. accept is called once, with the header; its error is
// returned. An invalid line is ErrFile, with its number; an invalid report is ErrReport too.
func ReadTally(r io.Reader, accept func(Header) error) (*Tally, error) {
	var j headerJSON
	in, err := lines.Open(r, FileFormat, &j)
	if err != nil {
		return nil, err
	}
	h := Header{Params{j.Mechanism, j.Epsilon}, j.Low, j.High}
	if err := accept(h); err != nil {
		return nil, err
	}
	if j.Mechanism == Best {
		return nil, fmt.Errorf("%w: line 1: %q is no mechanism of reports", ErrFile, Best)
	}
	o, err := New(h.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: line 1: %w", ErrFile, err)
	}
	t := o.NewTally()
	for {
		line, err := in.Next(mostDigits)
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		report, ok := reportOf(string(line))
		if !ok {
			return nil, in.Wrong("is neither +, nor -, nor an integer")
		}
		if err := t.Add(report); err != nil {
			return nil, fmt.Errorf("%w: %w", in.Wrong("is no report of %s", h.Mechanism), err)
		}
	}
}
