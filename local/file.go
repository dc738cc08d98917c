package local

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"dither/local/internal/lines"
	"dither/privacy"
)

// A file of reports has lines of text. The first line is a header, a JSON object. Each other line is a report in
// hexadecimal digits. Files with the same header may be concatenated: further lines with this header are skipped.

// Header describes the reports of a file.
type Header struct {
	Params
	Domain string // a digest of the names of the values, or ""
}

// headerJSON is the form of a header.
type headerJSON struct {
	Format    string          `json:"format"`
	Version   int             `json:"version"`
	Mechanism string          `json:"mechanism"`
	Epsilon   privacy.Epsilon `json:"epsilon"`
	Values    uint64          `json:"values"`
	Seed      uint64          `json:"seed,omitempty"`
	Domain    string          `json:"domain,omitempty"`
	First     privacy.Epsilon `json:"first,omitzero"`
	Positions uint64          `json:"positions,omitempty"`
}

// FileFormat is the name of the format in the header.
const FileFormat = "dither local reports"

// ErrFile reports a file that is no file of reports. Its text has the number of the line.
var ErrFile = lines.Err

// Writer writes a file of reports.
type Writer struct {
	w    *bufio.Writer
	size int
}

// NewWriter returns a writer that has written the header. Call Flush at the end.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	o, err := New(h.Params)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(
		headerJSON{
			FileFormat,
			lines.Version,
			h.Mechanism,
			h.Epsilon,
			h.Values,
			h.Seed,
			h.Domain,
			h.First,
			h.Positions,
		},
	)
	if err != nil {
		return nil, err
	}
	out := &Writer{bufio.NewWriter(w), o.bytes()}
	_, err = fmt.Fprintf(out.w, "%s\n", line)
	return out, err
}

// Write writes a report.
func (w *Writer) Write(report []byte) error {
	if len(report) != w.size {
		return fmt.Errorf("%w: it has %d bytes, but the header's mechanism sends %d", ErrReport, len(report), w.size)
	}
	_, err := w.w.Write(append(hex.AppendEncode(make([]byte, 0, 2*w.size+1), report), '\n'))
	return err
}

// Flush writes buffered reports.
func (w *Writer) Flush() error { return w.w.Flush() }

// ReadTally reads a file of reports, and returns their tally. accept is called once, with the header, before anything
// is allocated for it; its error is returned. An invalid line is ErrFile, with its number; an invalid report is
// ErrReport too.
func ReadTally(r io.Reader, accept func(Header) error) (*Tally, error) {
	var j headerJSON
	in, err := lines.Open(r, FileFormat, &j)
	if err != nil {
		return nil, err
	}
	h := Header{Params{j.Mechanism, j.Values, j.Epsilon, j.Seed, j.First, j.Positions}, j.Domain}
	if err := accept(h); err != nil {
		return nil, err
	}
	o, err := New(h.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: line 1: %w", ErrFile, err)
	}
	t, report := o.NewTally(), make([]byte, o.bytes())
	for {
		line, err := in.Next(2 * len(report))
		switch {
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return nil, err
		case len(line) != 2*len(report):
			return nil, in.Wrong(
				"has %d characters, but a report of %s has %d",
				len(line),
				h.Mechanism,
				2*len(report),
			)
		}
		if _, err := hex.Decode(report, line); err != nil {
			return nil, in.Wrong("is not in hexadecimal digits")
		}
		if err := t.Add(report); err != nil {
			return nil, fmt.Errorf("%w: %w", in.Wrong("is no report of %s", h.Mechanism), err)
		}
	}
}
