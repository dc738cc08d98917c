package plan

import (
	"dither/internal/bounded"
)

// stated is a question with all statements that engines run for its measures and its searches. It is the result of the
// fifth phase. The statements for quantiles and modes follow from the first one (Plan.Ordered, Plan.Counted).
type stated struct {
	*capped
	main        bounded.Statement   // the request for the measures
	searchLooks []bounded.Statement // the accesses that find bounds, in the order of measured.searches
	rowsLook    *bounded.Statement  // the access that finds the bound on a unit's rows; nil if there is none
}

// writeStatements writes the statements. They all read the same columns, so that the same rows of a unit count.
func writeStatements(c *capped) (*stated, error) {
	s := &stated{capped: c}
	var more []*bounded.Expr
	for _, q := range c.quantiles {
		more = append(more, q.value.X)
	}
	for _, m := range c.modes {
		more = append(more, m.of.Expr)
	}
	main := c.statement()
	s.main = main.ReadingToo(more)
	for _, search := range c.searches {
		s.searchLooks = append(s.searchLooks, s.searchLook(search))
	}
	if c.rows != nil {
		s.rowsLook = s.unitRowsLook()
	}
	return s, nil
}

// searchLook returns the access of a search. It reads the rows of the main statement, and also those in groups that are
// not selected.
func (s *stated) searchLook(search *unpricedSearch) bounded.Statement {
	look := s.main
	look.Keys, look.Other, look.Ordered, look.Caps = nil, false, true, s.rowsOnly()
	look.Measures = []*bounded.Measure{search.outer}
	return look
}

// unitRowsLook returns the access that counts each unit's rows. Rows that are in no group are not among them.
func (s *stated) unitRowsLook() *bounded.Statement {
	look := s.main
	look.Where = inGroups(&s.main, nil)
	look.Keys, look.Caps, look.Ordered, look.Other, look.Chosen = nil, bounded.Caps{}, true, false, nil
	look.Measures = []*bounded.Measure{{Kind: bounded.UnitRows, Lo: 1, Hi: s.rows.most}}
	return &look
}
