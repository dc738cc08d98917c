package curator

import (
	"math/big"
	"slices"

	"dither/internal/cost"
	"dither/internal/release"
	"dither/internal/seal"
)

// Work bounds what the rows of one unit can make a question take: a function of the question and the policy alone.
type Work struct {
	Steps int64 // of which each is about a nanosecond of one core, at worst
	Limit int64 // the policy's: a question beyond it is refused
	Rows  int64 // the most rows that one unit can become at one place, before caps
	// nothing bounds how many rows one unit has in some table, which is read on its server or belongs to units
	// through another; Steps is as if the policy did
	Unbounded bool
}

// work is what the rows of one unit can make a look take, with all that the same answer looks at. Unbounded holds just
// where some table is read on its server (a copy keeps to the policy), or has its unit through another. It is known before anything is charged, and reads
// no row.
func (c *Session) work(l *release.Look) Work {
	p := c.filled()
	of := cost.Of(p, l.Statements()...)
	live := slices.ContainsFunc(l.Tables(), func(v seal.Version) bool { return v.Live && v.Copy == nil })
	return Work{Steps: of.Steps, Limit: p.MostUnitCost(), Rows: of.Rows, Unbounded: of.Unbounded && live || of.Owned}
}

// Work is the cost of a question that answer_delay.factor multiplies, where every table has as many rows as rows says:
// `dither audit timing --calibrate` divides times by it. It is free.
func (c *Session) Work(q Question, rows func(table string) int64) (*big.Int, error) {
	a, err := c.ask(q)
	if err != nil {
		return nil, c.public(err)
	}
	return c.kernel.Work(a.look, rows), nil
}
