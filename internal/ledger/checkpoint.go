package ledger

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"dither/internal/ledger/index"
)

// keepShort writes a checkpoint if one is due, so that later readers have little to read. A checkpoint is due if no
// checkpoint covers the newest place, a position in the log that cadence defines. keepShort runs after an append,
// without the lock on the log. A failure costs only time, because a later append tries again.
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

// noteDue updates l.due, which says whether a checkpoint is due.
func (l *Ledger) noteDue() {
	l.due.Store(l.failed == nil && len(l.log.pending) > 0 && l.log.count() >= l.retry)
}

// writeCheckpoint writes a checkpoint for the newest place that none covers, in three steps. It writes and syncs
// the index up to the place. It appends the checkpoint entry to the log. It writes the position of that entry to
// the checkpoint file. Only the second step holds the lock on the log, because nothing before a place changes.
func (l *Ledger) writeCheckpoint() error {
	lock, err := lockIndex(l.fsys, l.dir)
	if err != nil || lock == nil { // with a nil lock, another process is writing the index
		return err
	}
	defer func() { _ = lock.Close() }() // closing unlocks it

	l.mu.Lock()
	offset, known := int64(0), l.log.past
	if known != nil {
		offset = known.size()
	}
	var missing []*place // places whose segments the index lacks
	for _, p := range slices.Concat(l.log.covered, l.log.pending) {
		if p.entries > l.log.base {
			missing = append(missing, &place{from: p.from, refs: p.refs, answers: p.answers})
		}
	}
	var newest *place
	if n := len(l.log.pending); n > 0 {
		newest = l.log.pending[n-1]
	}
	l.log.unindexed = false // writeCheckpoint writes the missing segments below
	l.mu.Unlock()
	if newest == nil { // another process wrote the checkpoint first
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

// lockIndex locks the index for writing. It returns nil if another process holds the lock.
func lockIndex(fsys fileSystem, dir string) (file, error) {
	lock, err := fsys.Open(filepath.Join(dir, indexLockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	taken, err := lock.TryLock()
	if err != nil || !taken {
		_ = lock.Close() // error ignored: nothing was written
		return nil, err
	}
	return lock, nil
}

// writeSegments writes the index segments that end at the places in missing (see cadence) to the index file at the
// given offset, after the segments that known describes, and syncs the file. It returns an error if the file no longer
// contains the last of those earlier segments.
func writeSegments(fsys fileSystem, dir string, known *past, offset int64, missing []*place) error {
	f, err := fsys.Open(filepath.Join(dir, indexName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // error ignored: the data is synced before
	if known != nil && len(known.parts) > 0 {
		last := known.parts[len(known.parts)-1]
		if _, err := index.Open(f, offset-last.Size, last.Size, last.Root); err != nil {
			return err // another process replaced the file
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

// pointer returns the content of the checkpoint file for the newest checkpoint.
func (h *history) pointer() ([]byte, error) {
	c := h.newestCheckpoint
	if c == nil || h.past == nil || h.past.to() < c.body.Entries {
		return nil, errors.New("the index does not have the entries that the checkpoint covers")
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

// replaceFile durably replaces a file. At every moment the file has its complete old or its complete new content.
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
		_ = fsys.Remove(temp) // a leftover would take space on a full disk
		return err
	}
	return fsys.SyncDir(dir)
}
