package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

const (
	indexName     = "ledger.index"      // the segments, one after the other
	indexLockName = "ledger.index.lock" // locked by the process that writes both
	// the position of this index's newest checkpoint, and the state at its place
	checkpointName = "ledger.checkpoint"
)

// pointer is the first line of the checkpoint file; the state at the place follows it. Neither is trusted: the log's
// line that the pointer names has the digests of the state and the segments.
type pointer struct {
	Offset int64  `json:"offset"` // of the checkpoint's line
	Length int    `json:"length"` // of it, without its newline
	Parts  []part `json:"segments"`
}

var errNoIndex = errors.New("no index")

// warm reads the log up to the head file's entry without any lock, as far as everything is in order, so that several
// processes may read at once. These entries were acknowledged and stay as they are, with one exception: the head file
// may have named the last of them briefly, in a write that was taken back; refresh detects that. warm writes a missing
// index only if write is set.
func warm(fsys fileSystem, dir string, f file, every cadence, write bool) log {
	heads, err := readHeads(fsys, dir)
	if err != nil {
		return newLog(f, every)
	}
	head := heads.head()
	if l, err := restored(fsys, dir, f, head, every); err == nil {
		return l
	}
	l, err := log{}, errNoIndex
	if write {
		l, err = rebuilt(fsys, dir, f, head, every)
	}
	if err != nil {
		l = newLog(f, every)
		if l.readTo(f, head) != nil {
			return newLog(f, every)
		}
	}
	return l
}

// rebuilt reads the whole log, and writes its index along the way, so that memory holds only the entries since the
// newest place. It returns errNoIndex if the log is short or the index cannot be written. One process builds the index;
// others wait for it if they will find a checkpoint then.
func rebuilt(fsys fileSystem, dir string, f file, head Head, every cadence) (log, error) {
	if head.Index < every.entries {
		if size, err := f.Size(); err != nil || size < every.bytes {
			return log{}, errNoIndex
		}
	}
	lock, err := lockIndex(fsys, dir)
	if err != nil {
		return log{}, errNoIndex
	}
	if lock == nil {
		if there, err := fsys.Exists(filepath.Join(dir, checkpointName)); err != nil || !there {
			return log{}, errNoIndex
		}
		if waitIndex(fsys, dir) != nil {
			return log{}, errNoIndex
		}
		return restored(fsys, dir, f, head, every)
	}
	defer func() { _ = lock.Close() }() // which unlocks it
	if l, err := restored(fsys, dir, f, head, every); err == nil {
		return l, nil // somebody was quicker
	}
	out, err := fsys.Open(filepath.Join(dir, indexName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return log{}, errNoIndex
	}
	l := newLog(f, every)
	l.past = &past{file: out}
	l.spill = func(p *place) {
		if l.unindexed {
			return
		}
		if !l.forgetPlace(p) { // the file lacks it
			data, _ := p.encode()
			l.unindexed = writeAt(out, data, l.past.size()) != nil || !l.forgetPlace(p)
		}
	}
	err = l.readTo(f, head)
	l.spill = nil
	if err != nil {
		_ = out.Close() // its content is checked again before use
		return log{}, errNoIndex
	}
	if text, err := l.pointer(); err == nil && out.Sync() == nil {
		_ = replaceFile(fsys, dir, checkpointName, text) // on failure the next reader builds it again
	}
	return l, nil
}

// indexPatience is how long to wait for the process that writes the index. That process may be stopped, and the log can
// be read without the index.
var indexPatience = 10 * time.Minute

// waitIndex waits for the process that writes the index. It returns errNoIndex if that takes too long.
func waitIndex(fsys fileSystem, dir string) error {
	lock, err := fsys.Open(filepath.Join(dir, indexLockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // which unlocks it
	for end := time.Now().Add(indexPatience); ; time.Sleep(20 * time.Millisecond) {
		if taken, err := lock.TryLock(); taken || err != nil {
			return err
		}
		if time.Now().After(end) {
			return errNoIndex
		}
	}
}

// readTo reads up to an acknowledged entry.
func (l *log) readTo(f file, head Head) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	l.until = &head.Index
	err = l.extend(f, size)
	l.until, l.fragment = nil, nil
	if err == nil && l.last != head {
		err = errNoIndex
	}
	return err
}

// restored is a log that begins at its newest checkpoint and is read up to the head file's entry. It returns errNoIndex
// if there is no checkpoint to begin at.
//
// The checkpoint's digests prove the state and the segments. The checkpoint itself is the one that was written, because
// the hashes of the lines after it lead from its line to the entry that the head file names.
func restored(fsys fileSystem, dir string, f file, head Head, every cadence) (log, error) {
	text, err := readFile(fsys, filepath.Join(dir, checkpointName))
	if err != nil {
		return log{}, errNoIndex
	}
	first, state, _ := bytes.Cut(text, []byte("\n"))
	var at pointer
	if json.Unmarshal(first, &at) != nil {
		return log{}, errNoIndex
	}
	c, e, err := at.read(f)
	if err != nil || e.Index > head.Index || sha256.Sum256(state) != c.State {
		return log{}, errNoIndex
	}
	h, s, err := historyOf(state, every)
	if err != nil || h.base != c.Entries {
		return log{}, errNoIndex
	}
	h.source, h.begun, h.begunAt, h.passed.chained = f, c, e.Index, c.Index
	if h.past, err = openPast(fsys, dir, at.Parts, c); err != nil {
		return log{}, errNoIndex
	}
	l := log{history: h, end: s.End, open: true, lines: s.Line}
	if err = l.readTo(f, head); err == nil {
		var found ref
		if found, err = l.at(e.Index); err == nil && found.hash != e.Hash {
			err = errNoIndex
		}
	}
	if err != nil {
		_ = h.past.file.Close() // it was only read
		return log{}, errNoIndex
	}
	return l, nil
}

// read reads the checkpoint.
func (p pointer) read(f file) (Checkpoint, Entry, error) {
	if p.Length < 0 || p.Length > maxCheckpoint || p.Offset < 0 {
		return Checkpoint{}, Entry{}, errNoIndex
	}
	line := make([]byte, p.Length)
	if n, _ := f.ReadAt(line, p.Offset); n < len(line) {
		return Checkpoint{}, Entry{}, errNoIndex
	}
	e, err := decodeLine(line)
	c, ok := e.Body.(Checkpoint)
	if err != nil || !ok {
		return c, e, errNoIndex
	}
	return c, e, nil
}

// maxCheckpoint is above the length of a checkpoint's longest line.
const maxCheckpoint = 1 << 10

// openPast opens the segments, and checks that they are those of a checkpoint.
func openPast(fsys fileSystem, dir string, parts []part, c Checkpoint) (*past, error) {
	var chained Hash
	for _, next := range parts { // before reading them or taking memory as they demand
		chained = chain(chained, next)
	}
	if chained != c.Index {
		return nil, errNoIndex
	}
	f, err := fsys.Open(filepath.Join(dir, indexName), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	p := &past{file: f}
	for i := 0; i < len(parts) && p != nil; i++ {
		p = p.with(parts[i])
	}
	if p == nil || p.to() != c.Entries {
		_ = f.Close() // it was only read
		return nil, errNoIndex
	}
	return p, nil
}

// maxFile bounds the bytes read of a checkpoint file, so that a hostile file cannot exhaust memory. A longer state is
// not used.
const maxFile = 256 << 20

// readFile reads a whole file.
func readFile(fsys fileSystem, name string) ([]byte, error) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > maxFile {
		return nil, errTooLong
	}
	data := make([]byte, size)
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return data, nil
}
