package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/query"
	"dither/internal/release"
	"dither/internal/seal"
	"dither/privacy"
)

// Code is the kind of an error. New codes may be added.
type Code string

// The codes of errors.
const (
	CodeUsage     Code = "usage"      // an argument is invalid, such as an ε or a confidence
	CodeSQL       Code = "sql"        // the text is not SQL, or not in dither's dialect
	CodePolicy    Code = "policy"     // the policy does not allow the question
	CodeAnalyst   Code = "analyst"    // the policy lists its analysts, and this name is not among them
	CodeExhausted Code = "exhausted"  // the price is more than what remains of the budget
	CodeNotSealed Code = "not_sealed" // the table has no sealed version for its declaration
	// the sealed version does not fit the policy or the ledger: the owner must seal again
	CodeStale Code = "stale"
	// a source could not be sealed. The message has exact facts, for the owner only
	CodeSource        Code = "source"
	CodePolicyChanged Code = "policy_changed" // the policy file changed in a way that the owner must accept first
	CodeLedger        Code = "ledger"         // the ledger cannot be read or written
	CodeHome          Code = "home"           // the home or its policy cannot be used
	// a change would lose a paid, unfinished training, or has lost one that would now be charged again
	CodeUnfinished Code = "unfinished"
	CodeFailed     Code = "failed"   // the question failed after its price was reserved
	CodeInternal   Code = "internal" // an error whose details are for the owner only
	// too many questions failed or were cancelled: new ones are refused until the owner resumes
	CodeSuspended Code = "suspended"
	CodeCancelled Code = "cancelled" // the caller cancelled. Nothing was reserved unless Charged is set
	// the server that holds the table cannot be reached, or another caller's same question takes too long. Nothing
	// was reserved
	CodeUnavailable Code = "unavailable"
)

// ErrPriceLimits is wrapped by the *Error of a request whose price is below the policy's minimum, or above its maximum,
// for one question.
var ErrPriceLimits = errors.New("the policy does not allow this price for one question")

// ErrOtherStep is wrapped by the *Error of a step of rounds or of a training that was recorded before with other
// parameters, by a request that is otherwise the same.
var ErrOtherStep = errors.New("the step was recorded with other parameters")

// Error is the only error type that the kernel's users see. An analyst may read all of it: it depends on the
// question, the policy and the ledger, never on rows. The exception is CodeSource, which only [Owner.Seal] and
// [Owner.AcceptPolicy] return, to the owner.
type Error struct {
	Code         Code
	Message      string
	Hint         string // what to do about it; may be empty
	Line, Column int    // the position in the question's text; 0 if the error has no single position
	Table        string // the table, for errors about one table's sealed version
	Retry        bool   // the same request may succeed later, and would not be charged a second time
	Charged      bool   // the price was reserved, and stays spent

	cause error // the underlying error, for the owner; never an engine's error
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

// TooLow returns how many times as high a price must be that is below the policy's minimum, rounded up to three digits, and
// whether that is meant in ρ. It returns nil for any other error.
func (e *Error) TooLow() (times *big.Rat, inRho bool) {
	var refusal *plan.Error
	if !errors.As(e.cause, &refusal) || refusal.Times == nil {
		return nil, false
	}
	return new(big.Rat).Set(refusal.Times), refusal.InRho
}

// Unwrap returns the underlying error. It is nil for an engine's error, whose text may quote rows.
func (e *Error) Unwrap() error { return e.cause }

// public turns an error into one that an analyst may see. A known error depends on the question, the policy, the
// ledger and the records of sealed versions, and on no row. Every unknown error becomes one uniform error, and only
// the owner receives its text.
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
	case errors.As(err, &step) && step.How == release.StepGivenUp: // the step can be repeated
		e.Retry = true
	// another process holds the training; it can continue once that process closes it
	case errors.Is(err, release.ErrBusy):
		e.Code, e.Retry = CodeHome, true
	}
	if errors.Is(err, ledger.ErrNotWritten) { // the reservation was written, but the answer's entry was not
		e.Message = "the ledger could not be written: the answer was neither recorded nor returned; its price stays spent"
		e.Hint = "ask the owner to check whether the home's disk is full; asking again is charged again"
	}
	return &e
}

