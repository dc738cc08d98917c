package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/query"
	"dither/internal/release"
	"dither/internal/seal"
	"dither/privacy"
)

// Code says what kind of thing went wrong. New codes may be added.
type Code string

// The codes.
const (
	CodeUsage     Code = "usage"      // an argument that is no ε, no confidence, …
	CodeSQL       Code = "sql"        // the text is not SQL, or not of the dialect
	CodePolicy    Code = "policy"     // the policy does not allow the question
	CodeAnalyst   Code = "analyst"    // the policy lists who may ask, and this is none of them
	CodeExhausted Code = "exhausted"  // the price is above what remains of the budget
	CodeNotSealed Code = "not_sealed" // the table has no sealed version for its declaration
	// the sealed version does not fit the policy or the ledger: the owner seals again
	CodeStale         Code = "stale"
	CodeSource        Code = "source"         // a source could not be sealed: exact facts, for the owner's eyes only
	CodePolicyChanged Code = "policy_changed" // the policy file changed in a way that its owner must accept first
	CodeLedger        Code = "ledger"         // the ledger cannot be read or written
	CodeHome          Code = "home"           // the home or its policy cannot be used
	// a training that is paid and unfinished would be lost, or was lost by a change and would be paid again
	CodeUnfinished Code = "unfinished"
	CodeFailed     Code = "failed"    // the question failed after its price was reserved
	CodeInternal   Code = "internal"  // an error whose details only the owner sees
	CodeSuspended  Code = "suspended" // too many questions failed, or were given up: the owner looks into it first
	CodeCancelled  Code = "cancelled" // the caller gave up: before anything was reserved unless Charged
	// the server that holds the table cannot be asked, or the same question is being answered and takes too long;
	// nothing was reserved
	CodeUnavailable Code = "unavailable"
)

