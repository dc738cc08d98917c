package curator

import (
	"fmt"
	"strings"

	"dither/internal/release"
)

// wouldLose refuses a change that trainings do not survive; nil where there are none.
func wouldLose(change string, trainings []release.UnfinishedTraining, hint string) *Error {
	if len(trainings) == 0 {
		return nil
	}
	var names []string
	for _, u := range trainings {
		names = append(names, u.String())
	}
	return &Error{
		Code:    CodeUnfinished,
		Message: fmt.Sprintf("%s would lose what is paid and unfinished: training %s", change, strings.Join(names, ", ")),
		Hint:    hint,
	}
}

// namesOf are the trainings' names.
func namesOf(trainings []release.UnfinishedTraining) (names []string) {
	for _, u := range trainings {
		names = append(names, fmt.Sprintf("r%d", u.ID()))
	}
	return names
}

// sealing keeps a new version of a table from being published while an unfinished training depends on the newest: no training begins between the check and the publishing.
func (c *Session) sealing(table string, abandon bool, lost *[]release.UnfinishedTraining) func(func() error) error {
	return func(publish func() error) error {
		turn, err := c.kernel.Turn()
		if err != nil {
			return err
		}
		defer func() { _ = turn.Close() }() // which gives the lock back
		if *lost, err = c.kernel.PinnedOn(table); err != nil {
			return err
		}
		if !abandon {
			if err := wouldLose(
				"a new version of table "+table,
				*lost,
				"finish it first; `dither seal --abandon "+table+"` gives it up: its price stays spent",
			); err != nil {
				return err
			}
		}
		return publish()
	}
}
