package postgres

import (
	"context"
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/value"
)

// values records the distinct cleaned values of some columns of a public table, as they are at sealing.
func (l *look) values(ctx context.Context, columns []string) error {
	if !l.table.Public {
		return nil
	}
	for i, c := range l.table.Columns {
		if c.Type == value.Real || !slices.Contains(columns, c.Name) {
			continue
		}
		public := bounded.PublicColumn(c)
		sql := fmt.Sprintf(
			"SELECT DISTINCT k FROM (SELECT %s AS k FROM (SELECT %s AS x FROM %s OFFSET 0) AS x OFFSET 0) AS k "+
				"WHERE k IS NOT NULL ORDER BY k LIMIT %d",
			clean(public, "x"),
			read(public, l.of[i]),
			l.scan,
			policy.MaxKeys+1,
		)
		var found []value.Value
		if err := l.query(ctx, sql, func(row [][]byte) error {
			v, err := scalar(c.Type, row[0])
			found = append(found, v)
			return err
		}); err != nil {
			return err
		}
		slices.SortFunc(found, value.Compare)
		if l.found.Values == nil {
			l.found.Values = map[string][]string{}
		}
		texts := make([]string, len(found))
		for j, v := range found {
			texts[j] = v.String()
		}
		l.found.Values[c.Name] = texts
	}
	return nil
}

// Values implements [engine.Engine], for copies only: the meaning of a release depends on the values of its
// version, and the values of a table on a server may change. For a table that is read in place, sealing records the
// values: see look.values. The kernel calls Values for public tables only.
func (e *Engine) Values(ctx context.Context, c bounded.Column, from engine.Sealed, most int) ([]value.Value, error) {
	if from.Copy == nil {
		return nil, &engine.RefusedError{
			Message: "the values of a table on a server may change", Hint: "ask the owner to seal it with --copy",
		}
	}
	s, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer s.end()
	in, err := e.openCopy(ctx, s, []*policy.Column{c.Column}, from.Copy, "")
	if err != nil {
		return nil, err
	}
	var out []value.Value
	sql := fmt.Sprintf(
		"SELECT DISTINCT k FROM (SELECT %s AS k FROM %s OFFSET 0) AS x WHERE k IS NOT NULL ORDER BY k LIMIT %d",
		clean(c, identifier(c.Name)), in.scan, most)
	if err := s.query(ctx, sql, func(row [][]byte) error {
		v, err := scalar(c.Type, row[0])
		out = append(out, v)
		return err
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(out, value.Compare)
	return out, in.still(ctx)
}
