package ledger

import (
	"fmt"
	"maps"
)

// Questions that are given up are charged, and yet each lets an engine run for a while for one that nobody waits for.
// So whoever gives up too many may ask nothing more until the owner has looked into it, and when all together have
// given up too many, nobody may. What is counted is decided by who gives up, and by when, never by a row.
//
// Of one analyst at most MaxGivenUp count towards MaxAllGivenUp: any number of questions may be in progress when their
// analyst gives them up, and nobody shall keep the others from asking.
//
// A step of a training that is given up counts as a question does, though the training goes on: each lets an engine run
// for nobody. It counts for whoever gave it up, be it paid by somebody else. What a killed process leaves counts
// nothing, be it a question or a step.
//
// A line of version 4 counts; older ones, of which there may be any number, do not. So no ledger becomes one that could
// not have been written.
const (
	MaxGivenUp    = 10  // of one analyst, since the owner last looked into them; those who name nobody are one analyst
	MaxAllGivenUp = 100 // of all analysts, of each at most MaxGivenUp
)

// SuspendedError reports who may ask nothing until the owner has looked into it. It is an ErrSuspended.
type SuspendedError struct {
	Analyst string // who has given up MaxGivenUp questions or steps; "" for those who name nobody
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

// Is finds it as an ErrSuspended.
func (e *SuspendedError) Is(target error) bool { return target == ErrSuspended }

// suspended refuses an analyst after too many failures, or too many questions that were given up.
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

// Suspended refuses an analyst whose questions are not admitted until the owner has looked into it: ErrSuspended.
func (s State) Suspended(analyst string) error { return suspended(s.Failures, s.GivenUp, analyst) }

// asker is who asked what waits for its answer.
func (h *history) asker(reservation uint64) string { return h.waiting[reservation].analyst }

// givenUpSoFar copies the counts; nil where there is none.
func (h *history) givenUpSoFar() map[string]int {
	if len(h.givenUpBy) == 0 {
		return nil
	}
	return maps.Clone(h.givenUpBy)
}
