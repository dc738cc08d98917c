package plan

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
)

// admit puts the plan together. It refuses a question with an automatic bound on rows (max_rows_contributed = auto)
// that does not depend on that bound. It also refuses a question whose statements are too large, or could take an
// engine too long.
func admit(n *noisy) (*Plan, error) {
	p := n.plan()
	search, ordered := p.Rows, len(p.Quantiles)+len(p.Modes) > 0
	if search != nil && search.Found == 0 && !ordered && p.Caps.Rows == 0 && p.Caps.Groups <= 1 {
		return nil, bind.Refuse(
			n.request.rowsAt,
			"leave it out",
			"a bound on rows has no effect here: each %s counts once",
			n.table().Unit.Column,
		)
	}
	if err := n.inProportion(p); err != nil {
		return nil, err
	}
	// A question whose bound on rows was found has already been charged. A refusal now would depend on its rows.
	if n.job.found == 0 {
		if err := n.unitWithin(&p.Statement, p.AllLooks()...); err != nil {
			return nil, err
		}
	}
	p.Weigh()
	if t := p.Truncation; t != nil {
		t.Look.Weigh()
	}
	p.Notes = append(p.Notes, p.AnswerNotes()...)
	return p, nil
}

// AnswerNotes returns notes on how to read the answer, which the explanation has too.
func (p *Plan) AnswerNotes() []string {
	return slices.Concat(p.quotients(), p.picked(), p.declaration())
}

// picked returns a note if HAVING, or ORDER BY with LIMIT or OFFSET, picks rows of the answer by their noisy numbers.
func (p *Plan) picked() []string {
	noisy := func(e *Post) (found bool) {
		if e != nil {
			e.Walk(func(x *Post) { found = found || x.Op == PostAggregate })
		}
		return found
	}
	cuts := p.Offset > 0 || p.Limit != nil && (p.Open() || *p.Limit < int64(p.Cells()))
	if !noisy(p.Having) && !(cuts && slices.ContainsFunc(p.Order, func(o OrderBy) bool { return noisy(o.Post) })) {
		return nil
	}
	return []string{"HAVING, or ORDER BY with LIMIT, picks rows by their noisy numbers. An interval holds for a row that was " +
		"chosen beforehand, and less often for one that was picked."}
}

// quotients returns a note if an expression on rows is a quotient of integers, because some databases, and earlier
// versions of dither, keep its fraction.
func (p *Plan) quotients() []string {
	found := false
	each := func(e *bounded.Expr) {
		e.Walk(func(e *bounded.Expr) { found = found || e.Dropped })
	}
	p.Expressions(each)
	for _, m := range p.OrderedValues() {
		each(m.X)
	}
	if !found {
		return nil
	}
	return []string{"A quotient of two integers drops the fraction, as in PostgreSQL: 7 / 2 is 3. " +
		"For a real quotient, write 7.0 / 2, or CAST(x AS real) / y."}
}

// plan returns the plan of the question, from the results of all phases.
func (n *noisy) plan() *Plan {
	p := &Plan{
		Statement:    n.main,
		Neighbours:   n.neighbours(),
		PolicyDigest: n.policy.Digest(),
		Price:        n.cost,
		Quantiles:    n.quantiles,
		Modes:        n.modes,
		OrderCaps:    n.orderCaps,
		RowCaps:      n.rowCaps,
		Selection:    n.selection,
		Sets:         n.groupings,
		Shown:        n.shown,
		Aggregates:   n.aggregates,
		Outputs:      n.outputs,
		Having:       n.having,
		Order:        n.order,
		Limit:        n.tree.Limit,
		Searches:     n.found,
		Rows:         n.rowSearch,
		Truncation:   n.estimate,
		TargetError:  n.request.TargetError,
		OwnEpsilons:  n.ownEpsilons,
		Priced:       !n.request.Price.IsZero(),
		Asked:        n.asked,
		Notes:        n.allNotes(),
		Declared:     n.declared,
		Constants:    n.declaredCounts,
		Grouped:      n.place,
		groupedBy:    n.groupedBy,
		OneUnit:      n.oneUnit,
		everyGroup:   n.public != nil,
		policy:       n.policy,
		keysAs:       n.job.keys,
		request:      n.original,
		ordered:      n.ordered,
	}
	p.setMeasures(n.sums)
	if n.tree.Offset != nil {
		p.Offset = *n.tree.Offset
	}
	return p
}

// allNotes returns the notes for the analyst from all phases of planning: sentences on how dither read the question.
func (n *noisy) allNotes() []string {
	return slices.Concat(n.keyed.notes, n.measured.notes, n.capped.notes, n.stated.notes) //nolint:staticcheck // each phase by its name
}

// maxWritten bounds the total weight of a question's expressions after each name is replaced by its expression. A
// name may stand for a large expression, and may be used many times.
const maxWritten = 20 * bounded.MaxWeight

// inProportion refuses a question over a relation if its expressions weigh more than maxWritten.
func (q *question) inProportion(p *Plan) error {
	if q.scope.Names == nil {
		return nil
	}
	total := 0
	add := func(e *bounded.Expr) {
		if e != nil {
			total += e.Weight()
		}
	}
	add(p.Where)
	for _, k := range p.Keys {
		add(k.Expr)
	}
	for _, m := range append(p.OrderedValues(), p.Statement.Measures...) {
		add(m.X)
	}
	for _, m := range p.Modes {
		add(m.Of.Expr)
	}
	if p.Source != nil {
		p.Source.Walk(func(s *bounded.Source) { s.Expressions(add) })
	}
	if total > maxWritten {
		return bind.Refuse(query.Pos{}, "ask for less at once", "the question is too large when it is expanded")
	}
	return nil
}
