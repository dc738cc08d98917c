package curator

import (
	"fmt"
	"strings"

	"dither/internal/release"
)

// wouldLose returns an error if a change would end unfinished trainings, and nil if there are none.
func wouldLose(change string, trainings []release.UnfinishedTraining, hint string) *Error {
	if len(trainings) == 0 {
		return nil
	}
	var names []string
	for _, u := range trainings {
		names = append(names, u.String())
	}
	return &Error{
		Code: CodeUnfinished,
		Message: fmt.Sprintf(
			"%s would end trainings that are paid for but unfinished: %s", change, strings.Join(names, ", "),
		),
		Hint: hint,
	}
}

// namesOf returns the names of trainings, such as "r7".
func namesOf(trainings []release.UnfinishedTraining) (names []string) {
	for _, u := range trainings {
		names = append(names, fmt.Sprintf("r%d", u.ID()))
	}
	return names
}

// sealing returns a guard that publishes a new version of a table under the kernel's lock. It refuses if an unfinished
// training depends on the newest version, unless abandon is set. It stores these trainings in *lost. The lock ensures
// that no training begins between the check and the publication.
func (c *Session) sealing(table string, abandon bool, lost *[]release.UnfinishedTraining) func(func() error) error {
	return func(publish func() error) error {
		turn, err := c.kernel.Turn()
		if err != nil {
			return err
		}
		defer func() { _ = turn.Close() }() // releases the lock
		if *lost, err = c.kernel.PinnedOn(table); err != nil {
			return err
		}
		if !abandon {
			if err := wouldLose(
				"a new version of table "+table,
				*lost,
				"finish the training first, or abandon it with `dither seal --abandon "+table+"`; its price stays spent",
			); err != nil {
				return err
			}
		}
		return publish()
	}
}
