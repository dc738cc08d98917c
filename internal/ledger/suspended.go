package ledger

import (
	"fmt"
	"maps"
)

// A question that is given up is charged, and yet it lets an engine run for somebody who no longer waits. So an analyst
// who gives up too many may ask nothing more until the owner has looked into it. When all analysts together have given
// up too many, nobody may ask. Only the analyst's decision and its moment count, never a row.
//
// At most MaxGivenUp of one analyst count towards MaxAllGivenUp: an analyst may give up any number of questions in
// progress, and must not stop the others from asking.
//
// A given-up step of a training counts as a question does, though the training goes on, because each lets an engine run
// for nobody. It counts for the analyst who gave it up, even if another one paid. Questions and steps that a killed
// process leaves do not count.
//
// Lines of version 4 count. Older ones, of which there may be any number, do not. So every old ledger stays valid.
const (
	// of one analyst, since the owner last looked into them; questions that name no analyst share one count
	MaxGivenUp    = 10
	MaxAllGivenUp = 100 // of all analysts, at most MaxGivenUp of each
)

// SuspendedError names the analysts who may ask nothing until the owner has looked into it. It is an ErrSuspended.
type SuspendedError struct {
	Analyst string // the analyst who gave up MaxGivenUp questions or steps; "" for questions that name none
	All     bool   // all together have given up MaxAllGivenUp
}

func (e *SuspendedError) Error() string {
	switch {
	case e.All:
		return fmt.Sprintf("%d questions or steps have been given up", MaxAllGivenUp)
	case e.Analyst == "":
		return fmt.Sprintf("%d questions or steps that name no analyst have been given up", MaxGivenUp)
	}
	return fmt.Sprintf("%d questions or steps of %s have been given up", MaxGivenUp, e.Analyst)
}

// Is reports that it is an ErrSuspended.
func (e *SuspendedError) Is(target error) bool { return target == ErrSuspended }

// suspended refuses an analyst after too many failures, or after too many given-up questions.
func suspended(failures int, givenUp map[string]int, analyst string) error {
	all := 0
	for _, n := range givenUp {
		all += min(n, MaxGivenUp)
	}
	switch {
	case failures >= MaxFailures:
		return ErrSuspended
	case all >= MaxAllGivenUp:
		return &SuspendedError{All: true}
	case givenUp[analyst] >= MaxGivenUp:
		return &SuspendedError{Analyst: analyst}
	}
	return nil
}

// Suspended returns ErrSuspended for an analyst who may ask nothing until the owner has looked into it.
func (s State) Suspended(analyst string) error { return suspended(s.Failures, s.GivenUp, analyst) }

// asker is the analyst of a waiting reservation.
func (h *history) asker(reservation uint64) string { return h.waiting[reservation].analyst }

// givenUpSoFar copies the counts; nil if there are none.
func (h *history) givenUpSoFar() map[string]int {
	if len(h.givenUpBy) == 0 {
		return nil
	}
	return maps.Clone(h.givenUpBy)
}
