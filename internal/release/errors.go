package release

import (
	"errors"
	"fmt"
	"time"

	"dither/internal/engine"
	"dither/internal/ledger"
)

// Ending is the reason why an access ended without a release. It depends on the question, the policy, the ledger
// and the clock, and on no row.
type Ending int

// The reasons why an access ends without a release. Message and Hint are fields of [EndedError].
const (
	// the access was ready for its reservation too late to be answered by its release time
	Late Ending = iota + 1
	// the policy's answer_delay would release the answer after the time limit of an answer
	Slow
	Crowded     // too many rehearsals are waiting, or this one waited too long
	Busy        // the same access is in progress, and took longer than the time limit
	Costly      // the rehearsal took too much time or memory
	Unevaluable // the rehearsal failed
	Unreachable // the server that holds the table cannot be reached
	Unsupported // the engine does not support the question; Message and Hint say why
	Unwritable  // the home's folder cannot be written; Cause says why
	Failed      // the access failed after the reservation; the reason is for the owner only
	GivenUp     // the caller cancelled after the reservation
	// a table was sealed again since its stream or training began; Message and Hint say more
	Resealed
	Over            // the stream or training has no further step; Message and Hint say why
	Misused         // the arguments of a step are invalid; Message and Hint say why
	OtherStep       // this step was recorded with other parameters; Message and Hint say more
	LostBefore      // the training was paid before, and cannot continue; Message and Hint say why
	FailedElsewhere // the training failed in another process, or its owner gave it up
	StepGivenUp     // the caller cancelled a step of a training; the step can be repeated
)

// EndedError reports that an access ended without a release. The kernel returns errors of the ledger, of the sealed
// versions and of contexts unchanged.
type EndedError struct {
	How           Ending
	Limit         time.Duration // the time limit, for Slow and Costly
	Message, Hint string        // set for the endings that say so
	Cause         error         // set for Unwritable
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

// ended returns the EndedError of an ending without further details.
func ended(how Ending) error { return &EndedError{How: how} }

// PaidError wraps an error that came after the reservation: the price stays spent.
type PaidError struct{ Err error }

func (e *PaidError) Error() string { return e.Err.Error() }
func (e *PaidError) Unwrap() error { return e.Err }

// afterwards wraps err in a PaidError.
func afterwards(err error) error { return &PaidError{err} }

// UnreservedError wraps the ledger's error when it does not admit a price.
type UnreservedError struct{ Err error }

func (e *UnreservedError) Error() string { return e.Err.Error() }
func (e *UnreservedError) Unwrap() error { return e.Err }

// TableError wraps an error about a table's sealed version.
type TableError struct {
	Table string
	Err   error
}

func (e *TableError) Error() string { return e.Err.Error() }
func (e *TableError) Unwrap() error { return e.Err }

// ParameterError reports that a mechanism refused its parameters. The parameters come from the policy and the
// question.
type ParameterError struct {
	Err   error
	Price bool // a larger price, or narrower bounds, would help
}

func (e *ParameterError) Error() string { return e.Err.Error() }
func (e *ParameterError) Unwrap() error { return e.Err }

// NotInForceError reports that the policy in force in the ledger is not the policy that was read.
type NotInForceError struct{ State ledger.State }

func (e *NotInForceError) Error() string { return "the policy is not the one in force" }

var (
	// ErrNotRecorded reports that a sealed version is not the one that the ledger recorded: the folder of sealed
	// versions was restored or replaced.
	ErrNotRecorded = errors.New("the table's sealed version is not the one that the ledger recorded")
	// ErrUnreadable reports a recorded release that does not fit its question.
	ErrUnreadable = errors.New("a recorded release is unreadable")
)

// RehearsalMemory states the memory limit of a rehearsal in words.
const RehearsalMemory = engine.RehearsalMemoryText