// Error is the one error type at the kernel's edge. All of it may be shown to an analyst: it depends on the question, the
// policy and the ledger, never on rows. The one exception is CodeSource, which only Seal gives, to the owner.
type Error struct {
	Code         Code
	Message      string
	Hint         string // what to do about it; may be empty
	Line, Column int    // in the question's text; 0 where no one place is to blame
	Table        string // with CodeNotSealed: which
	Retry        bool   // asking again unchanged may succeed, and pays nothing a second time
	Charged      bool   // the price was reserved, and stays spent

	cause error // for the owner; never an engine's
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

// Unwrap gives the cause where it is no engine's: those may quote rows.
func (e *Error) Unwrap() error { return e.cause }

// public turns an error into one that an analyst may see. It fails closed: an unknown error becomes one uniform error, and
// only the owner gets its text. A known error depends on the question, the policy, the ledger and the sealed store's
// records, and on no row.
func (c *Session) public(err error) *Error {
	var (
		paid       *release.PaidError
		unreserved *release.UnreservedError
		held       *release.NotInForceError
	)
	switch known := worded(err); {
	case known != nil:
		return known
	case errors.As(err, &paid):
		return c.charged(paid.Err)
	case errors.As(err, &unreserved):
		return c.notReserved(unreserved.Err)
	case errors.As(err, &held):
		return c.public(c.inForce(held.State))
	}
	c.tellOwner(err)
	return untold()
}

// charged is public for an error after the reservation. Asking again may pay again, so Retry is false.
func (c *Session) charged(err error) *Error {
	var held *release.NotInForceError
	if errors.As(err, &held) {
		err = c.inForce(held.State)
	}
	known := worded(err)
	if known == nil {
		c.tellOwner(err)
		return failed()
	}
	e := *known
	e.Charged, e.Retry = true, false
	var step *release.EndedError
	switch {
	case errors.As(err, &step) && step.How == release.StepGivenUp: // it can be taken again
		e.Retry = true
	case errors.Is(err, release.ErrBusy): // once it is given back elsewhere
		e.Code, e.Retry = CodeHome, true
	}
	if errors.Is(err, ledger.ErrNotWritten) { // the answer's entry was not written; the reservation is
		e.Message = "the ledger could not be written: the answer is not recorded, and not given; its price stays spent"
		e.Hint = "the owner looks whether the disk of the home is full; asking again is charged again"
	}
	return &e
}

// toOwner turns an error of an owner's act into one that the owner sees. No analyst sees it, so it keeps an unknown
// error's text.
func toOwner(err error) *Error {
	if e := worded(err); e != nil {
		return e
	}
	return &Error{Code: CodeLedger, Message: err.Error(), cause: err}
}

// untold is the one error that stands for all unknown ones.
func untold() *Error {
	return &Error{
		Code: CodeInternal, Message: "the question could not be answered, for a reason that only the owner is told",
		Hint: "ask the owner of the home",
	}
}

// namedByLedger are the errors of package ledger that are worded as they are, beside those that have words of their own.
var namedByLedger = []error{
	ledger.ErrMissing,
	ledger.ErrExists,
	ledger.ErrHeadMissing,
	ledger.ErrHeadUnreadable,
	ledger.ErrNewer,
	ledger.ErrMoved,
	ledger.ErrNotFile,
	ledger.ErrClosed,
	ledger.ErrClock,
	ledger.ErrInvalid,
	ledger.ErrPrice,
	ledger.ErrParts,
	ledger.ErrNotReserved,
	ledger.ErrIncompatible,
	ledger.ErrTooLarge,
}

// recordsAreBroken reports an error about what the ledger, or a journal beside it, has recorded.
func recordsAreBroken(err error) bool {
	if errors.As(err, new(*ledger.CorruptError)) || errors.As(err, new(*ledger.RolledBackError)) {
		return true
	}
	is := func(known error) bool { return errors.Is(err, known) }
	return slices.ContainsFunc(namedByLedger, is) || is(release.ErrUnreadable) || is(release.ErrJournal) ||
		is(release.ErrBusy)
}

// worded turns an error of the policy, the plan, the ledger or the sealed store into an *Error; nil where it knows none.
func worded(err error) *Error {
	var (
		already   *Error
		ended     *release.EndedError
		table     *release.TableError
		parameter *release.ParameterError
		syntax    *query.Error
		refusal   *plan.Error
		exhausted *privacy.OverdrawError
		limited   *ledger.LimitError
		stale     *seal.StaleError
		damaged   *seal.DamagedError
	)
	switch {
	case errors.As(err, new(*release.PaidError)),
		errors.As(err, new(*release.UnreservedError)),
		errors.As(err, new(*release.NotInForceError)):
		return nil // public has more to say
	case errors.As(err, &already):
		return already
	case errors.As(err, &ended):
		return endings(ended)
	case errors.As(err, &parameter) && parameter.Price:
		return unusable(parameter.Err)
	case errors.As(err, &parameter):
		return &Error{Code: CodePolicy, Message: parameter.Error(), cause: parameter.Err}
	case errors.As(err, &table):
		known := worded(table.Err)
		if known != nil {
			known.Table = table.Table
		}
		return known
	case errors.Is(err, release.ErrUnplanned): // before anything was charged: afterwards the owner alone is told
		return &Error{Code: CodePolicy, Message: err.Error(), cause: err}
	case errors.As(err, &syntax):
		return &Error{
			Code:    CodeSQL,
			Message: syntax.Message,
			Hint:    syntax.Hint,
			Line:    syntax.Pos.Line,
			Column:  syntax.Pos.Column,
			cause:   err,
		}
	case errors.As(err, &refusal):
		return &Error{
			Code:    CodePolicy,
			Message: refusal.Message,
			Hint:    refusal.Hint,
			Line:    refusal.Pos.Line,
			Column:  refusal.Pos.Column,
			cause:   err,
		}
	case errors.As(err, &limited):
		return &Error{Code: CodeExhausted, Message: limited.Error(), Hint: againFree, cause: err}
	case errors.Is(err, ledger.ErrAnalyst):
		return &Error{Code: CodeAnalyst, Message: err.Error(), cause: err}
	case errors.As(err, &exhausted):
		return &Error{Code: CodeExhausted, Message: exhausted.Error(), Hint: againFree, cause: err}
	case errors.As(err, &damaged):
		return &Error{
			Code:    CodeStale,
			Message: err.Error(),
			Hint:    "the owner restores the home's file from a backup, or runs `dither seal`",
			Table:   damaged.Table,
			cause:   err,
		}
	case errors.As(err, &stale), errors.Is(err, release.ErrNotRecorded), errors.Is(err, ledger.ErrNotSealed):
		return &Error{Code: CodeStale, Message: err.Error(), Hint: "the owner runs `dither seal`", cause: err}
	case errors.Is(err, ledger.ErrSuspended):
		return &Error{
			Code: CodeSuspended, Message: err.Error() + ": new ones are refused until the owner has looked into it", cause: err,
			Hint: "the owner runs `dither ledger resume`; what was answered already can be asked again at no cost",
		}
	case errors.Is(err, ledger.ErrFull):
		return &Error{
			Code:    CodeLedger,
			Retry:   true,
			Message: "the ledger could not be written, since its disk is full: nothing was recorded or charged",
			Hint:    "the owner makes room on the disk of the home; then ask again",
			cause:   err,
		}
	case errors.Is(err, ledger.ErrNotWritten):
		return &Error{
			Code: CodeLedger, Retry: true, Message: "the ledger could not be written: nothing was recorded or charged",
			Hint: "the owner looks at the disk of the home; then ask again", cause: err,
		}
	case errors.Is(err, ledger.ErrReadOnly):
		return &Error{
			Code:    CodeHome,
			Message: err.Error() + ": only what was answered before is answered",
			Hint:    "ask where the home can be written",
			cause:   err,
		}
	case errors.Is(err, ledger.ErrAmbiguous):
		return &Error{
			Code:    CodeLedger,
			Charged: true,
			Message: err.Error(),
			Hint:    "the price may have been charged: open the curator again",
			cause:   err,
		}
	case errors.Is(err, seal.ErrNotSealed):
		return &Error{
			Code:    CodeNotSealed,
			Message: err.Error(),
			Hint:    "the owner runs `dither seal`, or Owner.Seal",
			cause:   err,
		}
	case errors.Is(err, ledger.ErrPolicyChanged), errors.Is(err, ledger.ErrNoPolicy), errors.Is(err, ledger.ErrStale):
		return &Error{Code: CodePolicyChanged, Message: err.Error(), Hint: "open the curator again", cause: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{
			Code:    CodeCancelled,
			Message: "the question was given up before its price was charged",
			Hint:    againFree,
			Retry:   true,
			cause:   err,
		}
	case recordsAreBroken(err):
		return &Error{Code: CodeLedger, Message: err.Error(), cause: err}
	}
	return nil
}

// afresh is err of a question that was asked afresh, or not. Asked again, unchanged, such a question is paid again, and so is
// whatever the caller asked before it: Retry is not said.
func afresh(fresh bool, err error) error {
	var e *Error
	if !fresh || !errors.As(err, &e) || !e.Retry {
		return err
	}
	once := *e
	once.Retry = false
	return &once
}

const againFree = "what was answered already can be asked again at no cost"

// notReserved is public, and tells what could be paid where the price could not.
func (c *Session) notReserved(err error) *Error {
	e := c.public(err)
	var exhausted *privacy.OverdrawError
	if errors.As(err, &exhausted) {
		if most := c.largest(exhausted.Remaining); most != "0" {
			e.Hint = "ask at --epsilon " + most + " or less; " + againFree
		}
		_, asked := exhausted.Price.ZCDP()
		if _, delta := exhausted.Remaining.ZCDP(); asked.Cmp(delta) > 0 {
			e.Hint = "the delta for unknown groups is used up: group by what is known; " + againFree
			if !delta.IsZero() {
				e.Hint = "ask with --delta " + delta.String() + " or less; " + againFree
			}
		}
	}
	return e
}

// givenUp is the one error of a question that was given up after its reservation, whatever it would have come to.
func givenUp() *Error {
	return &Error{
		Code: CodeCancelled, Charged: true,
		Message: "the question was given up; its price stays spent",
		Hint:    "asking again is charged again",
	}
}

// failed is the one error of a question that fails after its reservation, whatever the reason: it says nothing of it.
func failed() *Error {
	return &Error{
		Code: CodeFailed, Charged: true,
		Message: "the question could not be answered; its price stays spent",
		Hint:    "asking again is charged again",
	}
}

// endings words how an access ended.
func endings(e *release.EndedError) *Error {
	switch e.How {
	case release.Late:
		return &Error{
			Code:    CodeUnavailable,
			Message: "the question came to its turn too late to be answered in time, and was not asked",
			Retry:   true,
			Hint:    "ask again; if it happens often, the owner makes answer_delay.floor larger",
		}
	case release.Slow:
		return &Error{
			Code: CodePolicy,
			Message: fmt.Sprintf(
				"by the policy's answer_delay the answer would leave later than the %s that an answer may take",
				e.Limit,
			),
			Hint: "ask about fewer tables, with fewer and shorter expressions",
		}
	case release.Crowded:
		return &Error{
			Code:    CodeUnavailable,
			Message: "too many questions wait for their rehearsal; nothing was charged",
			Hint:    "ask again later",
			Retry:   true,
		}
	case release.Busy:
		return &Error{
			Code:    CodeUnavailable,
			Message: "the same question is being answered, and takes its time; nothing was charged",
			Retry:   true,
			Hint:    "ask again later: its answer is then given again, free",
		}
	case release.Costly:
		return &Error{
			Code: CodePolicy,
			Message: fmt.Sprintf(
				"over a few made-up rows the question already takes more than %s, or %s",
				e.Limit,
				release.RehearsalMemory,
			),
			Hint: "join fewer tables, or a table less often with itself, or write shorter expressions",
		}
	case release.Unreachable:
		return &Error{
			Code: CodeUnavailable, Message: "the server that holds the table cannot be asked; nothing was charged", Retry: true,
			Hint: "the owner looks whether it runs, and whether the table is as declared",
		}
	case release.Unevaluable:
		return &Error{
			Code: CodePolicy, Message: "the question cannot be evaluated for every possible row",
			Hint: "please report it, with the policy and the question; ask it in another way",
		}
	case release.Unsupported:
		return &Error{Code: CodePolicy, Message: e.Message, Hint: e.Hint}
	case release.Unwritable:
		return homeError(e.Cause)
	case release.GivenUp:
		return givenUp()
	case release.Resealed:
		return &Error{Code: CodeStale, Message: e.Message, Hint: e.Hint}
	case release.Over, release.Misused:
		return &Error{Code: CodeUsage, Message: e.Message, Hint: e.Hint}
	case release.LostBefore:
		return &Error{Code: CodeUnfinished, Message: e.Message, Hint: e.Hint}
	case release.FailedElsewhere:
		return failedElsewhere()
	case release.StepGivenUp:
		return stepGivenUp()
	case release.Failed:
	}
	return failed()
}
