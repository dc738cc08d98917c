package plan

import (
	"slices"
	"strings"

	"dither/internal/query"
	"dither/privacy"
)

// claim is what the price is divided among: an aggregate as the question writes it, with the parts that it is computed from.
// Two that are computed from the same, as a variance and its root, are one.
type claim struct{ parts []part }

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
		}
	})
	b.claim(c)
}

// claim adds a claim that is not there yet.
func (b *builder) claim(c claim) {
	slices.SortFunc(c.parts, func(x, y part) int { return strings.Compare(x.String(), y.String()) })
	if !slices.ContainsFunc(b.claims, func(o claim) bool { return slices.Equal(o.parts, c.parts) }) {
		b.claims = append(b.claims, c)
	}
}

// split divides the price: equally among the claims, and the share of each equally among its parts, an average's in halves for
// its sum and its count. A part that several claims need is taken once, with their shares together. The shares add up to the price
// exactly, so that by basic composition the whole answer costs the price.
func (b *builder) split() error {
	p := b.plan
	if len(b.claims) == 0 {
		return refuse(b.tree.Items[0].Expr.Pos(), "ask for COUNT(*), SUM(x) or AVG(x)", "the question has no aggregate")
	}
	if p.Cells()*len(p.Measures) > MaxNumbers {
		return refuse(b.tree.Items[0].Expr.Pos(), "ask for fewer aggregates, or group by less", "the answer would hold more than %d numbers", MaxNumbers)
	}
	for _, c := range b.claims {
		for _, x := range c.parts {
			x.pay(p.Price.Share(1, int64(len(b.claims)*len(c.parts))))
		}
	}
	slices.SortStableFunc(p.Measures, func(x, y *Measure) int { return strings.Compare(x.String(), y.String()) })
	for _, m := range p.Measures {
		m.bound(p.Neighbours, p.Caps, len(p.Keys) > 0)
		if err := m.choose(); err != nil {
			return refuse(query.Pos{}, "", "no noise can be chosen: %v", err)
		}
	}
	return nil
}
