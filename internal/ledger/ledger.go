package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"dither/privacy"
)

// Ledger is an open ledger. Any number of goroutines may use it, and any number of processes may use its directory.
//
// Every method first takes the lock and reads what others appended, so its results and effects concern the newest
// entry. After a failed write, every method returns ErrAmbiguous: only opening the ledger again shows what reached the
// disk.
type Ledger struct {
	fsys fileSystem
	dir  string
	now  func() time.Time

	queue      queue
	every      cadence
	due        atomic.Bool // a checkpoint is to be written
	checkpoint atomic.Bool // a checkpoint is being written

	mu     sync.Mutex // guards what follows; the lock on the file is taken inside it
	file   file
	log    log
	heads  *heads // the head file, as it was last read or written
	failed error  // why every further call fails
	frozen bool   // this process cannot write it, but can read its entries
	alone  bool   // the last write failed: the next one has a single entry
	space  space
	retry  uint64 // no checkpoint is tried before this many entries
}

// Open opens the ledger in dir and reads all of it. now dates new entries. If this process cannot write dir, all
// reading works, and every append returns ErrReadOnly.
//
// The error is ErrMissing, ErrHeadMissing, ErrHeadUnreadable, ErrNewer, ErrNotFile, a *CorruptError, a
// *RolledBackError, or an error of the file system.
func Open(dir string, now func() time.Time) (*Ledger, error) { return open(system{}, dir, now) }

func open(fsys fileSystem, dir string, now func() time.Time) (*Ledger, error) {
	return openWith(fsys, dir, now, usual)
}

func openWith(fsys fileSystem, dir string, now func() time.Time, every cadence) (*Ledger, error) {
	f, err := openLog(fsys, dir, os.O_RDWR|os.O_APPEND)
	frozen := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if frozen {
		f, err = openLog(fsys, dir, os.O_RDONLY)
	}
	if err != nil {
		return nil, err
	}
	l := &Ledger{fsys: fsys, dir: dir, now: now, file: f, every: every, frozen: frozen}
	l.log = warm(fsys, dir, f, every, !frozen)
	warmed := l.log.hasLast
	err = l.locked(func() error { return nil })
	if err != nil && warmed && l.failed == nil {
		// The error concerns the whole log. And entries read without the lock may have been taken back before they were
		// acknowledged.
		l.log = newLog(f, every)
		err = l.locked(func() error { return nil })
	}
	if err != nil {
		_ = l.Close() // nothing was written through it
		return nil, err
	}
	return l, nil
}

func openLog(fsys fileSystem, dir string, flag int) (file, error) {
	f, err := fsys.Open(filepath.Join(dir, logName), flag, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrMissing
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s: %w", logName, ErrNotFile)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("the home cannot be used by this user: %w", err)
	case err != nil:
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return f, nil
}

// Close releases the handle. Acknowledged entries are durable without it.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return nil // fail closed the file
	}
	l.failed = ErrClosed
	if l.log.past != nil {
		_ = l.log.past.file.Close() // it was only read
	}
	return l.file.Close()
}

// ReadOnly reports that this process cannot write the ledger.
func (l *Ledger) ReadOnly() bool { return l.frozen }

// Head is the newest entry that this handle has seen.
func (l *Ledger) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	tip, _ := l.log.tip()
	return tip
}

// State reads what others appended, and returns the resulting state.
func (l *Ledger) State() (State, error) {
	var s State
	err := l.locked(func() error {
		s = l.log.state(l.log.owes(), l.now())
		return nil
	})
	return s, err
}

// Room is the largest loss that a reservation like r could have now, apart from the terms' maximum price. r's own loss
// is ignored. Room is zero for analysts who are not authorised. A fragment at the end of the log is charged first.
func (l *Ledger) Room(r Reservation) (left privacy.Loss, err error) {
	err = l.locked(func() error {
		left, err = l.log.roomAfter(l.log.owes(), r, l.now())
		return err
	})
	return left, err
}

// Find returns the newest answer for a replay key; ok is false if there is none. Both of its entries are durable.
func (l *Ledger) Find(key string) (a Answer, ok bool, err error) {
	err = l.locked(func() error {
		var found answered
		if found, ok, err = l.log.find(key); ok {
			a = l.answer(found)
		}
		return err
	})
	return a, ok && err == nil, err
}

// Entries calls fn with every entry, oldest first, until fn returns an error. It does not hold the lock meanwhile, so
// it may miss entries appended after the call began.
func (l *Ledger) Entries(fn func(Entry) error) error { return l.EntriesFrom(0, fn) }

