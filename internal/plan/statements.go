package plan

import (
	"dither/internal/bounded"
)

// stated is the result of the fifth phase, writeStatements. It holds the statements for the measures and the
// searches. The statements for quantiles and modes follow from the first one ([Plan.Ordered], [Plan.Counted]).
type stated struct {
	*capped
	main        bounded.Statement   // the statement for the measures
	searchLooks []bounded.Statement // the statements of the searches for bounds, in the order of measured.searches
	rowsLook    *bounded.Statement  // the statement of the search for the bound on a unit's rows; nil if there is none
	truncation  *unpricedTruncation // the estimate of what the bounds cut; nil if there is none
	notes       notes
}

// writeStatements writes the statements. They all have the same Reads, so that the same rows of a unit count in
// each.
func writeStatements(c *capped) (*stated, error) {
	s := &stated{capped: c}
	var more []*bounded.Expr
	for _, q := range c.quantiles {
		more = append(more, q.value.X)
	}
	for _, m := range c.modes {
		more = append(more, m.of.Expr)
	}
	s.main = c.statement()
	s.main = s.main.ReadingToo(more)
	for _, search := range c.searches {
		s.searchLooks = append(s.searchLooks, s.searchLook(search))
	}
	if c.rows != nil {
		s.rowsLook = s.unitRowsLook()
	}
	var err error
	s.truncation, err = s.truncated()
	return s, err
}

// searchLook returns the statement of a search. It reads every row that satisfies WHERE, whether or not the row is in a
// group.
func (s *stated) searchLook(search *unpricedSearch) bounded.Statement {
	look := s.main
	look.Keys, look.Other, look.Ordered, look.Caps = nil, false, true, s.rowsOnly()
	look.Measures = []*bounded.Measure{search.outer}
	return look
}

// unitRowsLook returns the statement that counts each unit's rows. It excludes rows that are in no group.
func (s *stated) unitRowsLook() *bounded.Statement {
	look := s.main
	look.Where = inGroups(&s.main, nil)
	look.Keys, look.Caps, look.Ordered, look.Other, look.Chosen = nil, bounded.Caps{}, true, false, nil
	look.Measures = []*bounded.Measure{{Kind: bounded.UnitRows, Lo: 1, Hi: s.rows.most}}
	return &look
}
