package ledger

import (
	"fmt"
	"maps"
)

// A cancelled question stays charged, and it makes an engine run for an analyst who no longer waits. So after
// MaxGivenUp cancelled questions an analyst may ask nothing more until the owner records a Resume. After
// MaxAllGivenUp of all analysts together, nobody may ask. The count depends on the analyst's decision and its time
// only, never on a row.
//
// Each analyst counts at most MaxGivenUp times towards MaxAllGivenUp. An analyst may cancel any number of questions
// in progress, and must not be able to stop the others from asking.
//
// A cancelled step of a training counts like a question, although the training continues, because it also makes an
// engine run for nobody. It counts for the analyst who cancelled it, even if another one paid. Questions and steps
// that end because a process is killed do not count.
//
// Only cancellations in lines of version 4 count. Those in older lines do not, so every older ledger stays valid.
const (
	// cancelled by one analyst, since the last Resume; all questions without an analyst share one count
	MaxGivenUp    = 10
	MaxAllGivenUp = 100 // cancelled by all analysts together, of each at most MaxGivenUp
)

// SuspendedError reports that an analyst, or every analyst, may ask nothing until the owner records a Resume. It is
// an ErrSuspended.
type SuspendedError struct {
	Analyst string // the analyst who cancelled MaxGivenUp questions or steps; "" means those without an analyst
	All     bool   // whether all analysts together cancelled MaxAllGivenUp
}

func (e *SuspendedError) Error() string {
	switch {
	case e.All:
		return fmt.Sprintf("%d questions or steps have been cancelled", MaxAllGivenUp)
	case e.Analyst == "":
		return fmt.Sprintf("%d questions or steps that name no analyst have been cancelled", MaxGivenUp)
	}
	return fmt.Sprintf("%d questions or steps of %s have been cancelled", MaxGivenUp, e.Analyst)
}

// Is reports whether target is ErrSuspended.
func (e *SuspendedError) Is(target error) bool { return target == ErrSuspended }

// suspended returns ErrSuspended or a *SuspendedError if an analyst may ask nothing now, because of too many
// failures or too many cancelled questions. givenUp has the cancelled ones by analyst.
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

// Suspended returns ErrSuspended or a *SuspendedError if an analyst may ask nothing until the owner records a
// Resume. Otherwise it returns nil.
func (s State) Suspended(analyst string) error { return suspended(s.Failures, s.GivenUp, analyst) }

// asker returns the analyst of an open reservation.
func (h *history) asker(reservation uint64) string { return h.waiting[reservation].analyst }

// givenUpSoFar returns a copy of givenUpBy, or nil if it is empty.
func (h *history) givenUpSoFar() map[string]int {
	if len(h.givenUpBy) == 0 {
		return nil
	}
	return maps.Clone(h.givenUpBy)
}
