package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
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
// Methods that need the newest state take the lock and first read what other processes appended. After a write that
// failed and could not be taken back, every method returns ErrAmbiguous, because only opening the ledger again
// shows what reached the disk.
type Ledger struct {
	fsys fileSystem
	dir  string
	now  func() time.Time

	queue      queue
	every      cadence
	due        atomic.Bool // whether a checkpoint is due
	checkpoint atomic.Bool // whether a checkpoint is being written

	mu     sync.Mutex // guards the fields below; a goroutine locks mu first, then the file
	file   file
	log    log
	heads  *heads // the head file as last read or written
	failed error  // if not nil, the error of every further call
	frozen bool   // this process can read the log, but not write it
	alone  bool   // the last write failed, so the next batch has a single entry
	space  space
	retry  uint64 // the number of entries before which no checkpoint is tried
}

// Open opens the ledger in dir. It reads the entries since the newest checkpoint, or all entries if there is no usable
// checkpoint. The function `now` returns the time for new entries. If this process cannot write dir, the methods that
// read work, and every append returns ErrReadOnly.
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
		// Read the whole log again, under the lock. Entries that were read without the lock may have been taken
		// back before they were acknowledged. And an error must concern the whole log, not the part since a
		// checkpoint.
		l.log = newLog(f, every)
		err = l.locked(func() error { return nil })
	}
	if err != nil {
		_ = l.Close() // error ignored: nothing was written
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

// Close closes the handle. Acknowledged entries are durable without Close.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return nil // fail or stop has closed the file
	}
	l.failed = ErrClosed
	if l.log.past != nil {
		_ = l.log.past.file.Close() // error ignored: the file was only read
	}
	return l.file.Close()
}

// ReadOnly reports whether this process can only read the ledger.
func (l *Ledger) ReadOnly() bool { return l.frozen }

// Head returns the newest entry that this handle has read. It does not read what others appended.
func (l *Ledger) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	tip, _ := l.log.tip()
	return tip
}

// State reads what others appended, and returns the ledger's state.
func (l *Ledger) State() (State, error) {
	var s State
	err := l.locked(func() error {
		s = l.log.state(l.log.owes(), l.now())
		return nil
	})
	return s, err
}

// Holding reads what others appended, and runs fn with the ledger's state, before anybody can append more. fn must not
// use the ledger.
func (l *Ledger) Holding(fn func(State) error) error {
	done := false
	return l.locked(func() error {
		if done { // fn has run, and must not run again
			return nil
		}
		done = true
		return fn(l.log.state(l.log.owes(), l.now()))
	})
}

// Room returns the largest loss that a reservation like r could have now, apart from the terms' maximum price. It
// ignores r's own loss. It counts the fragment of an interrupted write at the end of the log as spent, unless that
// is free. If the terms list analysts, and r's analyst is none of them, it returns ErrAnalyst.
func (l *Ledger) Room(r Reservation) (left privacy.Loss, err error) {
	err = l.locked(func() error {
		left, err = l.log.roomAfter(l.log.owes(), r, l.now())
		return err
	})
	return left, err
}

// Find returns the newest answer for a replay key. The entries of its reservation and of its release are durable. If
// there is no answer, ok is false.
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

// Entries calls fn with every entry, oldest first, until fn returns an error. It does not hold the lock during
// these calls, so it may miss entries that are appended after it began.
func (l *Ledger) Entries(fn func(Entry) error) error { return l.EntriesFrom(0, fn) }

// EntriesFrom is Entries beginning at the index that the parameter `from` states.
func (l *Ledger) EntriesFrom(from uint64, fn func(Entry) error) error {
	return l.EntriesHaving(from, "", fn)
}