// toOwner turns an error of an owner's operation into an *Error. It keeps the text of an unknown error, because no
// analyst sees it.
func toOwner(err error) *Error {
	if e := worded(err); e != nil {
		return e
	}
	return &Error{Code: CodeLedger, Message: err.Error(), cause: err}
}

// untold returns the uniform error that replaces every unknown error.
func untold() *Error {
	return &Error{
		Code: CodeInternal, Message: "the question could not be answered, for a reason that only the owner may see",
		Hint: "ask the owner of the home",
	}
}

// namedByLedger lists the errors of package ledger whose own text is shown. [worded] has other texts for the rest.
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

// recordsAreBroken reports whether an error is about the records themselves: the ledger's, or those of a training's
// journal.
func recordsAreBroken(err error) bool {
	if errors.As(err, new(*ledger.CorruptError)) || errors.As(err, new(*ledger.RolledBackError)) {
		return true
	}
	is := func(known error) bool { return errors.Is(err, known) }
	return slices.ContainsFunc(namedByLedger, is) || is(release.ErrUnreadable) || is(release.ErrJournal) ||
		is(release.ErrBusy) || is(release.ErrStream) || is(release.ErrFactor)
}

// worded turns an error of the policy, the plan, the ledger or the sealed versions into an *Error. It returns nil
// for any other error.
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
		return nil // public handles these
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
	// A defect that was found before the reservation. After the reservation, only the owner sees this error.
	case errors.Is(err, release.ErrUnplanned):
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
		if refusal.Price {
			err = fmt.Errorf("%w: %w", ErrPriceLimits, err)
		}
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
			Hint:    "ask the owner to restore the home's file from a backup, or to run `dither seal`",
			Table:   damaged.Table,
			cause:   err,
		}
	case errors.As(err, &stale), errors.Is(err, release.ErrNotRecorded), errors.Is(err, ledger.ErrNotSealed):
		return &Error{Code: CodeStale, Message: err.Error(), Hint: "ask the owner to run `dither seal`", cause: err}
	case errors.Is(err, ledger.ErrSuspended):
		return &Error{
			Code: CodeSuspended, Message: err.Error() + ": new questions are refused until the owner allows them " +
				"again", cause: err,
			Hint: "ask the owner to run `dither ledger resume`; questions that were answered before can be asked again, free",
		}
	case errors.Is(err, ledger.ErrFull):
		return &Error{
			Code:    CodeLedger,
			Retry:   true,
			Message: "the ledger could not be written because its disk is full: nothing was recorded or charged",
			Hint:    "ask the owner to free space on the home's disk; then ask again",
			cause:   err,
		}
	case errors.Is(err, ledger.ErrNotWritten):
		return &Error{
			Code: CodeLedger, Retry: true, Message: "the ledger could not be written: nothing was recorded or charged",
			Hint: "ask the owner to check the home's disk; then ask again", cause: err,
		}
	case errors.Is(err, ledger.ErrReadOnly):
		return &Error{
			Code:    CodeHome,
			Message: err.Error() + ": only answers that were released before are returned",
			Hint:    "ask in a process that can write to the home",
			cause:   err,
		}
	case errors.Is(err, ledger.ErrAmbiguous):
		return &Error{
			Code:    CodeLedger,
			Charged: true,
			Message: err.Error(),
			Hint:    "open the curator again; the price may have been charged",
			cause:   err,
		}
	case errors.Is(err, seal.ErrNotSealed):
		return &Error{
			Code:    CodeNotSealed,
			Message: err.Error(),
			Hint:    "the owner runs `dither seal`, which reads the sources into versions that questions can read",
			cause:   err,
		}
	case errors.Is(err, ledger.ErrPolicyChanged), errors.Is(err, ledger.ErrNoPolicy), errors.Is(err, ledger.ErrStale):
		return &Error{Code: CodePolicyChanged, Message: err.Error(), Hint: "open the curator again", cause: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{
			Code:    CodeCancelled,
			Message: "the question was cancelled before its price was charged",
			Hint:    againFree,
			Retry:   true,
			cause:   err,
		}
	case recordsAreBroken(err):
		return &Error{Code: CodeLedger, Message: err.Error(), cause: err}
	}
	return nil
}

// afresh clears Retry in the error of a question that was asked with Fresh. Such a question pays again each time,
// and so does anything that the caller asked before it.
func afresh(fresh bool, err error) error {
	var e *Error
	if !fresh || !errors.As(err, &e) || !e.Retry {
		return err
	}
	once := *e
	once.Retry = false
	return &once
}

