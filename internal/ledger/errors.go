package ledger

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"dither/privacy"
)

// Errors of the files. No message quotes what the ledger holds.
var (
	// ErrMissing: there is no ledger here. It is never re-created, except by Create.
	ErrMissing = errors.New(
		"no ledger here: ledger.log is missing; restore it, or `dither ledger recover`, or begin a new home")
	// ErrExists: Create found a ledger, or the remains of one.
	ErrExists = errors.New("a ledger, or a part of one, is already here")
	// ErrHeadMissing: the log has lost its head file, and with it the evidence that its end was not cut off.
	ErrHeadMissing = errors.New("ledger.head is missing: `dither ledger recover` writes it again")
	// ErrHeadUnreadable: the head file does not hold one head.
	ErrHeadUnreadable = errors.New("ledger.head is unreadable: `dither ledger recover` writes it again")
	// ErrNewer: a newer program has written here. This one does not understand it, and touches nothing.
	ErrNewer = errors.New("the ledger has a newer format than this program: use a newer dither")
	// ErrMoved: the log in the directory is no longer the one that was opened.
	ErrMoved = errors.New("ledger.log was removed or replaced while it was open: open the ledger again")
	// ErrNotFile: ledger.log or ledger.head is a directory, a pipe or a device.
	ErrNotFile = errors.New("not a regular file")
	// ErrNotWritten: a write failed and was taken back. Nothing is recorded, nothing is charged, and the handle stays
	// usable.
	ErrNotWritten = errors.New("the ledger could not be written: nothing was recorded")
	// ErrFull is ErrNotWritten on a disk without room, or over its quota.
	ErrFull = fmt.Errorf("%w, since its disk is full", ErrNotWritten)
	// ErrAmbiguous: a write failed, and so did taking it back. The entry may or may not be there; if it is, it counts
	// as spent. The handle takes no further calls: open the ledger again to find out.
	ErrAmbiguous = errors.New("writing the ledger failed and the entry may count as spent: open the ledger again")
	// ErrReadOnly: this process cannot write the home.
	ErrReadOnly = errors.New("the home is read-only")
	// ErrClosed: the handle was closed.
	ErrClosed = errors.New("the ledger is closed")
)

// Refusals. Nothing was written, and asking again gives the same answer. (A price above the remaining budget is a
// *privacy.OverdrawError.)
var (
	// ErrClock: no entry can have the time of the computer's clock.
	ErrClock = errors.New("the computer's clock is outside of the years 0 to 9999: set it")
	// ErrInvalid: the ledger cannot record an argument.
	ErrInvalid = errors.New("not valid in the ledger")
	// ErrNoPolicy: no terms have been adopted.
	ErrNoPolicy = errors.New("no policy has been adopted")
	// ErrPolicyChanged: the price was computed under other terms than those adopted now.
	ErrPolicyChanged = errors.New("another policy has been adopted meanwhile: read it again")
	// ErrPrice: the price is zero, or above the maximum that the terms allow.
	ErrPrice = errors.New("the policy does not allow this price")
	// ErrAnalyst: the terms list who may ask, and the reservation names another analyst, or none.
	ErrAnalyst = errors.New("the policy lists the analysts who may ask, and this is not one of them")
	// ErrParts: a reservation is confined to parts of a table, but the terms divide that table into none, or it reads
	// other tables too.
	ErrParts = errors.New("the table is not divided into parts")
	// ErrNotSealed: the ledger has no seal of a source of the reservation.
	ErrNotSealed = errors.New("this version of the table was never sealed")
	// ErrSuspended: MaxFailures questions have failed since the owner last looked into it. A *SuspendedError is an
	// ErrSuspended too.
	ErrSuspended = errors.New("too many questions have failed")
	// ErrNotReserved: a release or a failure names no open reservation.
	ErrNotReserved = errors.New("no open reservation has this index")
	// ErrIncompatible: these terms cannot follow those adopted before, with this factor.
	ErrIncompatible = errors.New("the change of terms cannot be accounted for")
	// ErrStale: an entry was appended after the new terms were compared with those in force.
	ErrStale = errors.New("the ledger has changed meanwhile: try again")
	// ErrTooLarge: the entry is larger than a line may be.
	ErrTooLarge = errors.New("the entry is too large for the ledger")
)

// LimitError is a refusal by a limit within the budget, or because the budget leaves too little for some parts. It
// depends on public prices only.
type LimitError struct {
	Of   string // what is exhausted: "the grant of this month", "the limit of alice"
	Err  *privacy.OverdrawError
	Next time.Time // when the next grant comes, if it would pay the price; else zero
}

func (e *LimitError) Error() string {
	text := fmt.Sprintf("%s is exhausted: the price is %s, and what remains of %s is %s",
		e.Of, e.Err.Price, e.Err.Budget, e.Err.Remaining)
	if !e.Next.IsZero() {
		text += "; the next grant is on " + e.Next.Format(time.DateOnly)
	}
	return text
}

// Unwrap gives the filter's refusal.
func (e *LimitError) Unwrap() error { return e.Err }

// CorruptError reports a log that this program did not write: it was edited, cut in the middle, or reordered.
type CorruptError struct {
	Line uint64 // of the file, from 1
	Or   uint64 // if not 0, the fault may be in that line instead
	Err  error  // what is wrong with it
}

func (e *CorruptError) Error() string {
	at := fmt.Sprint(e.Line)
	if e.Or != 0 {
		at += fmt.Sprintf(" or %d", e.Or)
	}
	return fmt.Sprintf("ledger.log is corrupt at line %s: %v; restore the home from a backup", at, e.Err)
}

// Unwrap gives what is wrong with the line.
func (e *CorruptError) Unwrap() error { return e.Err }

// RolledBackError reports a log that lacks an entry which it once had: it was cut, replaced by an older copy, or
// rewritten.
type RolledBackError struct {
	Want Head // the entry that the head file or a checkpoint requires
	Have Head // the newest entry, or the entry at the index of Want
}

func (e *RolledBackError) Error() string {
	if e.Have.Index < e.Want.Index {
		return fmt.Sprintf(
			"the ledger was rolled back: it ends at entry %d, and entry %d was acknowledged; restore ledger.log",
			e.Have.Index, e.Want.Index)
	}
	return fmt.Sprintf("the ledger was rewritten: entry %d is not the one that was acknowledged; restore ledger.log",
		e.Want.Index)
}

// notWritten is ErrNotWritten, or ErrFull, with its cause.
func notWritten(cause error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(cause, full) {
			return fmt.Errorf("%w: %w", ErrFull, cause)
		}
	}
	return fmt.Errorf("%w: %w", ErrNotWritten, cause)
}

// ambiguous is ErrAmbiguous with its cause.
func ambiguous(cause error) error { return fmt.Errorf("%w: %w", ErrAmbiguous, cause) }
