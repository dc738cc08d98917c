package curator

import (
	"errors"

	"dither/internal/post"
	"dither/internal/release"
	"dither/internal/seal"
)

// public returns the rows of a public table, as a part without a price, or the reason why they are not read. Its rows are
// not secret, so they are exact, and reading them charges nothing and is recorded nowhere. The boolean is false for every
// other table.
func (s *combination) public(name string) (a post.Answer, trouble string, public bool) {
	for _, known := range s.parts {
		if known.table == name {
			return known.answer, "", true
		}
	}
	t := s.c.policy.Table(name)
	if t == nil || !t.Public {
		return a, "", false
	}
	found, err := s.c.kernel.PublicRows(name)
	switch {
	case errors.Is(err, release.ErrManyRows), errors.Is(err, release.ErrInPlace), errors.Is(err, release.ErrUnread):
		return a, err.Error(), true
	case errors.Is(err, seal.ErrNotSealed):
		s.unsealed = err
		return a, err.Error(), true
	case err != nil:
		return a, s.c.public(err).Message, true
	}
	state, err := s.c.ledger.State()
	if err != nil {
		return a, s.c.public(err).Message, true
	}
	table := &freeTable{rows: make([][]post.Cell, len(found)), release: s.c.freeRelease(s.q, nil, state.Remaining)}
	for i, c := range t.Columns {
		column := post.Column{Name: c.Name, Type: c.Type, Width: 1}
		for j, row := range found {
			column.Width = max(column.Width, len(row[i].Text))
			table.rows[j] = append(table.rows[j], post.Exact(row[i]))
		}
		table.columns = append(table.columns, column)
		table.release.Columns = append(table.release.Columns, Column{Name: c.Name, Kind: Key})
	}
	out := &combined{reading: reading{inner: s.q, free: table}, table: name}
	out.answer = post.Answer{Index: len(s.parts), Same: len(s.parts), From: s.width, Columns: table.columns, Rows: len(found)}
	s.width += len(table.columns)
	s.parts = append(s.parts, out)
	return out.answer, "", true
}
