package plan

import (
	"fmt"
	"slices"
	"strings"

	"dither/privacy"
)

// claim is an aggregate's right to a share of the price, with the parts that the aggregate is computed from. Two
// aggregates with the same parts, such as a variance and its square root, have one claim.
type claim struct {
	parts []part
	terms terms
}

// part is a release with a share of the price of its own: an unpriced measure, search, quantile or mode, or the
// selection of groups.
type part interface {
	String() string                    // returns the part's canonical text
	share(s *partShares) *privacy.Loss // returns a pointer to the part's share in s
}

// selectionPart is the part that selects groups. A question has at most one.
type selectionPart struct{}

func (selectionPart) String() string { return "selection" }

// partShares are the shares of the price of all parts: of the measures in the order of measured.measures, and so
// on.
type partShares struct {
	measures, searches, quantiles, modes []privacy.Loss
	selection                            privacy.Loss
}

func (m *unpricedMeasure) share(s *partShares) *privacy.Loss  { return &s.measures[m.index] }
func (s *unpricedSearch) share(of *partShares) *privacy.Loss  { return &of.searches[s.index] }
func (q *unpricedQuantile) share(s *partShares) *privacy.Loss { return &s.quantiles[q.index] }
func (m *unpricedMode) share(s *partShares) *privacy.Loss     { return &s.modes[m.index] }
func (selectionPart) share(s *partShares) *privacy.Loss       { return &s.selection }

// claimed adds the claim of an aggregate whose value is p: its right to a share of the price.
func (b *measuring) claimed(p *Post) {
	var c claim
	p.Walk(func(q *Post) {
		if q.Op != PostAggregate {
			return
		}
		for _, m := range b.aggregates[q.Index].measures() {
			if !slices.Contains(c.parts, part(m)) {
				c.parts = append(c.parts, m)
			}
			if m.search != nil && !slices.Contains(c.parts, part(m.search)) {
				c.parts = append(c.parts, m.search)
			}
		}
	})
	b.claim(c)
}

// claim adds a claim with the terms of the current aggregate (b.given). If there is a claim with the same parts, it
// merges the terms.
func (b *measuring) claim(c claim) {
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

// sortByText sorts a list by the canonical texts of its elements. It writes the text of each element once.
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
