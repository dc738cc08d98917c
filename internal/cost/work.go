package cost

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/policy"
)

// Work bounds what an engine does for some looks, in the steps of Cost: with all rows of the tables, and once more with
// the rows of one unit, of which there may be more than anybody expects. rows gives about how many rows a table has.
//
// It is a function of the statement, the policy and public numbers alone, so the moment at which an answer leaves may
// rest on it. All rows of a table cost as much as one unit would that had them all, since the meter counts at each
// place the rows that there can be: a join's at most Most for each row of its first input, whatever units they are of.
// Public tables count here, as everybody's rows do. ∎
func Work(p *policy.Policy, rows func(table string) int64, looks ...*bounded.Statement) *big.Int {
	together := *p
	together.Tables = make([]*policy.Table, len(p.Tables))
	for i, t := range p.Tables {
		one := *t
		one.Public, one.Unit.Column, one.StoredRows = false, "of everybody", max(rows(t.Name), 1)
		together.Tables[i] = &one
	}
	out := big.NewInt(Of(&together, looks...).Steps)
	return out.Add(out, big.NewInt(Of(p, looks...).Steps))
}
