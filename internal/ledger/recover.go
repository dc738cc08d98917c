package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"dither/privacy"
)

// Recovery records that the owner continues after losing the head file or the log. Spending that may be lost is
// charged to every unit.
//
// Claim: if the owner's figures are true, a recovery never lowers the amount spent. Proof. Let S be the amount that
// was acknowledged as spent. There are three cases.
//
// First, the owner gives neither a head that was kept elsewhere nor a sum. Then the charge leaves nothing of the
// budget. Each acknowledged entry was within the budget of its time.
//
// Second, the owner gives a sum, which was at least S when the owner noted it, and nothing was spent since. Then
// the charge raises the spent amount to the sum.
//
// Third, the owner gives a head H that was the newest one when it was kept. The log contains H's entry and, by the
// chain of hashes, every entry before it as it was written. So all spending up to H is counted. No check here can
// detect that entries after H were cut off, so the owner must keep the newest head. ∎
//
// The charge may have been spent in the current period, so it also counts against that period's grant. So no grant
// is spent twice, although less of the current grant may remain than before.
type Recovery struct {
	Lost string        `json:"lost"`           // LostHead or LostLog
	Kept string        `json:"kept,omitempty"` // a head that the owner kept elsewhere, in the form of Head.String
	Sum  *privacy.Loss `json:"sum,omitempty"`  // the amount spent, according to the owner
	Loss *privacy.Loss `json:"loss,omitempty"` // the charge; nil if there is none
}

// The files that may be lost.
const (
	LostHead = "head"
	LostLog  = "log"
)

// ErrNotLost reports that both files exist and belong together, so there is nothing to recover.
var ErrNotLost = errors.New("neither ledger.log nor ledger.head is lost: there is nothing to recover")

func (Recovery) kind() Kind { return KindRecovery }

