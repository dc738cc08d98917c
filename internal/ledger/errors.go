package ledger

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"dither/privacy"
)

// Errors of the files. No message quotes the ledger's contents.
var (
	// ErrMissing reports that the directory has no log. Only Create and RecoverLog write a new log.
	ErrMissing = errors.New(
		"no ledger here: ledger.log is missing; restore it, run `dither ledger recover`, or begin a new home")
	// ErrExists reports that the directory already has a log or a head file.
	ErrExists = errors.New("a ledger, or a part of one, is already here")
	// ErrHeadMissing reports that the head file is missing. Without it, nothing proves that the end of the log was
	// not cut off.
	ErrHeadMissing = errors.New("ledger.head is missing: run `dither ledger recover` to rewrite it")
	// ErrHeadUnreadable reports that the head file contains no valid head.
	ErrHeadUnreadable = errors.New("ledger.head is unreadable: run `dither ledger recover` to rewrite it")
	// ErrNewer reports that a newer program wrote this ledger. This program does not understand its format, and
	// changes nothing.
	ErrNewer = errors.New("the ledger has a newer format than this program: use a newer dither")
	// ErrMoved reports that the log in the directory is no longer the file that was opened.
	ErrMoved = errors.New("ledger.log was removed or replaced while it was open: open the ledger again")
	// ErrNotFile reports that ledger.log or ledger.head is not a regular file, but for example a directory or a
	// pipe.
	ErrNotFile = errors.New("not a regular file")
	// ErrNotWritten reports that a write failed and was taken back. Nothing is recorded or charged, and the handle
	// stays usable.
	ErrNotWritten = errors.New("the ledger could not be written: nothing was recorded")
	// ErrFull is an ErrNotWritten whose cause is a full disk or an exceeded quota.
	ErrFull = fmt.Errorf("%w, because its disk is full", ErrNotWritten)
	// ErrAmbiguous reports that a write failed and could not be taken back. The entry may be in the log, and then
	// it counts as spent. Every later call on the handle fails. Open the ledger again to find out.
	ErrAmbiguous = errors.New("writing the ledger failed and the entry may count as spent: open the ledger again")
	// ErrReadOnly reports that this process has no permission to write the home.
	ErrReadOnly = errors.New("the home is read-only")
	// ErrClosed reports that the handle was closed.
	ErrClosed = errors.New("the ledger is closed")
)

// Refusals. Nothing was written, and the same call gives the same error while the ledger stays as it is. (The
// refusal of a price above the remaining budget is a *privacy.OverdrawError.)
var (
	// ErrClock reports that the computer's clock shows a year that no entry can be dated in.
	ErrClock = errors.New("the computer's clock is outside of the years 0 to 9999: set it")
	// ErrInvalid reports an argument that the ledger cannot record.
	ErrInvalid = errors.New("not valid in the ledger")
	// ErrNoPolicy reports that the ledger has no terms yet.
	ErrNoPolicy = errors.New("no policy has been adopted")
	// ErrPolicyChanged reports a price that was computed under other terms than those in force.
	ErrPolicyChanged = errors.New("another policy has been adopted meanwhile: read it again")
	// ErrPrice reports a price that is zero, or above the maximum that the terms allow.
	ErrPrice = errors.New("the policy does not allow this price")
	// ErrAnalyst reports that the terms list the authorised analysts, and the reservation names another analyst or
	// none.
	ErrAnalyst = errors.New("the policy lists the analysts who may ask, and this is not one of them")
	// ErrParts reports a reservation that is confined to parts of a table, although the terms do not divide that
	// table into parts or the reservation also reads other tables.
	ErrParts = errors.New("the table is not divided into parts")
	// ErrNotSealed reports a reservation that reads a version of a table that was never sealed.
	ErrNotSealed = errors.New("this version of the table was never sealed")
	// ErrSuspended reports that too many questions have failed, or were cancelled, since the owner's last Resume. A
	// *SuspendedError is an ErrSuspended.
	ErrSuspended = errors.New("too many questions have failed")
	// ErrNotReserved reports a release, step or failure that names no open reservation.
	ErrNotReserved = errors.New("no open reservation has this index")
	// ErrIncompatible reports new terms under which the past charges cannot be counted, at all or with the given
	// group.
	ErrIncompatible = errors.New("the change of terms cannot be accounted for")
	// ErrStale reports that an entry was appended after the caller read the state.
	ErrStale = errors.New("the ledger has changed meanwhile: try again")
	// ErrTooLarge reports an entry that is longer than a line may be.
	ErrTooLarge = errors.New("the entry is too large for the ledger")
)

// LimitError reports a price that exceeds a limit within the budget: an analyst's limit, a period's grant, or what
// the budget leaves for some parts. It depends on public prices only.
type LimitError struct {
	Of   string // the exhausted limit, for example "the grant of this month" or "the limit of alice"
	Err  *privacy.OverdrawError
	Next time.Time // the time of the next grant if it would pay the price; otherwise zero
}

func (e *LimitError) Error() string {
	text := fmt.Sprintf("%s is exhausted: the price is %s, but only %s of %s remains",
		e.Of, e.Err.Price, e.Err.Remaining, e.Err.Budget)
	if !e.Next.IsZero() {
		text += "; the next grant is on " + e.Next.Format(time.DateOnly)
	}
	return text
}

// Unwrap returns e.Err.
func (e *LimitError) Unwrap() error { return e.Err }

// CorruptError reports a log that this program did not write as it stands: it was edited, cut in the middle, or
// reordered.
type CorruptError struct {
	Line uint64 // line of the file, from 1
	Or   uint64 // if not 0, another line that may be the wrong one instead
	Err  error  // what is wrong with the line
}

func (e *CorruptError) Error() string {
	at := fmt.Sprint(e.Line)
	if e.Or != 0 {
		at += fmt.Sprintf(" or %d", e.Or)
	}
	return fmt.Sprintf("ledger.log is corrupt at line %s: %v; restore the home from a backup", at, e.Err)
}

// Unwrap returns e.Err.
func (e *CorruptError) Unwrap() error { return e.Err }

// RolledBackError reports a log that lacks an entry which it once contained: it was cut, replaced by an older copy,
// or rewritten.
type RolledBackError struct {
	Want Head // the missing entry, which the head file or a kept head names
	Have Head // the newest entry, or the entry that the log has at Want's index
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

// notWritten returns ErrNotWritten with its cause, or ErrFull with its cause if the disk is full.
func notWritten(cause error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(cause, full) {
			return fmt.Errorf("%w: %w", ErrFull, cause)
		}
	}
	return fmt.Errorf("%w: %w", ErrNotWritten, cause)
}

// ambiguous returns ErrAmbiguous with its cause.
func ambiguous(cause error) error { return fmt.Errorf("%w: %w", ErrAmbiguous, cause) }
