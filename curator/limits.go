package curator

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// Limits describes what bounds an answer: how much of one unit counts, and the bounds to which values are clamped.
// The answer and its intervals are about the data within the limits. Limits follow from the policy and the question
// alone, never from rows.
type Limits struct {
	Text string // all limits in words
	Unit string // the column that identifies a unit; "" where each row is one
	// the number of rows that count for one unit; 0 if the bound is on groups
	MaxRows int64
	// the number of groups in which one unit counts; 0 without such a bound
	MaxGroups int64
	// one unit adds to one group at most as much as this many rows can; 0 if the bound is on rows
	MaxRowsPerGroup int64
	// the number of rows of one unit that a table's sealed version keeps, at least; 0 where each row is a unit. MaxRows
	// counts among these rows
	StoredRows   int64
	PartsPerUnit int64 // the number of the table's parts in which one unit counts; 0 without parts
	Joins        []JoinLimit
	Clamps       []Clamp
}

// JoinLimit is a bound on the rows that a join uses.
type JoinLimit struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"` // the largest number of rows of Table that join with one row, or with one unit
}

// Clamp is a pair of bounds. A value beyond a bound counts as that bound.
type Clamp struct {
	Table string // the table of a declared column; "" for a column of the answer
	// a declared column, or a column of the answer whose argument the question bounds
	Column       string
	Lower, Upper string
	// the bounds are on the total that one unit adds to one group, and not on the value of a row
	PerGroup bool

	found bool       // a search found the bounds
	typed value.Type // the type of the bounds
}

// limits returns what bounds the answer to a question.
func (c *Session) limits(p *plan.Plan) *Limits {
	if len(p.Measures)+len(p.Quantiles)+len(p.Modes) == 0 && p.Selection == nil {
		return &Limits{Text: "none, every number is a constant"}
	}
	caps, others := p.Caps, []string{}
	for _, o := range []struct {
		name string
		n    int
		caps bounded.Caps
	}{{"quantiles", len(p.Quantiles), p.OrderCaps}, {"modes", len(p.Modes), p.RowCaps}} {
		switch {
		case o.n == 0:
		case len(p.Measures) == 0 && len(others) == 0:
			caps = o.caps
			others = append(others, "")
		case o.caps.Rows != caps.Rows || o.caps.MostRows() != caps.MostRows():
			others = append(others, "for "+o.name+", "+capsText(&p.Statement, o.caps, 0))
		}
	}
	b := limiting{Limits: &Limits{}, policy: c.policy}
	groups := int64(0)
	if caps.Rows > 0 && len(p.Keys) > 0 {
		groups = p.Caps.Groups
	}
	b.caps(&p.Statement, caps, groups)
	for _, text := range others {
		b.say(text)
	}
	b.rows(&p.Statement)
	for _, q := range p.Quantiles {
		b.reads(p.Columns, q.Value.X)
	}
	for _, m := range p.Modes {
		b.reads(p.Columns, m.Of.Expr)
	}
	for _, o := range p.Outputs {
		b.output(p, o)
	}
	return b.finish()
}

// capped reports whether bounds on one unit, identified by a column, can leave out some of its rows.
func capped(p *plan.Plan) bool {
	cuts := func(n int, caps bounded.Caps) bool { return n > 0 && capsText(&p.Statement, caps, 0) != "" }
	return p.Unit != nil &&
		(cuts(len(p.Measures), p.Caps) || cuts(len(p.Quantiles), p.OrderCaps) || cuts(len(p.Modes), p.RowCaps))
}

// limitsOf returns what bounds an access whose rows a statement describes. further names other limits.
func (c *Session) limitsOf(s *bounded.Statement, further ...string) *Limits {
	b := limiting{Limits: &Limits{}, policy: c.policy}
	b.caps(s, s.Caps, 0)
	b.rows(s)
	if s.RowVectors != nil {
		for _, k := range s.RowVectors.Blocks {
			if k.Scale > 0 {
				length := new(big.Rat).Mul(new(big.Rat).SetInt64(k.Scale), bounded.GridUnit(k.Grid))
				further = append(further, longer(string(k.Norm), rationalText(length)))
			}
		}
	}
	for _, text := range further {
		b.say(text)
	}
	return b.finish()
}

