package curator

import (
	"cmp"
	"errors"
	"time"

	"dither/internal/query"
)

// now is the computer's clock. Only tests replace it.
var now = time.Now

// timed replaces the words of a question that mean the current time, such as now(), by one constant: the current time in
// the policy's zone, truncated to its clock_grain. The clock is read once, so all such words of a question mean the same
// instant. Every method that takes a question calls timed before anything else reads the text. So plans, replay keys and
// the ledger have the constant. timed returns where the constants stand, for errors.
func (c *Session) timed(sql *string) query.Moved {
	var at *int64
	text, places, found := query.AtInstant(*sql, func() int64 {
		if at == nil {
			local := c.policy.Clock.Now(now())
			at = &local
		}
		return *at
	})
	if found {
		*sql = text
	}
	return places
}

// momentNotes returns a note on what a question's words for the current time mean, if they mean a time of day. A reader
// of now() expects the present second.
func (c *Session) momentNotes(places query.Moved) []string {
	if places.Moment == "" {
		return nil
	}
	grain := cmp.Or(c.policy.Clock.Grain, "day")
	article := "a "
	if grain == "hour" {
		article = "an "
	}
	return []string{
		"The current time counts as " + places.Moment + ": the policy truncates it to " + article + grain + ".",
	}
}

// atItsPlace moves the position of an error about a question with constants of the current time to its place in the text
// that the analyst wrote.
func atItsPlace(err error, places query.Moved) error {
	var known *Error
	if !errors.As(err, &known) || known.Line == 0 {
		return err
	}
	at := places.Before(query.Pos{Line: known.Line, Column: known.Column})
	known.Line, known.Column = at.Line, at.Column
	return err
}
