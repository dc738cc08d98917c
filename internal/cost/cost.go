// Package cost bounds how long an engine works on a question: for the rows of one unit, which could tell by its time
// what noise hides, and for all rows. Both bounds follow from the statement, the policy and public numbers, never from
// rows.
package cost

import (
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
)

// Cost bounds the work that the rows of one unit can make of a question. It follows from the statement and the policy
// alone, never from rows.
//
// WHERE and every expression run on all rows of a unit, since caps are last. So one unit's share of the running time is
// what nothing else bounds: a question over the rows of one person could tell by its time, or by running out of it,
// what noise hides. The bound is: at each place of the statement, the rows that one unit can become there before any
// cap (at most policy.Table.Stored of a table, joins multiply, unions add) times the steps of what is computed of each,
// times the longest text for what reads texts. A step is about a nanosecond of one core of either engine, at worst;
// docs/reference/benchmarks.md holds the steps against measured times. ∎
type Cost struct {
	Steps int64 // math.MaxInt64 where it is that or more
	Rows  int64 // the most rows that one unit becomes at one place
	// Unbounded: some table is read where it is, on a server, and nothing bounds how many rows of one unit it has.
	// Steps then are as if it kept to the policy, as a copy would.
	Unbounded bool
	// Owned: some table has its unit through a reference. Which of a unit's rows are stored is found among all that it has
	// there, and nothing bounds these: each costs a scan, a digest and a place in an order, which Steps has for those that are stored.
	Owned bool
}

// Of is the cost of one unit in several statements together. For an answer, these are all its statements.
func Of(p *policy.Policy, looks ...*bounded.Statement) Cost {
	out := Cost{}
	for _, b := range looks {
		one := meter{policy: p}.bounded(b)
		out.Steps, out.Rows = sum(out.Steps, one.Steps), max(out.Rows, one.Rows)
		out.Unbounded = out.Unbounded || slices.ContainsFunc(b.Tables(), func(name string) bool {
			t := p.Table(name)
			return t != nil && !t.Public && t.Source.Live()
		})
		if b.Source != nil {
			b.Source.Walk(func(s *bounded.Source) { out.Owned = out.Owned || s.Op == bounded.Owned })
		}
	}
	return out
}

// sum and multiplied saturate, so that no cost is ever told too low. No argument is negative.
func sum(all ...int64) (out int64) {
	for _, n := range all {
		if out > math.MaxInt64-n {
			return math.MaxInt64
		}
		out += n
	}
	return out
}

func multiplied(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// log2 is ⌈log₂(n + 1)⌉, at least 1.
func log2(n int64) int64 {
	out := int64(1)
	for n > 1 {
		n, out = n>>1, out+1
	}
	return out
}
