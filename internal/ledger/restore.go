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
	indexLockName = "ledger.index.lock" // locked by the one who writes them
	// where the newest checkpoint is that this index has, and the state at its place
	checkpointName = "ledger.checkpoint"
)

// pointer is the first line of the checkpoint file. The state at the place follows it. Nothing of it is believed: the
// line of the log that it names says what the state and the segments must be.
type pointer struct {
	Offset int64  `json:"offset"` // of the checkpoint's line
	Length int    `json:"length"` // of it, without its newline
	Parts  []part `json:"segments"`
}

var errNoIndex = errors.New("no index")

// warm is a log of which the entries up to the head file's are read, without any lock, as far as nothing is wrong. So
// several processes may read them at once. They were acknowledged and stay as they are, unless the head file named the
// last of them for a moment only, in a write that was taken back: refresh finds that out. Only with write, the index is
// written where it is missing.
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

// rebuilt reads the whole log, and writes its index along the way, so that memory holds only what came since the newest
// place. It is errNoIndex where the log is short, or the index cannot be written. One process builds; others wait for
// it where there was a checkpoint that they will find.
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
		if !l.forgetPlace(p) { // the file does not have it
			data, _ := p.encode()
			l.unindexed = writeAt(out, data, l.past.size()) != nil || !l.forgetPlace(p)
		}
	}
	err = l.readTo(f, head)
	l.spill = nil
	if err != nil {
		_ = out.Close() // what it has is checked again before it is used
		return log{}, errNoIndex
	}
	if text, err := l.pointer(); err == nil && out.Sync() == nil {
		_ = replaceFile(fsys, dir, checkpointName, text) // else the next reader builds again
	}
	return l, nil
}

// indexPatience is how long whoever writes the index is waited for: it may be stopped, and without it the log can be
// read all the same.
var indexPatience = 10 * time.Minute

// waitIndex waits for whoever writes the index. It is errNoIndex where that takes too long.
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

// readTo reads on to an entry that was acknowledged.
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

// restored is a log that was begun at its newest checkpoint, and read on to the entry of the head file. The error is
// errNoIndex where there is none to begin at.
//
// What it is begun with is what the checkpoint says, by the digests; and the checkpoint is the one that was written,
// since its line, by the hashes of those behind it, leads to the entry that the head file names.
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

// maxCheckpoint is more than the longest line of a checkpoint.
const maxCheckpoint = 1 << 10

// openPast opens the segments, which must be those of a checkpoint.
func openPast(fsys fileSystem, dir string, parts []part, c Checkpoint) (*past, error) {
	var chained Hash
	for _, next := range parts { // before anything is read, or memory taken, as the roots' owners say
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

// maxFile bounds what is read of a checkpoint file, so that a hostile one cannot exhaust memory. A state that is longer
// is not begun with.
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