// EntriesFrom is Entries from index from on.
func (l *Ledger) EntriesFrom(from uint64, fn func(Entry) error) error {
	var to uint64
	if err := l.locked(func() error { to = l.log.count(); return nil }); err != nil {
		return err
	}
	for i := from; i < to; {
		var refs []ref
		err := l.known(func() (err error) { refs, err = l.log.span(i, to); return err })
		if err != nil {
			return err
		}
		for _, r := range refs {
			e, err := readEntry(l.file, r)
			if err == nil && e.Index != i {
				err = damaged(errors.New("it names another entry"))
			}
			if err == nil {
				err = fn(e)
			}
			if err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// Entry reads an entry again. This handle must have returned its index before.
func (l *Ledger) Entry(i uint64) (Entry, error) {
	e, _, err := l.EntryHaving(i, "")
	return e, err
}

// EntryHaving is Entry for an entry whose line contains text. Otherwise it checks the hash and decodes nothing, which
// takes a tenth of the time.
func (l *Ledger) EntryHaving(i uint64, text string) (e Entry, has bool, err error) {
	var at ref
	if err := l.known(func() (err error) { at, err = l.log.at(i); return err }); err != nil {
		return Entry{}, false, err
	}
	line, err := readLine(l.file, at)
	if err != nil {
		return Entry{}, false, err
	}
	if !bytes.Contains(line, []byte(text)) && sha256.Sum256(line) == at.hash {
		return Entry{}, false, nil
	}
	e, err = decodeAt(line, at)
	if err == nil && e.Index != i {
		err = damaged(errors.New("it names another entry"))
	}
	return e, err == nil, err
}

// known runs fn, which looks up entries that were read before, without reading what others appended. If the index is
// damaged, known reads everything again and runs fn again.
func (l *Ledger) known(fn func() error) error {
	l.mu.Lock()
	if l.failed != nil {
		defer l.mu.Unlock()
		return l.failed
	}
	err := fn()
	l.mu.Unlock()
	if !errors.Is(err, errIndex) {
		return err
	}
	return l.locked(fn) // which reads everything again
}

// locked runs fn with the lock held, after reading everything that others appended.
func (l *Ledger) locked(fn func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if err := l.file.Lock(!l.frozen); err != nil {
		return fmt.Errorf("locking the ledger: %w", err)
	}
	err := l.refreshed(fn)
	if errors.Is(err, errIndex) && l.failed == nil { // nothing was written: fn uses the index before it writes
		l.unindex()
		err = l.refreshed(fn)
	}
	if l.failed == nil { // otherwise the file is closed, and so unlocked
		if unlocking := l.file.Unlock(); unlocking != nil {
			_ = l.fail(unlocking) // fn's effects stay
		}
	}
	return err
}

func (l *Ledger) refreshed(fn func() error) error {
	if err := l.refresh(); err != nil {
		return err
	}
	return fn()
}

// unindex forgets everything, so that the log is read again from its beginning, without its index.
func (l *Ledger) unindex() {
	l.log = newLog(l.file, l.every)
	l.log.unindexed = true // until it is written again
}

// refresh reads what others appended, and compares it with the head file. On return the head file names the newest
// entry.
func (l *Ledger) refresh() error {
	same, err := l.fsys.Same(filepath.Join(l.dir, logName), l.file)
	if err != nil {
		return fmt.Errorf("reading the ledger: %w", err)
	}
	if !same {
		return ErrMoved
	}
	read, begun := l.log.tip()
	h, err := l.log.catchUp(l.fsys, l.dir, l.file)
	if err != nil {
		return err
	}
	if l.heads == nil && begun && h.head().Index < read.Index {
		// This reader read the entry without the lock, while the head file named it. Its writer has taken it back
		// since, so another entry may stand there.
		return &RolledBackError{Want: read, Have: h.head()}
	}
	if !h.old && (l.heads == nil || l.heads.old || l.heads.slots[l.heads.newest] != h.slots[h.newest]) {
		// Another process wrote that slot, and may have died before it was durable. This process is about to rely on
		// it.
		if err := syncHeads(l.fsys, l.dir); err != nil && (!l.frozen || !unsyncable(err)) {
			return l.fail(err)
		}
	}
	l.heads = h
	l.log.forgetIndexed(l.fsys, l.dir)
	if tip, _ := l.log.tip(); tip == l.heads.head() {
		return nil
	}
	if l.frozen {
		return fmt.Errorf("%w, and its newest entries were not acknowledged: open it once where it can be written",
			ErrReadOnly)
	}
	// Another process appended and ended before it replaced the head, perhaps before the entry was durable. It reported
	// the entry to nobody. This process is about to report it, so it makes the entry durable first.
	if err := l.file.Sync(); err != nil {
		return l.fail(err)
	}
	if err := l.nameTip(); err != nil {
		return l.fail(err)
	}
	return nil
}

// unsyncable reports a file system that has nothing to make durable, because it is read-only, such as an image (ISO
// 9660, SquashFS).
func unsyncable(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EROFS)
}

// nameTip makes the head file name the newest entry, durably. If a fragment after that entry counts as spent, the head
// file says so, because the entry has moved since the fragment was found.
func (l *Ledger) nameTip() (err error) {
	s := l.log.newestSlot()
	if l.heads.old {
		l.heads, err = replaceHeads(l.fsys, l.dir, s)
		return err
	}
	if err := l.keepName(); err != nil {
		return err
	}
	next := l.heads.advanced(s)
	if err = writeSlot(l.fsys, l.dir, next.newest, next.raw[next.newest]); err == nil {
		l.heads = next
	}
	return err
}

// keepName makes the names of the head file and the log durable before anything is acknowledged, because the process
// that created them may have died before it did so.
func (l *Ledger) keepName() error {
	if l.heads.slots[l.heads.newest].seq > firstSeq {
		return nil
	}
	return l.fsys.SyncDir(l.dir)
}

// catchUp extends l to the end of f and compares it with the head file, which it returns.
func (l *log) catchUp(fsys fileSystem, dir string, f file) (*heads, error) {
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	if err := l.extend(f, size); err != nil {
		return nil, err
	}
	h, err := readHeads(fsys, dir)
	if err != nil {
		return nil, err
	}
	return h, l.hold(h)
}

// newestSlot is the slot for the newest entry.
func (l *log) newestSlot() slot {
	return slot{head: l.last, end: l.tipEnd, charged: l.owes()}
}

// fail makes the handle unusable. Closing the file releases the lock.
func (l *Ledger) fail(cause error) error {
	l.failed = ambiguous(cause)
	_ = l.file.Close() // the cause says more
	return l.failed
}
