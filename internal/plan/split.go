package plan

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/privacy"
)

// claim is what the price is divided among: an aggregate as the question writes it, with the parts that it is computed from.
// Two that are computed from the same, as a variance and its root, are one.
type claim struct {
	parts []part
	terms terms
}

// part is something that is taken from the rows at a price of its own: a measure.
type part interface {
	pay(share privacy.Loss) // in addition to what it has
	String() string
}

func (m *Measure) pay(share privacy.Loss) { m.Loss = m.Loss.Plus(share) }

// claimed notes that the question writes an aggregate that is computed from p's measures.
func (b *builder) claimed(p *Post) {
	var c claim
	p.Walk(func(q *Post) {
		if q.Op != PostAggregate {
			return
		}
		for _, m := range b.plan.Aggregates[q.Index].Measures() {
			if !slices.Contains(c.parts, part(m)) {
				c.parts = append(c.parts, m)
			}
			if m.Search != nil && !slices.Contains(c.parts, part(m.Search)) {
				c.parts = append(c.parts, m.Search)
			}
		}
	})
	b.claim(c)
}

// claim adds a claim that is not there yet, on the terms of the aggregate at hand.
func (b *builder) claim(c claim) {
	if len(c.parts) > 1 {
		sortByText(c.parts)
	}
	c.terms = b.given.terms
	i := slices.IndexFunc(b.claims, func(o claim) bool { return slices.Equal(o.parts, c.parts) })
	if i < 0 {
		b.claims = append(b.claims, c)
		return
	}
	var err error
	if b.claims[i].terms, err = b.claims[i].terms.or(c.terms); err != nil && b.clash == nil {
		b.clash = err
	}
}

// sortByText sorts by canonical texts, which are written once of each.
func sortByText[T fmt.Stringer](all []T) {
	type written struct {
		text string
		of   T
	}
	texts := make([]written, len(all))
	for i, x := range all {
		texts[i] = written{x.String(), x}
	}
	slices.SortStableFunc(texts, func(x, y written) int { return strings.Compare(x.text, y.text) })
	for i, x := range texts {
		all[i] = x.of
	}
}

// split divides the price: among the claims by their terms, equally where there are none, and the share of each equally among its parts, an average's in halves for
// its sum and its count. A part that several claims need is taken once, with their shares together. The shares add up to the price
// exactly, so that by basic composition the whole answer costs the price.
func (b *builder) split() error {
	p := b.plan
	if len(b.claims) == 0 {
		return bind.Refuse(b.tree.Items[0].Expr.Pos(), "ask for COUNT(*), SUM(x) or AVG(x)", "the question has no aggregate")
	}
	if p.Cells()*p.Numbers() > MaxNumbers {
		return bind.Refuse(
			b.tree.Items[0].Expr.Pos(),
			"ask for fewer aggregates, or group by less",
			"the answer would hold more than %d numbers",
			MaxNumbers,
		)
	}
	if b.clash != nil {
		return b.clash
	}
	if err := b.divide(); err != nil {
		return err
	}
	sortByText(p.Searches)
	sortByText(p.Measures)
	p.setMeasures(p.Measures)
	var known chosen
	cells := p.Cells()
	if p.Open() {
		cells = 0 // which is not known
	}
	for _, m := range p.Measures {
		m.bound(p.Neighbours, p.Caps, len(p.Keys) > 0)
		m.boundFew(p.Neighbours, p.Caps, cells)
		if err := known.choose(m); err != nil {
			return bind.Refuse(query.Pos{}, "", "no noise can be chosen: %v", err)
		}
	}
	return nil
}