// tableLimits returns what bounds the answers to questions about a table. A question is bounded by rows or by
// groups, whichever needs less noise, so both bounds are stated.
func tableLimits(t *policy.Table, unit string) *Limits {
	b := limiting{Limits: &Limits{Unit: unit}}
	if u := t.Unit; unit != "" {
		b.MaxRows, b.MaxGroups, b.MaxRowsPerGroup, b.StoredRows = u.RowsPerUnit, u.MaxGroups, u.RowsPerGroup, t.Stored()
		b.say(fmt.Sprintf("at most %s of one %s %s", plural(u.RowsPerUnit, "row"), SQLName(unit), counts(u.RowsPerUnit)))
		if u.MaxGroups < u.RowsPerUnit || u.RowsPerGroup < u.RowsPerUnit {
			b.say(fmt.Sprintf("where groups bound a unit, it counts in at most %s, and adds to each at most as much as %s can",
				plural(u.MaxGroups, "group"), plural(u.RowsPerGroup, "row")))
		}
	}
	for _, column := range t.Columns {
		if column.Lower != nil {
			b.add(Clamp{
				Table: t.Name, Column: column.Name, Lower: bound(column.Type, column.Lower),
				Upper: bound(column.Type, column.Upper), typed: column.Type,
			})
		}
	}
	clamps := b.Clamps
	if len(clamps) > 0 {
		b.say("values are clamped to the bounds of their columns")
	}
	b.Clamps = nil // so that the words do not list them: the columns show them
	b.finish()
	b.Clamps = clamps
	return b.Limits
}

// longer states that long vectors are scaled down.
func longer(norm, bound string) string {
	return fmt.Sprintf("a row's vector with a larger %s norm than %s is scaled down to it", strings.ToUpper(norm), bound)
}

// limiting gathers limits, and their words.
type limiting struct {
	*Limits
	policy *policy.Policy
	words  []string
}

func (b *limiting) say(text string) {
	if text != "" && !slices.Contains(b.words, text) {
		b.words = append(b.words, text)
	}
}

// caps adds the bounds on one unit. groups is the bound on groups that applies beside one on rows, or 0.
func (b *limiting) caps(s *bounded.Statement, caps bounded.Caps, groups int64) {
	b.MaxRows, b.MaxGroups, b.MaxRowsPerGroup = caps.Rows, caps.Groups, caps.RowsPerGroup
	if caps.Rows > 0 {
		b.MaxGroups = groups
	}
	if s.Unit != nil {
		b.Unit = s.Unit.Name
	}
	b.say(capsText(s, caps, groups))
	if s.Unit != nil {
		b.stored(s, caps)
	}
	if s.Part != nil && s.Unit != nil {
		b.PartsPerUnit = s.Part.PerUnit
		b.say(fmt.Sprintf("one %s counts in at most %s of %s", SQLName(b.Unit), plural(s.Part.PerUnit, "part"),
			SQLName(s.Columns[s.Part.Column].Name)))
	}
}

// stored adds the bound on the rows of one unit that sealing keeps. The words have it where no cap on rows, which is
// lower, decides how many rows of a unit count.
func (b *limiting) stored(s *bounded.Statement, caps bounded.Caps) {
	var each []string
	same := true
	for _, name := range s.Tables() {
		t := b.policy.Table(name)
		if t.Public {
			continue
		}
		n := t.Stored()
		same = same && (b.StoredRows == 0 || n == b.StoredRows)
		if b.StoredRows == 0 || n < b.StoredRows {
			b.StoredRows = n
		}
		each = append(each, plural(n, "row")+" in "+SQLName(name))
	}
	everyUnit := s.Where == nil && capsText(s, caps, 0) == ""
	if single := s.Source != nil && s.Source.Single; single || caps.Rows == 0 && !everyUnit {
		kept := "at most " + plural(b.StoredRows, "row") + " of one " + SQLName(b.Unit)
		if !same {
			kept = "of one " + SQLName(b.Unit) + " at most " + strings.Join(each, ", and ")
		}
		b.say("sealing keeps " + kept)
	}
}

// capsText states in words what the bounds on one unit can leave out, or returns "" if they leave out nothing: if
// each row is a unit and counts once, if a unit has one row by construction, or if units are counted in all groups.
func capsText(s *bounded.Statement, caps bounded.Caps, groups int64) string {
	switch {
	case s.Unit == nil && caps.Rows <= 1 || s.Source != nil && s.Source.Single && caps.Rows > 0:
		return ""
	case s.Unit == nil:
		return "one row counts at most " + plural(caps.Rows, "time")
	}
	unit := SQLName(s.Unit.Name)
	everywhere := !s.Open() && caps.Groups >= int64(s.Cells())
	if caps.Rows > 0 {
		text := fmt.Sprintf("at most %s of one %s %s", plural(caps.Rows, "row"), unit, counts(caps.Rows)) + rowOf(s)
		if groups > 0 && !everywhere {
			text += ", in at most " + plural(groups, "group")
		}
		return text
	}
	unitsOnly := len(s.Measures) > 0 && !slices.ContainsFunc(s.Measures, func(m *bounded.Measure) bool {
		return !m.OfUnits()
	})
	adds := fmt.Sprintf("at most as much as %s can", plural(caps.RowsPerGroup, "row"))
	switch {
	case unitsOnly && everywhere:
		return ""
	case unitsOnly:
		return fmt.Sprintf("one %s counts in at most %s", unit, plural(caps.Groups, "group"))
	case len(s.Keys) == 0:
		return fmt.Sprintf("one %s adds %s", unit, adds)
	case everywhere:
		return fmt.Sprintf("one %s adds to each group %s", unit, adds)
	}
	return fmt.Sprintf("one %s counts in at most %s, and adds to each %s", unit, plural(caps.Groups, "group"), adds)
}

