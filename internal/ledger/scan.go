package ledger

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"dither/privacy"
)

// log is the part of the file that was read: a history, and its end.
type log struct {
	*history
	end      int64  // just after the last entry, and its newline if it has one
	open     bool   // the last entry has no newline yet
	lines    uint64 // lines up to end, including those inside fragments
	size     int64  // everything that was read
	fragment *fragment

	until *uint64 // if set, the last entry to read
}

// newLog is a log of which nothing was read yet.
func newLog(f io.ReaderAt, every cadence) log {
	h := newHistory(every)
	h.source = f
	return log{history: h}
}

// ended reports that the file ends with a newline.
func (l *log) ended() bool {
	if l.fragment != nil {
		return l.fragment.ended
	}
	return !l.open
}

// owes reports that a fragment after the last entry counts as spent.
func (l *log) owes() bool { return l.fragment != nil && !l.fragment.free }

// fragment is the text after the last entry that is no entry: a write that did not finish, perhaps followed by attempts
// to record that. A write of several entries may have lost any of its blocks, so complete lines may stand in it.
type fragment struct {
	line   uint64 // its first line
	lines  uint64
	whole  uint64 // lines of JSON among them
	bytes  int64  // without the newline that ends it, if it has one
	digest hash.Hash
	ended  bool // by a newline
	free   bool // nothing in it was acknowledged, so nothing was drawn for it
}

// maxWhole is how many complete lines a fragment may have: far more than one write, or several failed writes in a row,
// can leave. A log with more was edited.
const maxWhole = 4 * maxBatch

func (f *fragment) add(line []byte, ended, whole bool) {
	if f.lines > 0 {
		f.write([]byte("\n"))
	}
	f.write(line)
	f.lines, f.ended = f.lines+1, ended
	if whole {
		f.whole++
	}
}

func (f *fragment) write(b []byte) {
	f.bytes += int64(len(b))
	f.digest.Write(b) // never fails
}

// body returns the entry that records f. Unless f is free, the entry has the charge.
func (f *fragment) body(charge privacy.Loss) Torn {
	var sum Hash
	f.digest.Sum(sum[:0])
	if f.free {
		return Torn{Bytes: f.bytes, SHA256: sum.String(), Unacknowledged: true}
	}
	return Torn{Bytes: f.bytes, SHA256: sum.String(), Loss: charge}
}

// extend reads from the end of the log to size, and applies every entry that it finds. On an error, earlier entries
// stay applied. It does not change the file.
func (l *log) extend(f io.ReaderAt, size int64) error {
	if size < l.end {
		tip, _ := l.tip()
		return &RolledBackError{Want: tip}
	}
	if size == 0 {
		return &CorruptError{Line: 1, Err: errors.New("the file is empty")}
	}
	l.fragment, l.size = nil, size
	r := &lineReader{r: bufio.NewReaderSize(io.NewSectionReader(f, l.end, size-l.end), 64<<10)}
	if l.open && size > l.end {
		line, _, err := r.next()
		if err != nil && !errors.Is(err, errTooLong) {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		if err != nil || len(line) > 0 {
			return &CorruptError{Line: l.lines, Err: errors.New("the line grew after it was read")}
		}
		l.end, l.open = l.end+1, false
	}
	return l.readLines(r)
}

func (l *log) readLines(r *lineReader) error {
	var torn *fragment
	number, offset := l.lines, l.end
	for {
		if l.until != nil && l.hasLast && l.last.Index >= *l.until {
			return nil
		}
		line, ended, err := r.next()
		if errors.Is(err, io.EOF) {
			l.fragment = torn
			return nil
		}
		number++
		if errors.Is(err, errTooLong) {
			return &CorruptError{Line: number, Err: err}
		}
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		start := offset
		offset += int64(len(line))
		if ended {
			offset++
		}
		if len(line) == 0 && torn == nil { // an editor's newline: the ledger never writes an empty line
			l.end, l.open, l.lines = offset, false, number
			continue
		}
		e, err := decodeLine(line)
		switch {
		case errors.Is(err, ErrNewer):
			return ErrNewer
		case errors.Is(err, errFragment), torn != nil && (err != nil || !torn.recordedBy(e)):
			if torn == nil {
				torn = &fragment{line: number, digest: sha256.New()}
			}
			torn.add(line, ended, !errors.Is(err, errFragment)) // hold decides whether complete lines may stand in it
			continue
		case torn == nil && err == nil && e.Kind == KindTorn:
			err = errors.New("there is no fragment before it")
		}
		if err == nil {
			err = l.check(e)
		}
		if errors.Is(err, errUnlinked) {
			return l.blame(r, e, number)
		}
		var recall *recallError
		if errors.As(err, &recall) {
			return recall.error
		}
		if err != nil {
			// Keep only the text: callers that test whether an error is a refusal must not find one here.
			return &CorruptError{Line: number, Err: errors.New(err.Error())}
		}
		l.apply(e, ref{hash: e.Hash, line: number, offset: start, length: len(line)})
		torn, l.end, l.open, l.lines = nil, offset, !ended, number
	}
}

func (f *fragment) recordedBy(e Entry) bool {
	have, ok := e.Body.(Torn)
	want := f.body(have.Loss)
	return ok && have.Bytes == want.Bytes && have.SHA256 == want.SHA256
}

// hold compares the log with the head file, and decides what a fragment at its end costs.
//
// A fragment is free, and was never acknowledged, if the head file is sure and its entry stands before the fragment
// (docs/design/0002-ledger.md has the proof). Complete lines in it then belong to the same write. Otherwise the
// fragment costs what it may have been, and complete lines in it are corruption.
func (l *log) hold(h *heads) error {
	want := h.head()
	if f := l.fragment; f != nil {
		tip, begun := l.tip()
		before := begun && want.Index <= tip.Index
		f.free = before && h.sure() && !h.slots[h.newest].charged
		if !before && (f.lines > 1 || f.ended) || f.whole > 0 && !f.free || f.whole > maxWhole {
			return &CorruptError{Line: f.line, Err: errFragment}
		}
	}
	return l.confirm(want)
}

// confirm checks that the log still holds an acknowledged entry.
func (l *log) confirm(want Head) error {
	tip, ok := l.tip()
	if !ok || want.Index > tip.Index {
		return &RolledBackError{Want: want, Have: tip}
	}
	have, err := l.hashAt(want.Index)
	if err == nil && have != want.Hash {
		err = &RolledBackError{Want: want, Have: Head{want.Index, have}}
	}
	return err
}

var errTooLong = errors.New("it is longer than any entry")

// lineReader splits lines of at most maxLine bytes.
type lineReader struct {
	r    *bufio.Reader
	line []byte
}

// next returns a line without its newline, and whether it had one. The line is valid until the next call. After the
// last line the error is io.EOF.
func (r *lineReader) next() (line []byte, ended bool, err error) {
	r.line = r.line[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		if len(r.line)+len(part) > maxLine+1 {
			return nil, false, errTooLong
		}
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return r.line[:len(r.line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(r.line) > 0:
			return r.line, false, nil
		default:
			return nil, false, err
		}
	}
}
