package ledger

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"dither/internal/ledger/index"
)

// keepShort writes a checkpoint if the log has passed a place that no checkpoint covers, so that the next reader begins
// there. It runs after an append, without the lock on the log. A failure costs only time: a later append tries again.
func (l *Ledger) keepShort() {
	if !l.due.Load() || !l.checkpoint.CompareAndSwap(false, true) {
		return
	}
	defer l.checkpoint.Store(false)
	err := l.writeCheckpoint()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.retry = l.log.count() + l.every.entries/8 + 1
	}
	l.noteDue()
}

// noteDue notes whether a checkpoint is due.
func (l *Ledger) noteDue() {
	l.due.Store(l.failed == nil && len(l.log.pending) > 0 && l.log.count() >= l.retry)
}

// writeCheckpoint writes the index up to the newest place, durably; then its checkpoint into the log; then the
// checkpoint's position. It computes and writes everything but the checkpoint's own line without the lock on the log,
// because nothing before a place changes.
func (l *Ledger) writeCheckpoint() error {
	lock, err := lockIndex(l.fsys, l.dir)
	if err != nil || lock == nil { // otherwise another process is writing it
		return err
	}
	defer func() { _ = lock.Close() }() // which unlocks it

	l.mu.Lock()
	offset, known := int64(0), l.log.past
	if known != nil {
		offset = known.size()
	}
	var missing []*place // from the index
	for _, p := range slices.Concat(l.log.covered, l.log.pending) {
		if p.entries > l.log.base {
			missing = append(missing, &place{from: p.from, refs: p.refs, answers: p.answers})
		}
	}
	var newest *place
	if n := len(l.log.pending); n > 0 {
		newest = l.log.pending[n-1]
	}
	l.log.unindexed = false // it is about to be mended
	l.mu.Unlock()
	if newest == nil { // another process was quicker
		return nil
	}
	if err := writeSegments(l.fsys, l.dir, known, offset, missing); err != nil {
		return err
	}
	if _, err := l.append(&member{body: newest.body()}); err != nil {
		return err
	}
	l.mu.Lock()
	l.log.forgetIndexed(l.fsys, l.dir)
	file, err := l.log.pointer()
	l.mu.Unlock()
	if err == nil {
		err = replaceFile(l.fsys, l.dir, checkpointName, file)
	}
	return err
}

// lockIndex locks the index for writing; it returns nil if another process holds the lock.
func lockIndex(fsys fileSystem, dir string) (file, error) {
	lock, err := fsys.Open(filepath.Join(dir, indexLockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	taken, err := lock.TryLock()
	if err != nil || !taken {
		_ = lock.Close() // nothing was written
		return nil, err
	}
	return lock, nil
}

// writeSegments writes segments to the index file, durably, after those that it is known to contain.
func writeSegments(fsys fileSystem, dir string, known *past, offset int64, missing []*place) error {
	f, err := fsys.Open(filepath.Join(dir, indexName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // what was synced is durable
	if known != nil && len(known.parts) > 0 {
		last := known.parts[len(known.parts)-1]
		if _, err := index.Open(f, offset-last.Size, last.Size, last.Root); err != nil {
			return err // the file was replaced
		}
	}
	for _, p := range missing {
		data, _ := p.encode()
		if err := writeAt(f, data, offset); err != nil {
			return err
		}
		offset += int64(len(data))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

func writeAt(f file, data []byte, offset int64) error {
	n, err := f.WriteAt(data, offset)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// pointer returns the checkpoint file's text for the newest checkpoint.
func (h *history) pointer() ([]byte, error) {
	c := h.newestCheckpoint
	if c == nil || h.past == nil || h.past.to() < c.body.Entries {
		return nil, errors.New("the index does not have what the checkpoint covers")
	}
	n := 0
	for n < len(h.past.segments) && h.past.segments[n].To() <= c.body.Entries {
		n++
	}
	first, err := marshal(pointer{Offset: c.at.offset, Length: c.at.length, Parts: h.past.parts[:n]})
	if err != nil {
		return nil, err
	}
	return slices.Concat(first, []byte("\n"), c.state), nil
}

// replaceFile replaces a file durably. At every moment the name has one complete content.
func replaceFile(fsys fileSystem, dir, name string, data []byte) error {
	temp := filepath.Join(dir, name+".tmp")
	f, err := fsys.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = writeAll(f, data)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = fsys.Rename(temp, filepath.Join(dir, name))
	}
	if err != nil {
		_ = fsys.Remove(temp) // on a full disk it would be in the way
		return err
	}
	return fsys.SyncDir(dir)
}
