package curator

import (
	"errors"
	"fmt"
	"time"

	"dither/internal/engine"
	"dither/internal/ledger"
)

// ending is why an access ended without a release. Each depends on the question, the policy, the ledger and the clock, and on no
// row.
type ending int

const (
	endLate          ending = iota + 1 // it came to its reservation too late for its instant
	endSlow                            // by the policy's answer_delay it would leave later than an answer may take
	endCrowded                         // too many rehearsals wait, or it waited for its own too long
	endBusy                            // the same access is under way, and took longer than an answer may
	endCostly                          // its rehearsal took too much time or memory
	endUnevaluable                     // its rehearsal failed
	endUnreachable                     // the server that holds its table cannot be asked
	endUnsupported                     // the engine does not do what it asks; Message and Hint say what
	endUnwritable                      // the home's folder cannot be written; Cause says why
	endFailure                         // it failed after the reservation, whatever the reason
	endAbandoned                       // who asked gave it up after the reservation
	endResealed                        // a table was sealed again since its stream or training began; Message and Hint say which
	endOver                            // its stream or training has no further step; Message and Hint say why
	endMisused                         // what a step was asked with is not what it takes; Message and Hint say why
	endLostBefore                      // its training was paid before, and cannot go on; Message and Hint say why
	endElsewhere                       // its training failed in another process, or its owner gave it up
	endStepAbandoned                   // who asked gave a training's step up; it can be taken again
)

// endedError reports that an access ended without a release. The kernel's other errors are those of the ledger, of the sealed store and of
// contexts, as they are.
type endedError struct {
	How           ending
	Limit         time.Duration // of what was waited for, or would have taken longer
	Message, Hint string        // of the kinds that say so
	Cause         error         // of unwritable
}

func (e *endedError) Error() string {
	switch {
	case e.Cause != nil:
		return e.Cause.Error()
	case e.Message != "":
		return e.Message
	}
	return fmt.Sprintf("the access ended without a release (%d)", e.How)
}

func (e *endedError) Unwrap() error { return e.Cause }

// ended is the error of an ending that needs no more words.
func ended(how ending) error { return &endedError{How: how} }

// paidError reports an error that came after the reservation: the price stays spent.
type paidError struct{ Err error }

func (e *paidError) Error() string { return e.Err.Error() }
func (e *paidError) Unwrap() error { return e.Err }

// afterwards is err of what is paid for.
func afterwards(err error) error { return &paidError{err} }

// unreservedError reports that the ledger did not admit a price.
type unreservedError struct{ Err error }

func (e *unreservedError) Error() string { return e.Err.Error() }
func (e *unreservedError) Unwrap() error { return e.Err }

// tableError reports what is wrong with a table's sealed version.
type tableError struct {
	Table string
	Err   error
}

func (e *tableError) Error() string { return e.Err.Error() }
func (e *tableError) Unwrap() error { return e.Err }

// parameterError reports that a mechanism refuses its parameters, which come from the policy and the question.
type parameterError struct {
	Err   error
	Price bool // a larger price would help, or narrower bounds
}

func (e *parameterError) Error() string { return e.Err.Error() }
func (e *parameterError) Unwrap() error { return e.Err }

// inForceError reports that the ledger holds other terms than the policy that was read.
type inForceError struct{ State ledger.State }

func (e *inForceError) Error() string { return "the policy is not the one in force" }

var (
	// errNotRecorded: a sealed version is not the one that the ledger recorded: the sealed folder was restored or replaced.
	errNotRecorded = errors.New("the table's sealed version is not the one that the ledger recorded")
	// errUnreadable reports a recorded release that its question cannot have.
	errUnreadable = errors.New("a recorded release is unreadable")
)

// rehearsalMemory is how much memory a rehearsal may take, in words.
const rehearsalMemory = engine.RehearsalMemoryText
