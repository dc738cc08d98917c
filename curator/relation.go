package curator

import (
	"fmt"
	"strings"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// relationNotes describe what a relation leaves out apart from contribution bounding. A relation joins several
// tables, or aggregates one.
func relationNotes(p *plan.Plan) []string {
	notes := []string{
		"The question reads a relation of " + strings.Join(
			p.Tables(),
			", ",
		) + ". The bound on one unit's rows follows from the bounds of these tables, and is applied last.",
	}
	p.Source.Walk(func(s *bounded.Source) {
		switch {
		case s.Op == bounded.Join && s.Inputs[1].Units && !s.Inputs[1].Single && len(s.Within) == 0:
			notes = append(
				notes,
				fmt.Sprintf(
					"One unit joins with at most %s of %s, among those that pass the subquery's own WHERE. Outer "+
						"conditions apply later.",
					plural(s.Most, "row"),
					tablesOf(s.Inputs[1]),
				),
			)
		case s.Op == bounded.Owned:
			notes = append(
				notes,
				fmt.Sprintf("Rows of %s that refer to no row of %s are left out.", tablesOf(s.Inputs[0]), tablesOf(s.Inputs[1])),
			)
		case s.Op == bounded.PerUnit:
			notes = append(notes, "Counts and sums over one unit's own rows are clamped to what rows_per_unit rows "+
				"can add up to.")
		}
	})
	return notes
}

func tablesOf(s *bounded.Source) string {
	return strings.Join((&bounded.Statement{Source: s}).Tables(), ", ")
}

// expectedRows returns the number of rows that the owner declared for a plan's table, or 0 if the plan is about a
// relation.
func (c *Session) expectedRows(p *plan.Plan) int64 {
	if p.Source != nil {
		return 0
	}
	return c.policy.Table(p.Table).ExpectedRows
}
