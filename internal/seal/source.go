package seal

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dither/internal/csvtable"
	"dither/internal/policy"
)

// SourceError is a fault of a table's source as a whole.
type SourceError struct {
	Path    string // as the policy writes it
	Message string
	Err     error
}

// Error names the source and the fault.
func (e *SourceError) Error() string { return fmt.Sprintf("source %q: %s", e.Path, e.Message) }

// Unwrap is the cause, if there is one.
func (e *SourceError) Unwrap() error { return e.Err }

// source is an open source file.
type source struct {
	file    *os.File
	path    string // absolute, links resolved
	written string // as the policy writes it
	gzip    bool
	size    int64
}

func openSource(t *policy.Table) (*source, error) {
	written := t.Source.Path
	fault := func(message string, err error) error { return &SourceError{Path: written, Message: message, Err: err} }
	info, err := os.Stat(t.Source.File) // before opening: opening a pipe would wait
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault("no such file (looked for "+t.Source.File+")", err)
	case err != nil:
		return nil, fault("cannot be read: "+err.Error(), err)
	case info.IsDir():
		return nil, fault("is a folder, not a file", nil)
	case !info.Mode().IsRegular():
		return nil, fault("is not a regular file", nil)
	}
	path, err := filepath.EvalSymlinks(t.Source.File)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fault("cannot be read: "+err.Error(), err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fault("cannot be read: "+err.Error(), err)
	}
	return &source{
		file: file, path: path, written: written, size: info.Size(),
		gzip: t.Source.Format == policy.CSV && t.Source.Dialect.Gzip,
	}, nil
}

func (s *source) Close() error { return s.file.Close() }

// digest reads the whole file, leaves it at its start and returns the SHA-256 of its bytes.
func (s *source) digest(ctx context.Context) (string, error) {
	hash := sha256.New()
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return "", s.fault(err)
	}
	if _, err := io.Copy(hash, &meter{in: s.file, ctx: ctx}); err != nil {
		return "", s.fault(err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return "", s.fault(err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// text is the CSV text inside raw, which is read to its end together with it.
func (s *source) text(raw io.Reader) (io.Reader, error) {
	if !s.gzip {
		return raw, nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(raw, 1<<16))
	if err != nil {
		return nil, s.fault(err)
	}
	return z, nil
}

// fault names the source in an error of reading it, and says what a gzip error means.
func (s *source) fault(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case s.gzip && errors.Is(err, gzip.ErrHeader), s.gzip && errors.Is(err, io.EOF):
		return &SourceError{Path: s.written, Message: "is not gzip data", Err: err}
	case s.gzip && errors.Is(err, io.ErrUnexpectedEOF):
		return &SourceError{Path: s.written, Message: "the gzip data ends too early" + reached(err), Err: err}
	case s.gzip && isCorrupt(err):
		return &SourceError{Path: s.written, Message: "the gzip data is damaged" + reached(err), Err: err}
	}
	return &SourceError{Path: s.written, Message: err.Error(), Err: err}
}

// meter counts what is read through it, and stops when its context does.
type meter struct {
	in    io.Reader
	ctx   context.Context // nil: never
	bytes int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.ctx != nil && m.ctx.Err() != nil {
		return 0, m.ctx.Err()
	}
	n, err := m.in.Read(p)
	m.bytes += int64(n)
	return n, err
}

func isCorrupt(err error) bool {
	return errors.Is(err, gzip.ErrChecksum) || errors.As(err, new(flate.CorruptInputError))
}

// reached says how far the decoder came.
func reached(err error) string {
	var at *csvtable.Error
	if errors.As(err, &at) && at.Row > 0 {
		return fmt.Sprintf(", in row %d", at.Row)
	}
	return ""
}