const againFree = "questions that were answered before can be asked again, free"

// notReserved is public for an error before the reservation. If the price exceeds what remains, the hint names a
// price that would fit.
func (c *Session) notReserved(err error) *Error {
	e := c.public(err)
	var exhausted *privacy.OverdrawError
	if errors.As(err, &exhausted) {
		e.Message = c.overdrawn(err, exhausted)
		if most := c.largest(exhausted.Remaining); most != "0" {
			e.Hint = "ask with --epsilon " + most + " or less; " + againFree
		}
		_, asked := exhausted.Price.ZCDP()
		if _, delta := exhausted.Remaining.ZCDP(); asked.Cmp(delta) > 0 {
			e.Hint = "group by known keys, because the delta for unknown keys is spent; " + againFree
			if !delta.IsZero() {
				e.Hint = "ask with --delta " + delta.String() + " or less; " + againFree
			}
		}
	}
	return e
}

// overdrawn words the refusal of a price as a question names it, with few digits.
func (c *Session) overdrawn(err error, e *privacy.OverdrawError) string {
	of, next := "the budget", ""
	var limited *ledger.LimitError
	if errors.As(err, &limited) {
		of = limited.Of
		if !limited.Next.IsZero() {
			next = "; the next grant is on " + limited.Next.Format(time.DateOnly)
		}
	}
	return fmt.Sprintf("%s is exhausted: the price is %s, but only %s of %s remains%s",
		of, c.policy.Budget.Asked(e.Price, true), e.Remaining.Short(false), e.Budget.Short(false), next)
}

// givenUp returns the uniform error for a question that was cancelled after its reservation, whatever its outcome
// would have been.
func givenUp() *Error {
	return &Error{
		Code: CodeCancelled, Charged: true,
		Message: "the question was cancelled; its price stays spent",
		Hint:    "asking again is charged again",
	}
}

// failed returns the uniform error for a question that fails after its reservation. It does not depend on the
// reason.
func failed() *Error {
	return &Error{
		Code: CodeFailed, Charged: true,
		Message: "the question could not be answered; its price stays spent",
		Hint:    "asking again is charged again",
	}
}

// endings returns the *Error for the way in which an access ended.
func endings(e *release.EndedError) *Error {
	switch e.How {
	case release.Late:
		return &Error{
			Code:    CodeUnavailable,
			Message: "the question waited too long for its turn to be answered in time, and did not run",
			Retry:   true,
			Hint:    "ask again; if this happens often, ask the owner to raise answer_delay.floor",
		}
	case release.Slow:
		return &Error{
			Code: CodePolicy,
			Message: fmt.Sprintf(
				"under the policy's answer_delay, the answer would leave after more than %s, the most time that an answer may take",
				e.Limit,
			),
			Hint: "ask about fewer tables, with fewer and shorter expressions",
		}
	case release.Crowded:
		return &Error{
			Code:    CodeUnavailable,
			Message: "too many questions are waiting for their rehearsal; nothing was charged",
			Hint:    "ask again later",
			Retry:   true,
		}
	case release.Busy:
		return &Error{
			Code:    CodeUnavailable,
			Message: "another request for the same question is still running; nothing was charged",
			Retry:   true,
			Hint:    "ask again later: its answer is then returned, free",
		}
	case release.Costly:
		return &Error{
			Code: CodePolicy,
			Message: fmt.Sprintf(
				"on a few made-up rows, the question already takes more than %s, or %s",
				e.Limit,
				release.RehearsalMemory,
			),
			Hint: "join fewer tables, or a table less often with itself, or write shorter expressions",
		}
	case release.Unreachable:
		return &Error{
			Code: CodeUnavailable, Message: "the server that holds the table cannot be queried; nothing was " +
				"charged", Retry: true,
			Hint: "ask the owner to check that the server runs, and that the table matches its declaration; " +
				"DITHER_OWNER_ERRORS=1 shows the owner the reason",
		}
	case release.Unevaluable:
		return &Error{
			Code: CodePolicy, Message: "the question cannot be evaluated for every possible row",
			Hint: "write the question in another way; please report this error with the policy and the question",
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
	case release.OtherStep:
		return &Error{Code: CodeUsage, Message: e.Message, Hint: e.Hint, cause: ErrOtherStep}
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
