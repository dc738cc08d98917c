package cost

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/policy"
)

// Work bounds the total work of an engine for some statements, in the steps of [Cost]. The bound is the work for
// all rows of the tables plus the work for the rows of one more unit. rows returns the approximate number of rows
// of a table.
//
// The bound depends on the statements, the policy and public numbers alone, so the release instant may depend on
// it. Claim: all rows of a table cost at most as much as a single unit that has all of them. Proof. At each place
// of a statement, the meter counts the rows that can exist there. In a join, these are at most Most for each row of
// the first input, whatever their units. Rows that are grouped by the unit are counted as if each had a unit of its own
// (meter.all). Public tables are counted as if their rows belonged to the unit. ∎
func Work(p *policy.Policy, rows func(table string) int64, looks ...*bounded.Statement) *big.Int {
	together := *p
	together.Tables = make([]*policy.Table, len(p.Tables))
	for i, t := range p.Tables {
		one := *t
		one.Public, one.Unit.Column, one.StoredRows = false, "of everybody", max(rows(t.Name), 1)
		together.Tables[i] = &one
	}
	out := big.NewInt(meter{policy: &together, all: true}.of(looks...).Steps)
	return out.Add(out, big.NewInt(Of(p, looks...).Steps))
}
