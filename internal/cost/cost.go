// Package cost bounds how long an engine works on a question. One bound is for the rows of one unit, because the
// time that they take could reveal what noise hides. The other is for all rows. Both bounds depend on the
// statement, the policy and public numbers, and never on rows.
package cost

import (
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
)

// Cost bounds the work that the rows of one unit can cause in a question. It depends on the statement and the
// policy alone, never on rows.
//
// Caps apply last, so WHERE and every expression run on all stored rows of a unit. Without a further bound, the time of
// a question over the rows of one person, or a time limit that it exceeds, could reveal what noise hides. The bound
// adds up over the places of the statement, which are its operations. For each it takes the number of rows that one
// unit can have there, times the steps of what is computed for each row. Rows are counted before any cap: at most
// policy.Table.Stored in a table, multiplied in joins, and added in unions. Operations that read texts count the
// longest possible text. docs/design/0007-cost.md has the proof. A step is at most about a nanosecond on one core, in
// the slower engine. docs/reference/benchmarks.md compares steps with measured times.
type Cost struct {
	Steps int64 // math.MaxInt64 if the bound is that or more
	Rows  int64 // the largest number of rows of one unit at one place of the statement
	// Unbounded means that some table is read in place on a server, where nothing bounds the number of rows of one
	// unit. Steps is then computed as if the table kept to the policy's bound, as a copy would.
	Unbounded bool
	// Owned means that some table has its unit through a reference. To find a unit's stored rows, the engine reads
	// all rows that refer to the unit's rows, and nothing bounds their number. Each costs a scan, a digest and a
	// place in an order. Steps counts this for the stored rows only.
	Owned bool
}

// Of returns the cost of one unit in several statements together. For an answer, these are all its statements.
func Of(p *policy.Policy, looks ...*bounded.Statement) Cost { return meter{policy: p}.of(looks...) }

func (m meter) of(looks ...*bounded.Statement) Cost {
	p := m.policy
	out := Cost{}
	for _, b := range looks {
		one := m.bounded(b)
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

// sum and multiplied return math.MaxInt64 on overflow, so that no cost is too low. No argument may be negative.
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

// log2 returns ⌈log₂(n + 1)⌉, and at least 1.
func log2(n int64) int64 {
	out := int64(1)
	for n > 1 {
		n, out = n>>1, out+1
	}
	return out
}
