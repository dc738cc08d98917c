package curator

import (
	"context"
	"errors"
	"slices"

	"dither/internal/engine"
	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/mechanism"
)

// engines are one engine over all tables: each is asked through the engine of its source's kind.
type engines struct {
	files engine.Engine
	live  map[string]engine.Engine // by table, where it is read on a server
}

func newEngines(p *policy.Policy, sealed, tmp string) *engines {
	e := &engines{files: duckdb.New(sealed, tmp), live: map[string]engine.Engine{}}
	for _, t := range p.Tables {
		if t.Source.Live() {
			e.live[t.Name] = postgres.New(t.Source)
		}
	}
	return e
}

func (e *engines) of(b *plan.Bounded) engine.Engine {
	if b.Source != nil { // over files alone: else Rehearse refuses it
		return e.files
	}
	return e.holding(b.Table)
}

// holding is the engine that reads a table.
func (e *engines) holding(table string) engine.Engine {
	if live, ok := e.live[table]; ok {
		return live
	}
	return e.files
}

// Aggregate implements engine.Engine.
func (e *engines) Aggregate(ctx context.Context, b *plan.Bounded, from engine.Sealed) ([][]mechanism.Exact, error) {
	return e.of(b).Aggregate(ctx, b, from)
}

// Groups implements engine.Engine.
func (e *engines) Groups(ctx context.Context, b *plan.Bounded, from engine.Sealed) (*engine.Groups, error) {
	return e.of(b).Groups(ctx, b, from)
}

// Order implements engine.Engine.
func (e *engines) Order(ctx context.Context, b *plan.Bounded, from engine.Sealed) (mechanism.Ordered, error) {
	return e.of(b).Order(ctx, b, from)
}

// OrderCells implements engine.Engine.
func (e *engines) OrderCells(ctx context.Context, b *plan.Bounded, from engine.Sealed) (mechanism.OrderedCells, error) {
	return e.of(b).OrderCells(ctx, b, from)
}

// Rows implements engine.Engine.
func (e *engines) Rows(ctx context.Context, b *plan.Bounded, from engine.Sealed, into *mechanism.Rows) error {
	return e.of(b).Rows(ctx, b, from, into)
}

// Values implements engine.Engine.
func (e *engines) Values(ctx context.Context, c plan.Column, from engine.Sealed, most int) ([]value.Value, error) {
	return e.holding(from.Table).Values(ctx, c, from, most)
}

// Rehearse implements engine.Engine. Where a relation of several tables, or a subquery, reads one on a server, no engine holds all its rows.
func (e *engines) Rehearse(ctx context.Context, b *plan.Bounded, from engine.Sealed) error {
	if b.Source != nil && slices.ContainsFunc(b.Tables(), func(table string) bool { return e.live[table] != nil }) {
		return engine.ErrOneTable
	}
	return e.of(b).Rehearse(ctx, b, from)
}

// Close implements engine.Engine.
func (e *engines) Close() error {
	err := e.files.Close()
	for _, live := range e.live {
		err = errors.Join(err, live.Close())
	}
	return err
}
