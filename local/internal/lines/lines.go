// Package lines reads files of reports: a header, which is a JSON object on the first line, and one report on each
// other line. Files with the same header may be concatenated.
package lines

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Err reports a file that is no file of reports. Its text has the number of the line.
var Err = errors.New("invalid file of reports")

// MostHeader is the largest number of bytes of a header.
const MostHeader = 1 << 16

// Version is the version of the files.
const Version = 1

// Reader reads the lines of a file.
type Reader struct {
	in     *bufio.Reader
	head   string
	number int
}

// Header returns the line of a header. The error is Err if it is too long to be read.
func Header(header any) ([]byte, error) {
	line, err := json.Marshal(header)
	if err == nil && len(line) > MostHeader {
		err = fmt.Errorf("%w: its header would have more than %d bytes: use fewer columns, or shorter names", Err, MostHeader)
	}
	return line, err
}

// Open reads the header into a struct, and returns a reader of the other lines. format is the value that the member
// "format" of the header must have. The error is Err, or that of r.
func Open(r io.Reader, format string, header any) (*Reader, error) {
	in := &Reader{in: bufio.NewReaderSize(r, 1<<16)}
	first, err := in.line(MostHeader)
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: it is empty", Err)
	}
	if err != nil {
		return nil, err
	}
	in.head = string(first)
	var about struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if json.Unmarshal(first, &about) != nil || about.Format != format {
		return nil, fmt.Errorf(
			"%w: line 1: it is not the header of %s that `dither local randomize` writes",
			Err,
			format,
		)
	}
	if about.Version != Version {
		return nil, fmt.Errorf(
			"%w: line 1: the version is %d, but this program reads version %d",
			Err,
			about.Version,
			Version,
		)
	}
	if json.Unmarshal(first, header) != nil {
		return nil, fmt.Errorf("%w: line 1: a member of the header has an invalid value", Err)
	}
	return in, nil
}

// Next returns the next line that is not the header, without its end. It is valid until the next call. An empty line,
// and a line of more than most bytes, is Err. After the last line, the error is io.EOF.
func (r *Reader) Next(most int) ([]byte, error) {
	for {
		line, err := r.line(max(most, MostHeader))
		if err != nil {
			return nil, err
		}
		if string(line) != r.head {
			return line, nil
		}
	}
}

// Wrong returns an Err about the last line.
func (r *Reader) Wrong(format string, args ...any) error {
	return fmt.Errorf("%w: line %d %s", Err, r.number, fmt.Sprintf(format, args...))
}

func (r *Reader) line(most int) ([]byte, error) {
	r.number++
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := append([]byte(nil), line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(long) <= most+2 {
			line, err = r.in.ReadSlice('\n')
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
		return nil, r.Wrong("is empty")
	case len(line) > most:
		return nil, r.Wrong("has more than %d bytes", most)
	}
	return line, nil
}