func (r Recovery) validate() error {
	if r.Lost != LostHead && r.Lost != LostLog {
		return invalid("what was lost")
	}
	if r.Kept != "" {
		if _, err := ParseHead(r.Kept); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) checkRecovery(r Recovery) error {
	switch {
	case r.Loss == nil:
		return nil
	case h.terms == nil:
		return ErrNoPolicy
	case r.Loss.Accountant() != privacy.Pure && h.by() == privacy.Pure:
		return fmt.Errorf("%w: charges in ρ have no pure ε", ErrIncompatible)
	}
	return nil
}

func (h *history) applyRecovery(r Recovery) {
	if r.Lost == LostLog || r.Kept == "" { // nobody knows how many rows of one person the lost answers used
		h.origins[LostLog] = true
	}
	if r.Loss != nil {
		h.charge(*r.Loss, division{}, nil)
	}
}

// Missing returns which file of the ledger in dir is lost. It returns LostLog if the log is missing, and LostHead
// if the head file is missing, unreadable or belongs to a log that was lost earlier. Otherwise it returns "".
func Missing(dir string) (string, error) { return missing(system{}, dir) }

func missing(fsys fileSystem, dir string) (string, error) {
	there, err := fsys.Exists(filepath.Join(dir, logName))
	if err != nil || !there {
		return LostLog, err
	}
	f, err := openLog(fsys, dir, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // error ignored: the file was only read; closing unlocks it
	if err := f.Lock(false); err != nil {
		return "", fmt.Errorf("locking the ledger: %w", err)
	}
	h, err := readHeads(fsys, dir)
	if errors.Is(err, ErrHeadMissing) || errors.Is(err, ErrHeadUnreadable) {
		return LostHead, nil
	}
	if err != nil {
		return "", err
	}
	size, err := f.Size()
	if err != nil {
		return "", err
	}
	l, first := newLog(f, usual), uint64(recoveryIndex)
	if l.until = &first; l.extend(f, size) == nil && l.replaces(f, h.head()) {
		return LostHead, nil
	}
	return "", nil
}

// recoveryIndex is the index of the Recovery entry in a log that RecoverLog began.
const recoveryIndex = 2

// replaces reports whether this log replaces a lost log, the one that the old head belongs to. RecoverLog was then
// interrupted before it replaced the head file.
func (l *log) replaces(f file, old Head) bool {
	if !l.hasLast || l.last.Index < recoveryIndex {
		return false
	}
	at, err := l.at(recoveryIndex)
	if err != nil {
		return false
	}
	e, err := readEntry(f, at)
	r, ok := e.Body.(Recovery)
	return err == nil && ok && r.Lost == LostLog && r.Kept == old.String()
}

// RecoverHead writes a new head file for a log whose chain is complete. If against is not nil, it is the newest
// head that the owner kept elsewhere, and the log must contain its entry. If spent is not nil, it is the amount
// spent according to the owner's notes. If both are nil, RecoverHead charges all that remains of the budget.
func RecoverHead(dir string, against *Head, spent *privacy.Loss, now func() time.Time) (State, error) {
	return recoverHead(system{}, dir, against, spent, now)
}

func recoverHead(fsys fileSystem, dir string, against *Head, spent *privacy.Loss, now func() time.Time) (State, error) {
	f, err := openLog(fsys, dir, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return State{}, err
	}
	defer func() { _ = f.Close() }() // error ignored: everything is durable by then
	if err := f.Lock(true); err != nil {
		return State{}, fmt.Errorf("locking the ledger: %w", err)
	}
	size, err := f.Size()
	if err != nil {
		return State{}, err
	}
	l := newLog(f, usual)
	if err := l.extend(f, size); err != nil {
		return State{}, err
	}
	if against != nil {
		if err := l.confirm(*against); err != nil {
			return State{}, err
		}
	}
	switch h, err := readHeads(fsys, dir); {
	case errors.Is(err, ErrHeadMissing), errors.Is(err, ErrHeadUnreadable):
	case err != nil:
		return State{}, err
	case !l.replaces(f, h.head()):
		return State{}, ErrNotLost
	}
	if l.fragment != nil {
		if l.fragment.whole > 0 {
			return State{}, &CorruptError{Line: l.fragment.line, Err: errFragment}
		}
		if err := l.writeAlone(f, now(), l.fragment.body(l.maxPrice())); err != nil {
			return State{}, err
		}
	}
	r := Recovery{Lost: LostHead, Sum: spent}
	if against != nil {
		r.Kept = against.String()
	}
	if l.terms != nil {
		r.Loss = l.missingFrom(spent, against != nil)
	}
	if err := l.writeAlone(f, now(), r); err != nil {
		return State{}, err
	}
	if _, err := replaceHeads(fsys, dir, l.newestSlot()); err != nil {
		return State{}, err
	}
	return l.state(false, now()), nil
}

// missingFrom returns the charge of a recovery, or nil for none. If sum is set, the charge raises the spent loss to
// sum. Otherwise it is all that remains of the budget or, if trusted is set, nothing.
func (h *history) missingFrom(sum *privacy.Loss, trusted bool) *privacy.Loss {
	loss := h.budget().Minus(h.charges.whole.in(h.by()))
	switch {
	case sum != nil:
		if loss = *sum; sum.Accountant() == h.by() {
			loss = sum.Minus(h.charges.whole.in(h.by()))
		}
	case trusted:
		return nil
	}
	if loss.IsZero() {
		return nil
	}
	return &loss
}

// writeAlone durably appends an entry to a log that has no head file.
func (l *log) writeAlone(f file, at time.Time, body Body) error {
	if err := body.validate(); err != nil {
		return err
	}
	if !datable(at) {
		return ErrClock
	}
	tip, _ := l.tip()
	line, err := encodeLine(l.count(), tip.Hash, at, body)
	if err != nil {
		return invalid("it cannot be written as JSON")
	}
	e, err := decodeLine(line)
	if err == nil {
		err = l.check(e)
	}
	if err != nil {
		return err
	}
	data := append(line, '\n')
	if !l.ended() {
		data = append([]byte{'\n'}, data...)
	}
	if err := writeAll(f, data); err != nil {
		return err
	}
	return l.extend(f, l.size+int64(len(data)))
}

// RecoverLog begins a new ledger in dir, whose log was lost, under the terms of the owner's policy. spent is the
// lost ledger's spending, in the relation of these terms. If spent is nil, RecoverLog charges the whole budget. It
// replaces an old head file only after the new log is durable. Until then Create refuses the directory, so nobody
// can begin a ledger there without the charge.
func RecoverLog(dir, id string, terms Terms, spent *privacy.Loss, now func() time.Time) (State, error) {
	return recoverLog(system{}, dir, id, terms, spent, now)
}

func recoverLog(
	fsys fileSystem, dir, id string, terms Terms, spent *privacy.Loss, now func() time.Time,
) (s State, err error) {
	logPath := filepath.Join(dir, logName)
	if there, err := fsys.Exists(logPath); err != nil || there {
		return State{}, existing(logName, err)
	}
	r := Recovery{Lost: LostLog, Sum: spent}
	if h, err := readHeads(fsys, dir); err == nil {
		r.Kept = h.head().String()
	}
	temp := filepath.Join(dir, logName+".recovering")
	f, err := fsys.Open(temp, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC, fs.FileMode(0o600))
	if err != nil {
		return State{}, err
	}
	defer func() { _ = f.Close() }()
	l := newLog(f, usual)
	write := func(body Body) {
		if err == nil {
			err = l.writeAlone(f, now(), body)
		}
	}
	write(Genesis{ID: id})
	write(adoption(terms, 1))
	r.Loss = l.missingFrom(spent, false)
	write(r)
	if err == nil {
		err = f.Lock(true) // makes processes wait that open the new log before its head file exists
	}
	if err == nil {
		err = fsys.Rename(temp, logPath)
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if err != nil {
		_ = fsys.Remove(temp)
		return State{}, err
	}
	if _, err := replaceHeads(fsys, dir, l.newestSlot()); err != nil {
		_ = fsys.Remove(logPath) // no reader accepts this log, because the head file is not its own
		return State{}, err
	}
	return l.state(false, now()), nil
}
