package curator

import (
	"context"
	"errors"

	"dither/internal/engine"
	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
	"dither/internal/plan"
	"dither/internal/policy"
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
	if live, ok := e.live[b.Table]; ok {
		return live
	}
	return e.files
}

// Aggregate implements engine.Engine.
func (e *engines) Aggregate(ctx context.Context, b *plan.Bounded, from engine.Sealed) ([][]mechanism.Exact, error) {
	return e.of(b).Aggregate(ctx, b, from)
}

// Order implements engine.Engine.
func (e *engines) Order(ctx context.Context, b *plan.Bounded, from engine.Sealed) (mechanism.Ordered, error) {
	return e.of(b).Order(ctx, b, from)
}

// Rehearse implements engine.Engine.
func (e *engines) Rehearse(ctx context.Context, b *plan.Bounded, from engine.Sealed) error {
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
