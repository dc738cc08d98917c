package plan

import (
	"math"
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
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

// CostOf is the cost of one unit in all of some looks together. Of an answer, these are all its looks.
func CostOf(p *policy.Policy, looks ...*bounded.Statement) Cost {
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

// AllLooks are the Looks, and those that find bounds before them.
func (p *Plan) AllLooks() []*bounded.Statement {
	out := p.Looks()
	for _, s := range p.Searches {
		out = append(out, &s.Look)
	}
	if p.Rows != nil {
		out = append(out, &p.Rows.Look)
	}
	return out
}

// affordable refuses what could cost more for one unit than the policy's limit. A question that was asked already, and
// whose bound on rows was found, is not refused any more: its rows would have had a part in it.
func (b *builder) affordable() error {
	if b.foundRows > 0 {
		return nil
	}
	return b.unitWithin(b.plan.AllLooks()...)
}

// unitWithin is affordable for some looks.
func (b *builder) unitWithin(looks ...*bounded.Statement) error {
	cost, limit := CostOf(b.policy, looks...), b.policy.MostUnitCost()
	if cost.Steps <= limit {
		return nil
	}
	unit := b.table.Unit.Column
	if unit == "" {
		unit = "row"
	}
	at, hint := b.dear(cost)
	return refuse(at, hint, "the rows of one %s could take %s steps here (%s), more than the limit of %s",
		unit, Thousands(cost.Steps), rowsInWords(cost.Rows), Thousands(limit))
}

func rowsInWords(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return "up to " + Thousands(n) + " rows"
}

// dear says what makes a question dear, and what to write instead.
func (b *builder) dear(cost Cost) (query.Pos, string) {
	stored := int64(1)
	for _, name := range b.plan.Tables() {
		if t := b.policy.Table(name); t != nil {
			stored = max(stored, t.Stored())
		}
	}
	owner := "; the owner can raise limits.unit_cost, or lower stored_rows_per_unit"
	switch {
	case cost.Rows > 2*stored:
		begin := ""
		if name := b.longest(); name != "" {
			begin = "begin FROM with " + query.QuoteName(name) + ", which has the most rows_per_unit, or "
		}
		return b.tree.From.At, begin + "join fewer tables, or aggregate each side by its unit in a subquery first (GROUP BY " + b.unitName() + ")" + owner
	case b.patterns() > 0:
		return query.Pos{}, "write fewer or shorter patterns; a text column with declared values is cheaper to match" + owner
	}
	return query.Pos{}, "compute less in each row, or ask several questions" + owner
}

// longest is the table of which one unit counts with the most rows, if FROM does not begin with it. All stored rows of
// the table that FROM begins with are joined, and of every other table as many as count: so it is best placed first.
func (b *builder) longest() (name string) {
	first, most := int64(0), int64(0)
	b.plan.Source.Walk(func(s *bounded.Source) {
		t := b.policy.Table(s.Table)
		if s.Op != bounded.Scan || t == nil || t.Public {
			return
		}
		if first == 0 {
			first, most = t.Unit.RowsPerUnit, t.Unit.RowsPerUnit
		}
		if t.Unit.RowsPerUnit > most {
			name, most = t.Name, t.Unit.RowsPerUnit
		}
	})
	return name
}

func (b *builder) unitName() string {
	if b.table.Unit.Column == "" {
		return "the unit"
	}
	return query.QuoteName(b.table.Unit.Column)
}

// patterns counts the LIKEs of the question.
func (b *builder) patterns() (n int) {
	count := func(e *bounded.Expr) {
		if e.Op == bounded.OpLike {
			n++
		}
	}
	walk := func(e *bounded.Expr) { e.Walk(count) }
	if b.plan.Where != nil {
		walk(b.plan.Where)
	}
	for _, k := range b.plan.Keys {
		walk(k.Expr)
	}
	for _, m := range b.plan.Measures {
		if m.X != nil {
			walk(m.X)
		}
	}
	if b.plan.Source != nil {
		b.plan.Source.Walk(func(s *bounded.Source) { s.Expressions(walk) })
	}
	return n
}

// Thousands writes a number with commas; the largest there is as "more than 9,000,000,000,000,000,000".
func Thousands(n int64) string {
	if n == math.MaxInt64 {
		return "more than 9,000,000,000,000,000,000"
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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
