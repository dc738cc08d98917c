package release

import (
	"context"
	"errors"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/mechanism"
)

// engines implements [engine.Engine] over all tables of a policy. It passes each statement to the engine that holds
// the statement's tables.
type engines struct {
	files engine.Engine
	live  map[string]engine.Engine // by table, for tables on a server
	// by the policy's name of the server: the engine for statements that join tables of that server
	servers  map[string]engine.Engine
	serverOf map[string]string // by table; "" for a table sealed from a file
}

// ServerOf returns the policy's name of the server that holds a table, or "" for a table sealed from a file.
func ServerOf(t *policy.Table) string {
	if !t.Source.Live() {
		return ""
	}
	return t.Source.Local
}

func newEngines(p *policy.Policy, sealed, tmp string) *engines {
	e := &engines{
		files:    duckdb.New(sealed, tmp),
		live:     map[string]engine.Engine{},
		servers:  map[string]engine.Engine{},
		serverOf: map[string]string{},
	}
	together := map[string]map[string]policy.Source{}
	for _, t := range p.Tables {
		if !t.Source.Live() {
			continue
		}
		at := ServerOf(t)
		e.live[t.Name], e.serverOf[t.Name] = postgres.New(t.Source), at
		if together[at] == nil {
			together[at] = map[string]policy.Source{}
		}
		together[at][t.Name] = t.Source
	}
	for at, tables := range together {
		e.servers[at] = postgres.Over(tables)
	}
	return e
}

// of returns the engine that holds all tables of b. Rehearse has refused a statement whose tables are on several
// servers.
func (e *engines) of(b *bounded.Statement) engine.Engine {
	if b.Source == nil {
		return e.holding(b.Table)
	}
	if server := e.serverOf[b.Tables()[0]]; server != "" {
		return e.servers[server]
	}
	return e.files
}

// holding returns the engine that reads a table.
func (e *engines) holding(table string) engine.Engine {
	if live, ok := e.live[table]; ok {
		return live
	}
	return e.files
}

// Aggregate implements engine.Engine.
func (e *engines) Aggregate(
	ctx context.Context,
	b *bounded.Statement,
	from engine.Sealed,
) ([][]mechanism.Exact, error) {
	return e.of(b).Aggregate(ctx, b, from.For(b))
}

// Margins implements engine.Engine.
func (e *engines) Margins(
	ctx context.Context, b *bounded.Statement, keys [][]int, from engine.Sealed,
) ([][]mechanism.Exact, error) {
	return e.of(b).Margins(ctx, b, keys, from.For(b))
}

// Groups implements engine.Engine.
func (e *engines) Groups(ctx context.Context, b *bounded.Statement, from engine.Sealed) (*engine.Groups, error) {
	return e.of(b).Groups(ctx, b, from)
}

// Order implements engine.Engine.
func (e *engines) Order(ctx context.Context, b *bounded.Statement, from engine.Sealed) (mechanism.Ordered, error) {
	return e.of(b).Order(ctx, b, from)
}

// OrderCells implements engine.Engine.
func (e *engines) OrderCells(
	ctx context.Context,
	b *bounded.Statement,
	from engine.Sealed,
) (mechanism.OrderedCells, error) {
	return e.of(b).OrderCells(ctx, b, from)
}

// Rows implements engine.Engine.
func (e *engines) Rows(ctx context.Context, b *bounded.Statement, from engine.Sealed, into *mechanism.Rows) error {
	return e.of(b).Rows(ctx, b, from, into)
}

// Arrivals implements engine.Historian.
func (e *engines) Arrivals(
	ctx context.Context, b *bounded.Statement, identity []string, salt string, from engine.Sealed,
) (mechanism.Arrivals, error) {
	of, ok := e.of(b).(engine.Historian)
	if !ok {
		return mechanism.Arrivals{}, errors.New("defect: this engine cannot name rows")
	}
	return of.Arrivals(ctx, b, identity, salt, from.For(b))
}

// Values implements engine.Engine.
func (e *engines) Values(ctx context.Context, c bounded.Column, from engine.Sealed, most int) ([]value.Value, error) {
	return e.holding(from.Table).Values(ctx, c, from, most)
}

// PublicRows implements engine.Engine.
func (e *engines) PublicRows(ctx context.Context, columns []bounded.Column, from engine.Sealed, most int) ([][]value.Value, error) {
	return e.holding(from.Table).PublicRows(ctx, columns, from, most)
}

// Rehearse implements engine.Engine.
func (e *engines) Rehearse(ctx context.Context, b *bounded.Statement, from engine.Sealed) error {
	if err := e.meet(b); err != nil {
		return err
	}
	return e.of(b).Rehearse(ctx, b, from.For(b))
}

// Close implements engine.Engine.
func (e *engines) Close() error {
	err := e.files.Close()
	for _, live := range e.live {
		err = errors.Join(err, live.Close())
	}
	for _, server := range e.servers {
		err = errors.Join(err, server.Close())
	}
	return err
}