// rowOf says what a row of a statement is, if a subquery makes one row of several rows of a unit.
func rowOf(s *bounded.Statement) string {
	of := s.Source
	for of != nil && of.Op == bounded.Select {
		of = of.Inputs[0]
	}
	if of == nil || of.Op != bounded.PerUnit {
		return ""
	}
	var names []string
	for i := range of.Exprs {
		names = append(names, SQLName(of.Columns[i].Name))
	}
	return " (the subquery has one row for each " + strings.Join(names, ", ") + ")"
}

// counts returns the verb for a number of rows.
func counts(rows int64) string {
	if rows == 1 {
		return "counts"
	}
	return "count"
}

// rows adds the limits on the rows that a statement reads: those of joins, and of the columns that are read.
func (b *limiting) rows(s *bounded.Statement) {
	all := []*bounded.Expr{s.Where}
	for _, k := range s.Keys {
		all = append(all, k.Expr)
	}
	for _, m := range s.Measures {
		all = append(all, m.X)
	}
	b.reads(s.Columns, all...)
	if s.Source != nil {
		b.source(s.Source, columnsIn(all))
	}
}

// source adds the limits of a source, of whose columns those in used are read further on, and of the sources below it.
// Only a Select and a PerUnit leave columns unread: all columns of a row decide which rows a Join or a Window keeps.
func (b *limiting) source(of *bounded.Source, used func(column int) bool) {
	if of.Op == bounded.Scan {
		return
	}
	var all []*bounded.Expr
	if of.Op == bounded.Select {
		all = append(all, of.Where)
		for i, e := range of.Exprs {
			if used(i) {
				all = append(all, e)
			}
		}
	} else {
		of.Expressions(func(e *bounded.Expr) { all = append(all, e) })
	}
	b.reads(of.Inputs[0].Columns, all...)
	inCap := of.Inputs[len(of.Inputs)-1].Units && of.Most >= b.MaxRows && len(of.Within) == 0
	if of.Op == bounded.Join && of.Most > 1 && !of.Inputs[1].Single && !inCap {
		b.join(of)
	}
	if of.Op == bounded.PerUnit && slices.ContainsFunc(of.Aggregates, addsUp) {
		b.say("sums and counts over the rows of one unit are clamped to what " + b.rowsBelow(of.Inputs[0]) + " can add up to")
	}
	below := func(int) bool { return true }
	if of.Op == bounded.Select || of.Op == bounded.PerUnit {
		below = columnsIn(all)
	}
	for _, in := range of.Inputs {
		b.source(in, below)
	}
}

// columnsIn returns whether a column is read by any of several expressions.
func columnsIn(all []*bounded.Expr) func(int) bool {
	read := map[int]bool{}
	for _, e := range all {
		if e != nil {
			e.Walk(func(x *bounded.Expr) {
				if x.Op == bounded.OpColumn {
					read[x.Column] = true
				}
			})
		}
	}
	return func(i int) bool { return read[i] }
}

// rowsBelow names the number of rows of one unit that bounds a sum over the rows of s: that of its table, if it only
// selects from one.
func (b *limiting) rowsBelow(s *bounded.Source) string {
	for s.Op == bounded.Select || s.Op == bounded.Window {
		s = s.Inputs[0]
	}
	if s.Op == bounded.Scan {
		if u := b.policy.Table(s.Table).Unit; u.RowsPerUnit > 0 {
			return plural(u.RowsPerUnit, "row")
		}
	}
	return "rows_per_unit rows"
}

// addsUp reports whether an aggregate over the rows of one unit is a count or a sum.
func addsUp(a bounded.Inner) bool {
	switch a.Func {
	case bounded.InnerRows, bounded.InnerCount, bounded.InnerDistinct, bounded.InnerSum:
		return true
	}
	return false
}

