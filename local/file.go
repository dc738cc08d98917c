package local

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
}

const (
	fileFormat  = "dither local reports"
	fileVersion = 1
	mostHeader  = 4096 // bytes of a header
)

// ErrFile reports a file that is no file of reports.
var ErrFile = errors.New("invalid file of reports")

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
	line, err := json.Marshal(headerJSON{fileFormat, fileVersion, h.Mechanism, h.Epsilon, h.Values, h.Seed, h.Domain})
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
	in := bufio.NewReaderSize(r, 1<<16)
	first, err := readLine(in, 1, mostHeader)
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: it is empty", ErrFile)
	}
	if err != nil {
		return nil, err
	}
	first = append([]byte(nil), first...)
	h, err := parseHeader(first)
	if err != nil {
		return nil, err
	}
	if err := accept(h); err != nil {
		return nil, err
	}
	o, err := New(h.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: line 1: %w", ErrFile, err)
	}
	head, t := string(first), o.NewTally()
	report, most := make([]byte, o.bytes()), max(2*o.bytes(), mostHeader)
	for number := 2; ; number++ {
		line, err := readLine(in, number, most)
		switch {
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return nil, err
		case string(line) == head:
			continue
		case len(line) != 2*len(report):
			return nil, fmt.Errorf(
				"%w: line %d has %d characters, but a report of %s has %d",
				ErrFile,
				number,
				len(line),
				h.Mechanism,
				2*len(report),
			)
		}
		if _, err := hex.Decode(report, line); err != nil {
			return nil, fmt.Errorf("%w: line %d is not in hexadecimal digits", ErrFile, number)
		}
		if err := t.Add(report); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrFile, number, err)
		}
	}
}

// readLine returns the line with the given number without its end, which is valid until the next call. A line of more
// than most bytes, an
// empty line, and an empty file are ErrFile. After the last line, the error is io.EOF.
func readLine(in *bufio.Reader, number, most int) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := append([]byte(nil), line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(long) <= most+2 {
			line, err = in.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	if len(line) == 0 && errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	for _, end := range []byte("\n\r") {
		if len(line) > 0 && line[len(line)-1] == end {
			line = line[:len(line)-1]
		}
	}
	switch {
	case len(line) == 0:
		return nil, fmt.Errorf("%w: line %d is empty", ErrFile, number)
	case len(line) > most:
		return nil, fmt.Errorf("%w: line %d has more than %d bytes", ErrFile, number, most)
	}
	return line, nil
}

func parseHeader(line []byte) (h Header, err error) {
	var j headerJSON
	if json.Unmarshal(line, &j) != nil || j.Format != fileFormat {
		return h, fmt.Errorf("%w: line 1: it is not the header that `dither local randomize` writes", ErrFile)
	}
	if j.Version != fileVersion {
		return h, fmt.Errorf(
			"%w: line 1: the version is %d, but this program reads version %d",
			ErrFile,
			j.Version,
			fileVersion,
		)
	}
	return Header{Params{j.Mechanism, j.Values, j.Epsilon, j.Seed}, j.Domain}, nil
}
