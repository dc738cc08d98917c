package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	var out []value.Value
	err := e.copied(ctx, []bounded.Column{c}, from, func(list, scan string) string {
		return fmt.Sprintf("SELECT DISTINCT k FROM (SELECT %s AS k FROM %s OFFSET 0) AS x WHERE k IS NOT NULL ORDER BY k LIMIT %d",
			list, scan, most)
	}, func(row []value.Value) { out = append(out, row[0]) })
	slices.SortFunc(out, value.Compare)
	return out, err
}

// PublicRows implements [engine.Engine], for copies only, as Values does. The kernel calls it for public tables only.
func (e *Engine) PublicRows(ctx context.Context, columns []bounded.Column, from engine.Sealed, most int) ([][]value.Value, error) {
	var out [][]value.Value
	err := e.copied(ctx, columns, from, func(list, scan string) string {
		return fmt.Sprintf("SELECT %s FROM %s LIMIT %d", list, scan, most)
	}, func(row []value.Value) { out = append(out, row) })
	return out, err
}

// copied runs a statement over the cleaned values of columns of a copy of a public table, and hands over its rows. The
// function statement gets the list of the columns and the copy's relation.
func (e *Engine) copied(
	ctx context.Context, columns []bounded.Column, from engine.Sealed, statement func(list, scan string) string, row func([]value.Value),
) error {
	if from.Copy == nil {
		return &engine.RefusedError{
			Message: "the values of a table on a server may change", Hint: "ask the owner to seal it with --copy",
		}
	}
	s, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	declared, list := make([]*policy.Column, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		declared[i], list[i] = c.Column, clean(c, identifier(c.Name))
	}
	in, err := e.openCopy(ctx, s, declared, from.Copy, "")
	if err != nil {
		return err
	}
	if err := s.query(ctx, statement(strings.Join(list, ", "), in.scan), func(cells [][]byte) error {
		values := make([]value.Value, len(columns))
		for i, c := range columns {
			if c.Type == value.Real && cells[i] != nil {
				x, err := strconv.ParseFloat(string(cells[i]), 64)
				if err != nil {
					return err
				}
				values[i] = value.OfReal(x)
			} else if values[i], err = scalar(c.Type, cells[i]); err != nil {
				return err
			}
		}
		row(values)
		return nil
	}); err != nil {
		return err
	}
	return in.still(ctx)
}
