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
	"slices"
	"strings"

	"dither/internal/csvtable"
	"dither/internal/policy"
)

// SourceError is a fault of a table's source as a whole.
type SourceError struct {
	Path    string // the path as the policy writes it
	Message string
	Err     error
}

// Error names the source and the fault.
func (e *SourceError) Error() string { return fmt.Sprintf("source %q: %s", e.Path, e.Message) }

// Unwrap returns the cause, or nil.
func (e *SourceError) Unwrap() error { return e.Err }

// source is a table's open source: one file, or all files that a pattern matches.
type source struct {
	files   []*os.File
	paths   []string // absolute, without symbolic links, in rising order
	written string   // the path as the policy writes it
	gzip    bool
	size    int64
}

// openSource opens the source that the policy names. A path of Parquet files that contains * or ? is a pattern.
// Each part between slashes is matched separately.
func openSource(t *policy.Table) (s *source, err error) {
	s = &source{written: t.Source.Path, gzip: !t.Source.Format.Typed() && t.Source.Dialect.Gzip}
	names := []string{t.Source.File}
	if t.Source.IsPattern() {
		if slices.Contains(strings.Split(filepath.ToSlash(s.written), "/"), "**") {
			return nil, &SourceError{
				Path:    s.written,
				Message: "** does not match folders of any depth: write a * for each level",
			}
		}
		if names, err = filepath.Glob(t.Source.File); err != nil {
			return nil, &SourceError{Path: s.written, Message: "is not a valid pattern: " + err.Error(), Err: err}
		}
		if len(names) == 0 {
			return nil, &SourceError{
				Path: s.written, Message: "matches no file (looked for " + t.Source.File + ")",
				Err: fs.ErrNotExist,
			}
		}
		if len(names) > maxFiles {
			return nil, &SourceError{
				Path:    s.written,
				Message: fmt.Sprintf("matches %d files; at most %d", len(names), maxFiles),
			}
		}
	}
	for _, name := range names {
		if err := s.open(name); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	slices.Sort(s.paths)
	for i := range s.paths[1:] {
		if s.paths[i] == s.paths[i+1] {
			return nil, errors.Join(&SourceError{
				Path:    s.written,
				Message: "names the file " + s.paths[i] + " twice, through a link",
			}, s.Close())
		}
	}
	return s, nil
}

// maxFiles is the largest number of files that one table is sealed from. All are open at the same time.
const maxFiles = 500

// open opens one file, and adds it to the source.
func (s *source) open(name string) error {
	fault := func(message string, err error) error {
		return &SourceError{Path: s.written, Message: message, Err: err}
	}
	of := ""
	if filepath.Base(name) != filepath.Base(s.written) {
		of = filepath.Base(name) + " "
	}
	info, err := os.Stat(name) // checked before opening, because opening a pipe would block
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault("no such file (looked for "+name+")", err)
	case err != nil:
		return fault(of+"cannot be read: "+err.Error(), err)
	case info.IsDir():
		return fault(of+"is a folder, not a file", nil)
	case !info.Mode().IsRegular():
		return fault(of+"is not a regular file", nil)
	}
	path, err := filepath.EvalSymlinks(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return fault(of+"cannot be read: "+err.Error(), err)
	}
	file, err := os.Open(path)
	if err != nil {
		return fault(of+"cannot be read: "+err.Error(), err)
	}
	s.files, s.paths, s.size = append(s.files, file), append(s.paths, path), s.size+info.Size()
	return nil
}

func (s *source) Close() (err error) {
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// digest reads all files, and rewinds each to its start. For a single file, the result `whole` is the SHA-256 of its
// bytes. For several files, it is the SHA-256 of their digests in rising order, without their paths and names. The
// result contents has the digests of the files.
func (s *source) digest(ctx context.Context) (whole string, contents []string, err error) {
	for _, file := range s.files {
		hash := sha256.New()
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return "", nil, s.fault(err)
		}
		if _, err := io.Copy(hash, &meter{in: file, ctx: ctx}); err != nil {
			return "", nil, s.fault(err)
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return "", nil, s.fault(err)
		}
		contents = append(contents, hex.EncodeToString(hash.Sum(nil)))
	}
	slices.Sort(contents)
	if len(contents) == 1 {
		return contents[0], contents, nil
	}
	sum := sha256.Sum256([]byte(strings.Join(contents, "\n")))
	return hex.EncodeToString(sum[:]), contents, nil
}

// text returns a reader of the decompressed text in raw. A caller that reads the text to its end also reads raw to
// its end.
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

// fault adds the source's name to an error of reading it, and explains a gzip error.
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

// meter counts the bytes read through it, and stops when its context ends.
type meter struct {
	in    io.Reader
	ctx   context.Context // nil: it never stops
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

// reached returns text that says at which row the decoder failed, or "".
func reached(err error) string {
	var at *csvtable.Error
	if errors.As(err, &at) && at.Row > 0 {
		return fmt.Sprintf(", in row %d", at.Row)
	}
	return ""
}