// EntriesHaving is EntriesFrom for the entries whose line contains text. It checks the hashes of the other lines too.
func (l *Ledger) EntriesHaving(from uint64, text string, fn func(Entry) error) error {
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
			e, has, err := readHaving(l.file, r, i, text)
			if has {
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

// Entry reads the entry with index i from the log. The handle must have read or written that entry before.
func (l *Ledger) Entry(i uint64) (Entry, error) {
	e, _, err := l.EntryHaving(i, "")
	return e, err
}

// EntryHaving returns the entry with index i if its line contains text. Otherwise the result `has` is false:
// EntryHaving then only checks the line's hash, which takes a tenth of the time of decoding.
func (l *Ledger) EntryHaving(i uint64, text string) (e Entry, has bool, err error) {
	var at ref
	if err := l.known(func() (err error) { at, err = l.log.at(i); return err }); err != nil {
		return Entry{}, false, err
	}
	return readHaving(l.file, at, i, text)
}

// readHaving reads the entry i at a position. It is EntryHaving, without the look-up of the position.
func readHaving(log io.ReaderAt, at ref, i uint64, text string) (e Entry, has bool, err error) {
	line, err := readLine(log, at)
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

// known runs fn, which looks up entries that this handle has already read. It does not read what others appended.
// If the index is damaged, known reads the whole log again and then repeats fn.
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
	return l.locked(fn) // locked reads the whole log, because the index is damaged
}

// locked reads everything that others appended, then runs fn, all with the lock held.
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
	if errors.Is(err, errIndex) && l.failed == nil { // fn may be repeated: it reads the index before it writes anything
		l.unindex()
		err = l.refreshed(fn)
	}
	if l.failed == nil { // if l failed, the file is closed, which released the lock
		if unlocking := l.file.Unlock(); unlocking != nil {
			_ = l.fail(unlocking) // error ignored: fn has already taken effect
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

// unindex discards everything in memory. The next refresh then reads the log from its beginning, without the index.
func (l *Ledger) unindex() {
	l.log = newLog(l.file, l.every)
	l.log.unindexed = true // until the index is written again
}

// refresh reads what others appended, and checks it against the head file. When it returns without an error, the
// head file names the newest entry.
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
		// This reader read its newest entry without the lock, when the head file named it. The entry's writer has
		// taken it back since, so another entry may be in its place.
		return &RolledBackError{Want: read, Have: h.head()}
	}
	if !h.old && (l.heads == nil || l.heads.old || l.heads.slots[l.heads.newest] != h.slots[h.newest]) {
		// Another process wrote the newest slot of the head file, and may have died before the slot was durable.
		// Make it durable before relying on it.
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
		return fmt.Errorf("%w, and its newest entries were not acknowledged: open it once in a process that can write to it",
			ErrReadOnly)
	}
	// Another process appended an entry and died before it wrote the head file, perhaps before the entry was
	// durable. It reported the entry to nobody. Make the entry durable before this process reports it.
	if err := l.file.Sync(); err != nil {
		return l.fail(err)
	}
	if err := l.nameTip(); err != nil {
		return l.fail(err)
	}
	return nil
}

// unsyncable reports whether err means that a read-only file system, such as an image (ISO 9660, SquashFS), cannot
// sync. Nothing needs a sync there.
func unsyncable(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EROFS)
}

// nameTip durably writes the newest entry into the head file. If a fragment of an interrupted write after that
// entry counts as spent, the slot says so. Otherwise a later reader could take the fragment for a free one.
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

// keepName makes the names of the head file and the log durable, because the process that created them may have
// died before it did so. It must be called before anything is acknowledged.
func (l *Ledger) keepName() error {
	if l.heads.slots[l.heads.newest].seq > firstSeq {
		return nil
	}
	return l.fsys.SyncDir(l.dir)
}

// catchUp reads the log to the end of f, checks it against the head file, and returns the head file's content.
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

// newestSlot returns a slot that names the newest entry.
func (l *log) newestSlot() slot {
	return slot{head: l.last, end: l.tipEnd, charged: l.owes()}
}

// fail makes every later call return ErrAmbiguous, and returns it with its cause. It closes the file, which
// releases the lock.
func (l *Ledger) fail(cause error) error {
	l.failed = ambiguous(cause)
	_ = l.file.Close() // error ignored: cause says more
	return l.failed
}
