package plan

import (
	"math"
	"strconv"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/cost"
	"dither/internal/query"
)

// AllLooks returns the statements of all accesses to rows: those of [Plan.Looks], and those of the searches for
// bounds that come before them.
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

// unitWithin refuses a question if its statements, the looks, could take an engine more steps for one unit than the
// policy's limit. The statement main is the question's own, which the refusal's hint describes.
func (k *keyed) unitWithin(main *bounded.Statement, looks ...*bounded.Statement) error {
	work, limit := cost.Of(k.policy, looks...), k.policy.MostUnitCost()
	if work.Steps <= limit {
		return nil
	}
	unit := k.table().Unit.Column
	if unit == "" {
		unit = "row"
	}
	at, hint := k.dear(main, work)
	return bind.Refuse(at, hint, "the rows of one %s could take %s steps here (%s), more than the limit of %s",
		unit, Thousands(work.Steps), rowsInWords(work.Rows), Thousands(limit))
}

func rowsInWords(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return "up to " + Thousands(n) + " rows"
}

// dear returns the position of the most expensive piece of a question's text, and a hint on what to write instead.
func (k *keyed) dear(look *bounded.Statement, work cost.Cost) (query.Pos, string) {
	stored := int64(1)
	for _, name := range look.Tables() {
		if t := k.policy.Table(name); t != nil {
			stored = max(stored, t.Stored())
		}
	}
	owner := "; the owner can raise limits.unit_cost, or lower stored_rows_per_unit"
	switch {
	case work.Rows > 2*stored:
		begin := ""
		if name := k.longest(); name != "" {
			begin = "begin FROM with " + query.QuoteName(name) + ", which has the most rows_per_unit, or "
		}
		return k.tree.From.At, begin + "join fewer tables, or aggregate each side by its unit in a subquery first (GROUP BY " + k.unitName() + ")" + owner
	case patterns(look) > 0:
		return query.Pos{}, "write fewer or shorter patterns; a text column with declared values is cheaper to match" + owner
	}
	return query.Pos{}, "compute less in each row, or ask several questions" + owner
}

// longest returns the private table with the most counting rows of one unit, or "" if FROM begins with it. That
// table is best placed first: all stored rows of the first table are joined, and of any other table only the rows
// that count.
func (k *keyed) longest() (name string) {
	first, most := int64(0), int64(0)
	k.source().Walk(func(s *bounded.Source) {
		t := k.policy.Table(s.Table)
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

func (k *keyed) unitName() string {
	if k.table().Unit.Column == "" {
		return "the unit"
	}
	return query.QuoteName(k.table().Unit.Column)
}

// patterns returns the number of LIKE operators in the question.
func patterns(b *bounded.Statement) (n int) {
	count := func(e *bounded.Expr) {
		if e.Op == bounded.OpLike {
			n++
		}
	}
	walk := func(e *bounded.Expr) { e.Walk(count) }
	if b.Where != nil {
		walk(b.Where)
	}
	for _, k := range b.Keys {
		walk(k.Expr)
	}
	for _, m := range b.Measures {
		if m.X != nil {
			walk(m.X)
		}
	}
	if b.Source != nil {
		b.Source.Walk(func(s *bounded.Source) { s.Expressions(walk) })
	}
	return n
}

// Thousands writes a number with commas. It writes the largest int64 as "more than 9,000,000,000,000,000,000".
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
