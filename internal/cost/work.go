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
// (meter.all). Public tables are counted as if their rows belonged to the unit. A row of a table through another is one
// row for each of its units: rows counts it so, as expected_rows does. These are at least as many rows as the units
// have in the other table, if each of those rows is referred to, so the meter counts no fewer (meter.owned). ∎
func Work(p *policy.Policy, rows func(table string) int64, looks ...*bounded.Statement) *big.Int {
	together := *p
	together.Tables = make([]*policy.Table, len(p.Tables))
	for i, t := range p.Tables {
		one := *t
		if one.Public || one.Unit.Column == "" { // so that StoredRows counts; every other unit keeps its column's width
			one.Public, one.Unit.Column = false, "of everybody"
		}
		one.StoredRows = max(rows(t.Name), 1)
		together.Tables[i] = &one
	}
	out := big.NewInt(meter{policy: &together, all: true}.of(looks...).Steps)
	return out.Add(out, big.NewInt(Of(p, looks...).Steps))
}
