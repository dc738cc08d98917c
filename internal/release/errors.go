package release

import (
	"errors"
	"fmt"
	"time"

	"dither/internal/engine"
	"dither/internal/ledger"
)

// Ending is why an access ended without a release. Each depends on the question, the policy, the ledger and the clock,
// and on no row.
type Ending int

// The ways in which an access ends without a release.
const (
	Late        Ending = iota + 1 // it came to its reservation too late for its instant
	Slow                          // by the policy's answer_delay it would leave later than an answer may take
	Crowded                       // too many rehearsals wait, or it waited for its own too long
	Busy                          // the same access is under way, and took longer than an answer may
	Costly                        // its rehearsal took too much time or memory
	Unevaluable                   // its rehearsal failed
	Unreachable                   // the server that holds its table cannot be asked
	Unsupported                   // the engine does not do what it asks; Message and Hint say what
	Unwritable                    // the home's folder cannot be written; Cause says why
	Failed                        // it failed after the reservation, whatever the reason
	GivenUp                       // who asked gave it up after the reservation
	// a table was sealed again since its stream or training began; Message and Hint say which
	Resealed
	Over            // its stream or training has no further step; Message and Hint say why
	Misused         // what a step was asked with is not what it takes; Message and Hint say why
	LostBefore      // its training was paid before, and cannot go on; Message and Hint say why
	FailedElsewhere // its training failed in another process, or its owner gave it up
	StepGivenUp     // who asked gave a training's step up; it can be taken again
)

// EndedError reports that an access ended without a release. The kernel's other errors are those of the ledger, of the
// sealed store and of contexts, as they are.
type EndedError struct {
	How           Ending
	Limit         time.Duration // of what was waited for, or would have taken longer
	Message, Hint string        // of the kinds that say so
	Cause         error         // of unwritable
}

func (e *EndedError) Error() string {
	switch {
	case e.Cause != nil:
		return e.Cause.Error()
	case e.Message != "":
		return e.Message
	}
	return fmt.Sprintf("the access ended without a release (%d)", e.How)
}

func (e *EndedError) Unwrap() error { return e.Cause }

// ended is the error of an ending that needs no more words.
func ended(how Ending) error { return &EndedError{How: how} }

// PaidError reports an error that came after the reservation: the price stays spent.
type PaidError struct{ Err error }

func (e *PaidError) Error() string { return e.Err.Error() }
func (e *PaidError) Unwrap() error { return e.Err }

// afterwards is err of what is paid for.
func afterwards(err error) error { return &PaidError{err} }

// UnreservedError reports that the ledger did not admit a price.
type UnreservedError struct{ Err error }

func (e *UnreservedError) Error() string { return e.Err.Error() }
func (e *UnreservedError) Unwrap() error { return e.Err }

// TableError reports what is wrong with a table's sealed version.
type TableError struct {
	Table string
	Err   error
}

func (e *TableError) Error() string { return e.Err.Error() }
func (e *TableError) Unwrap() error { return e.Err }

// ParameterError reports that a mechanism refuses its parameters, which come from the policy and the question.
type ParameterError struct {
	Err   error
	Price bool // a larger price would help, or narrower bounds
}

func (e *ParameterError) Error() string { return e.Err.Error() }
func (e *ParameterError) Unwrap() error { return e.Err }

// NotInForceError reports that the ledger holds other terms than the policy that was read.
type NotInForceError struct{ State ledger.State }

func (e *NotInForceError) Error() string { return "the policy is not the one in force" }

var (
	// ErrNotRecorded reports a sealed version that is not the one that the ledger recorded: the sealed folder was restored or
	// replaced.
	ErrNotRecorded = errors.New("the table's sealed version is not the one that the ledger recorded")
	// ErrUnreadable reports a recorded release that its question cannot have.
	ErrUnreadable = errors.New("a recorded release is unreadable")
)

// RehearsalMemory states the memory limit of a rehearsal in words.
const RehearsalMemory = engine.RehearsalMemoryText
