// Package postgres answers questions on the owner's own PostgreSQL: a question becomes one read-only statement, written here from
// a plan, and nothing but its sums leaves the server. Errors may quote rows: they are for the owner alone.
package postgres

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/mechanism"
)

// Engine answers about one table or view. It may be used by several goroutines: each statement has a connection of its own.
type Engine struct {
	source policy.Source
	page   int // how many distinct values are fetched at a time
}

var _ engine.Engine = (*Engine)(nil)

// New makes an engine over a source. It connects with the first question.
func New(source policy.Source) *Engine { return &Engine{source: source, page: defaultPage} }

// Close implements engine.Engine: nothing is held between questions.
func (e *Engine) Close() error { return nil }

// Aggregate implements engine.Engine.
func (e *Engine) Aggregate(ctx context.Context, b *plan.Bounded, from engine.Sealed) ([][]mechanism.Exact, error) {
	cells := engine.NewCells(b)
	if err := e.sums(ctx, b, from, cells.Add); err != nil {
		return nil, err
	}
	return cells.Exact(), nil
}

func (e *Engine) sums(ctx context.Context, b *plan.Bounded, from engine.Sealed, add func([]value.Value, []*big.Int)) error {
	s, statement, err := e.prepare(ctx, b, from)
	if err != nil {
		return err
	}
	defer s.end()
	return s.query(ctx, statement, collect(b, add))
}

// prepare begins a session, and writes b over the source's table as it is there.
func (e *Engine) prepare(ctx context.Context, b *plan.Bounded, from engine.Sealed) (*session, string, error) {
	s, of, err := e.open(ctx, columnsOf(b))
	if err != nil {
		return nil, "", err
	}
	relation := relationOf(e.source)
	if from.State != "" && from.Changed != nil {
		state, err := s.state(ctx, relation)
		if err != nil {
			s.end()
			return nil, "", err
		}
		if state != from.State {
			from.Changed(state)
		}
	}
	return s, render(b, relation, of), nil
}

// open begins a session over the source's table, whose columns must be as they are declared.
func (e *Engine) open(ctx context.Context, columns []*policy.Column) (*session, []kind, error) {
	s, err := begin(ctx, e.source)
	if err != nil {
		return nil, nil, err
	}
	of, err := s.columns(ctx, relationOf(e.source), columns)
	if err != nil {
		s.end()
		return nil, nil, err
	}
	return s, of, nil
}

func columnsOf(b *plan.Bounded) []*policy.Column {
	out := make([]*policy.Column, len(b.Columns))
	for i, c := range b.Columns {
		out[i] = c.Column
	}
	return out
}

func relationOf(s policy.Source) string { return identifier(s.Schema) + "." + identifier(s.Table) }

// collect reads one result row and adds it to its cell.
func collect(b *plan.Bounded, add func([]value.Value, []*big.Int)) func([][]byte) error {
	return func(row [][]byte) error {
		if len(b.Keys)+len(b.Measures) == 0 {
			return nil
		}
		keys := make([]value.Value, len(b.Keys))
		for i, k := range b.Keys {
			v, err := scalar(k.Expr.Type, row[i])
			if err != nil {
				return err
			}
			keys[i] = v
		}
		sums := make([]*big.Int, len(b.Measures))
		for i := range sums {
			text := row[len(keys)+i]
			if text == nil { // over no rows
				continue
			}
			n, ok := new(big.Int).SetString(string(text), 10)
			if !ok {
				return fmt.Errorf("postgres: a sum that reads %q", text)
			}
			sums[i] = n
		}
		add(keys, sums)
		return nil
	}
}

// scalar reads a key from its text.
func scalar(t value.Type, text []byte) (value.Value, error) {
	switch {
	case text == nil:
		return value.NullOf(t), nil
	case t == value.Text:
		return value.OfText(string(text)), nil
	case t == value.Boolean && (string(text) == "t" || string(text) == "f"):
		return value.OfBool(text[0] == 't'), nil
	case t == value.Integer || t == value.Date:
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return value.Value{Type: t, Int: n}, nil
		}
	}
	return value.Value{}, fmt.Errorf("postgres: a key of type %s that reads %q", t, text)
}