// join adds the bound of a join on the rows of its second input.
func (b *limiting) join(of *bounded.Source) {
	limit := JoinLimit{tablesOf(of.Inputs[1]), of.Most}
	if slices.Contains(b.Joins, limit) {
		return
	}
	b.Joins = append(b.Joins, limit)
	with := "each row"
	switch {
	case len(of.Within) > 0:
		with = "each value of " + SQLName(of.Inputs[1].Columns[of.Within[0]].Name)
	case of.Inputs[1].Units:
		with = "one unit"
	}
	b.say(fmt.Sprintf("at most %s of %s join for %s", plural(of.Most, "row"), limit.Table, with))
}

// reads adds the declared bounds of the columns that expressions read.
func (b *limiting) reads(columns []bounded.Column, all ...*bounded.Expr) {
	for _, e := range all {
		if e == nil {
			continue
		}
		e.Walk(func(x *bounded.Expr) {
			if x.Op == bounded.OpColumn {
				b.declared(columns[x.Column].Column)
			}
		})
	}
}

// declared adds the bounds of a column, if it is a column of the policy that has bounds.
func (b *limiting) declared(column *policy.Column) {
	if column.Lower == nil {
		return
	}
	for _, t := range b.policy.Tables {
		// a join or a subquery has a copy of the column, which may be nullable
		of := t.Column(column.Name)
		if t.Public || of == nil || of.Lower != column.Lower || of.Upper != column.Upper {
			continue
		}
		b.add(Clamp{
			Table: t.Name, Column: column.Name, Lower: bound(column.Type, column.Lower), Upper: bound(column.Type, column.Upper),
			typed: column.Type,
		})
	}
}

// output adds the bounds that the question itself sets, or finds, for the argument of an aggregate.
func (b *limiting) output(p *plan.Plan, o plan.Output) {
	if o.Post == nil {
		return
	}
	o.Post.Walk(func(q *plan.Post) {
		if q.Op != plan.PostAggregate {
			return
		}
		for _, m := range p.Aggregates[q.Index].Measures() {
			if m.Sums() && clamped(m.X) {
				lo, hi := ends(m.X)
				b.add(Clamp{Column: o.Name, Lower: lo, Upper: hi, found: m.Search != nil, typed: m.X.Type})
			}
			if m.Cells != nil {
				lo, hi := m.CellBounds(p.Caps)
				b.add(Clamp{
					Column: o.Name, Lower: rationalText(m.Units(lo)), Upper: rationalText(m.Units(hi)), PerGroup: true,
					typed: value.Real,
				})
			}
		}
	})
}

// clamped reports whether an expression clamps a value: whether it contains LEAST or GREATEST.
func clamped(e *bounded.Expr) bool {
	found := false
	e.Walk(func(x *bounded.Expr) { found = found || x.Op == bounded.OpLeast || x.Op == bounded.OpGreatest })
	return found
}

// ends returns the ends of a number's range as text.
func ends(e *bounded.Expr) (lo, hi string) {
	if e.Type == value.Integer {
		return value.OfInt(e.Range.IntLo).String(), value.OfInt(e.Range.IntHi).String()
	}
	return value.OfReal(e.Range.Lo).String(), value.OfReal(e.Range.Hi).String()
}

// rationalText writes a rational exactly if it is an integer, and else as the nearest double.
func rationalText(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return value.OfReal(f).String()
}

func (b *limiting) add(c Clamp) {
	if !slices.Contains(b.Clamps, c) {
		b.Clamps = append(b.Clamps, c)
	}
}

// finish writes the words of the clamps, after those of the limits on rows.
func (b *limiting) finish() *Limits {
	var declared []string
	for _, c := range b.Clamps {
		switch {
		case c.Table != "":
			declared = append(declared, fmt.Sprintf("%s to %s … %s", SQLName(c.Column), c.Lower, c.Upper))
		case c.PerGroup:
			b.say(fmt.Sprintf("in %s, one unit adds %s … %s to one group", SQLName(c.Column), c.Lower, c.Upper))
		case c.found:
			b.say(fmt.Sprintf("values in %s are clamped to the bounds that were found, %s … %s", SQLName(c.Column), c.Lower,
				c.Upper))
		default:
			b.say(fmt.Sprintf("values in %s are clamped to %s … %s", SQLName(c.Column), c.Lower, c.Upper))
		}
	}
	if len(declared) > 0 {
		declared[0] = strings.Replace(declared[0], " to ", " is clamped to ", 1)
		b.say(strings.Join(declared, ", "))
	}
	b.Text = strings.Join(b.words, "; ")
	if b.Text == "" {
		b.Text = "none, every row counts"
	}
	return b.Limits
}
