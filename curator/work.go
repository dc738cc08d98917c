package curator

import (
	"math/big"
	"slices"

	"dither/internal/cost"
	"dither/internal/release"
	"dither/internal/seal"
)

// Work bounds the engine's work for the rows of one unit. It is a function of the question and the policy.
type Work struct {
	Steps int64 // the number of steps. A step takes at most about one nanosecond of one core
	Limit int64 // the policy's limit on Steps: a question beyond it is refused
	// the largest number of rows that one unit's rows can become at any point of the statement, before contribution
	// bounding
	Rows int64
	// Steps relies on a number of rows per unit that nothing enforces, because a table is read on its server, or
	// its unit is found through another table
	Unbounded bool
}

// work returns the bounds on the engine's work for all statements of an access. It reads no row, and is known
// before anything is charged. Unbounded is set if a statement reads a live table in place, or a table whose unit is
// found through another table. A copy on the server keeps the policy's limit on rows.
func (c *Session) work(l *release.Look) Work {
	p := c.filled()
	of := cost.Of(p, l.Statements()...)
	live := slices.ContainsFunc(l.Tables(), func(v seal.Version) bool { return v.Live && v.Copy == nil })
	return Work{Steps: of.Steps, Limit: p.MostUnitCost(), Rows: of.Rows, Unbounded: of.Unbounded && live || of.Owned}
}

// Work returns the amount that answer_delay.factor multiplies for a question, if each table has the number of rows
// that rows returns. `dither audit timing --calibrate` divides measured times by it. It is free.
func (c *Session) Work(q Question, rows func(table string) int64) (*big.Int, error) {
	a, err := c.ask(q)
	if err != nil {
		return nil, c.public(err)
	}
	return c.kernel.Work(a.look, rows), nil
}
