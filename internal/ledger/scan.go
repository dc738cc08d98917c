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

// log is the part of the log file that was read: its history, and what follows the last entry.
type log struct {
	*history
	end      int64  // offset after the last entry, and after its newline if it has one
	open     bool   // whether the last entry has no newline yet
	lines    uint64 // number of lines before the offset end, including those inside fragments
	size     int64  // number of bytes read, including a fragment
	fragment *fragment

	until *uint64 // if set, the index of the last entry to read
}

// newLog returns a log of which nothing was read yet.
func newLog(f io.ReaderAt, every cadence) log {
	h := newHistory(every)
	h.source = f
	return log{history: h}
}

// ended reports whether the file ends with a newline.
func (l *log) ended() bool {
	if l.fragment != nil {
		return l.fragment.ended
	}
	return !l.open
}

// owes reports whether there is a fragment of an interrupted write after the last entry that counts as spent.
func (l *log) owes() bool { return l.fragment != nil && !l.fragment.free }

// fragment is the text after the last entry: an interrupted write, perhaps followed by interrupted attempts to
// record it. One write contains several entries, and a crash can lose any of its disk blocks. So a fragment may
// contain complete lines.
type fragment struct {
	line   uint64 // number of its first line
	lines  uint64
	whole  uint64 // how many of its lines are valid JSON
	bytes  int64  // length without its last newline, if it has one
	digest hash.Hash
	ended  bool // whether it ends with a newline
	free   bool // whether no entry in it was acknowledged, so that nothing was drawn for it
}

// maxWhole is the largest number of complete lines in a fragment of an interrupted write. One interrupted write, or
// several in a row, leave far fewer. A log with more was edited.
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
	f.digest.Write(b) // Write of a hash never fails
}

// body returns the entry that records f. If f is not free, the entry has the given charge.
func (f *fragment) body(charge privacy.Loss) Torn {
	var sum Hash
	f.digest.Sum(sum[:0])
	if f.free {
		return Torn{Bytes: f.bytes, SHA256: sum.String(), Unacknowledged: true}
	}
	return Torn{Bytes: f.bytes, SHA256: sum.String(), Loss: charge}
}

// extend reads from the offset l.end to the file's given size, and applies every entry that it finds. On an error, the
// entries before the error stay applied. It does not change the file.
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
		if len(line) == 0 && torn == nil { // an editor added a newline: the ledger never writes an empty line
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
			// hold decides later whether the fragment may contain complete lines
			torn.add(line, ended, !errors.Is(err, errFragment))
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
			// Keep only the text: a caller that tests for refusals with errors.Is must not find one here.
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

// hold checks the log against the head file, and decides whether a fragment at its end is free.
//
// A fragment is free if three conditions hold. The head file is sure: its newest slot is the last one that was written
// durably. That slot does not say "charged". The slot's entry stands before the fragment. docs/design/0002-ledger.md
// proves that no entry in such a fragment was acknowledged. Complete lines in a free fragment belong to the same write.
// A fragment that is not free counts as spent, and complete lines in it are corruption.
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

// confirm returns a *RolledBackError unless the log contains the acknowledged entry that the head want names.
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

// lineReader splits its input into lines of at most maxLine bytes.
type lineReader struct {
	r    *bufio.Reader
	line []byte
}

// next returns a line without its newline. The result ended reports whether the line had a newline. The line is valid
// until the next call. After the last line the error is io.EOF, and for a longer line it is errTooLong.
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
