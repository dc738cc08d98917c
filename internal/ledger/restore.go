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
	indexName     = "ledger.index"      // the segments of the index, one after the other
	indexLockName = "ledger.index.lock" // locked by the process that writes the index or the checkpoint file
	// the position of the newest checkpoint entry, and the state that it covers
	checkpointName = "ledger.checkpoint"
)

// pointer is the first line of the checkpoint file. The encoded state follows it. Neither is trusted: the
// checkpoint entry in the log, to which the pointer points, has digests of the state and of the segments.
type pointer struct {
	Offset int64  `json:"offset"` // offset of the checkpoint entry's line in the log
	Length int    `json:"length"` // length of that line, without its newline
	Parts  []part `json:"segments"`
}

var errNoIndex = errors.New("no index")

// warm reads the log up to the entry that the head file names. It takes no lock, so several processes may read at
// once. If it cannot read that far, it returns a log of which nothing was read.
//
// Acknowledged entries never change. But the head file may have briefly named an entry whose write was then taken
// back. refresh detects that. If write is set, warm writes a missing index.
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

// rebuilt reads the whole log and writes its index along the way, so memory holds only the entries since the newest
// checkpoint place. One process builds the index. Others wait for it if a checkpoint file exists. rebuilt returns
// errNoIndex if the log is short or the index cannot be written.
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
	defer func() { _ = lock.Close() }() // closing unlocks it
	if l, err := restored(fsys, dir, f, head, every); err == nil {
		return l, nil // another process built the index first
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
		if !l.forgetPlace(p) { // the file lacks p's segment
			data, _ := p.encode()
			l.unindexed = writeAt(out, data, l.past.size()) != nil || !l.forgetPlace(p)
		}
	}
	err = l.readTo(f, head)
	l.spill = nil
	if err != nil {
		_ = out.Close() // error ignored: every reader checks the file's content before it uses it
		return log{}, errNoIndex
	}
	if text, err := l.pointer(); err == nil && out.Sync() == nil {
		_ = replaceFile(fsys, dir, checkpointName, text) // error ignored: the next reader then builds the index again
	}
	return l, nil
}

// indexPatience is how long to wait for the process that writes the index. After that, the log is read without the
// index, because that process may be stopped.
var indexPatience = 10 * time.Minute

// waitIndex waits until no process writes the index. It returns errNoIndex if that takes longer than indexPatience.
func waitIndex(fsys fileSystem, dir string) error {
	lock, err := fsys.Open(filepath.Join(dir, indexLockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // closing unlocks it
	for end := time.Now().Add(indexPatience); ; time.Sleep(20 * time.Millisecond) {
		if taken, err := lock.TryLock(); taken || err != nil {
			return err
		}
		if time.Now().After(end) {
			return errNoIndex
		}
	}
}

// readTo reads the log up to the acknowledged entry that head names. It returns errNoIndex if the log does not end
// there.
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

// restored returns a log that starts from its newest checkpoint and is read up to the entry head, which the head
// file names. It returns errNoIndex if there is no usable checkpoint.
//
// The checkpoint's digests prove the state and the segments. The checkpoint entry itself is proved by the chain:
// the hashes of the following lines lead from it to the entry that the head file names.
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
		_ = h.past.file.Close() // error ignored: the file was only read
		return log{}, errNoIndex
	}
	return l, nil
}

// read returns the checkpoint that p points to, and its entry.
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

// maxCheckpoint exceeds the length in bytes of any checkpoint's line.
const maxCheckpoint = 1 << 10

// openPast opens the segments of the index. It returns errNoIndex if they are not those of the checkpoint c.
func openPast(fsys fileSystem, dir string, parts []part, c Checkpoint) (*past, error) {
	var chained Hash
	for _, next := range parts { // before any of them is read or takes memory
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
		_ = f.Close() // error ignored: the file was only read
		return nil, errNoIndex
	}
	return p, nil
}

// maxFile is the largest size in bytes of a checkpoint file that is read. It keeps a hostile file from exhausting
// memory. A larger file is ignored.
const maxFile = 256 << 20

// readFile returns the content of a file of at most maxFile bytes.
func readFile(fsys fileSystem, name string) ([]byte, error) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // error ignored: the file was only read
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
