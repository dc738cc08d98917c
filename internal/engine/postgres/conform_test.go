package postgres

import (
	"context"
	"math/big"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/policy"
	"dither/internal/value"
)

// subject puts a script's rows into tables of one database.
type subject struct{ *bench }

// put gives the engine that the question is for, and what it is asked of.
func (s subject) put(
	t testing.TB, p *policy.Policy, rows enginetest.Tables, b *bounded.Statement,
) (*Engine, engine.Sealed) {
	t.Helper()
	s.policy = p
	tables, from := map[string]policy.Source{}, engine.Sealed{Tables: map[string]engine.Sealed{}}
	for _, table := range b.Tables() {
		s.exec(t, "DROP TABLE IF EXISTS "+identifier(table)+"; "+s.create(p.Table(table), nil))
		s.write(t, table, rows[table])
		tables[table], from.Tables[table] = source(table), engine.Sealed{}
	}
	if b.Source == nil {
		return s.engine(b.Table), engine.Sealed{}
	}
	e := Over(tables)
	t.Cleanup(func() { _ = e.Close() })
	return e, from
}

func (s subject) Sums(
	t testing.TB, p *policy.Policy, rows enginetest.Tables, b *bounded.Statement, add func([]value.Value, []*big.Int),
) error {
	e, from := s.put(t, p, rows, b)
	if err := e.Rehearse(context.Background(), b, from); err != nil {
		return err
	}
	return e.sums(context.Background(), b, from, add)
}

func (s subject) Order(
	t testing.TB, p *policy.Policy, rows enginetest.Tables, b *bounded.Statement,
) (map[int64]int64, error) {
	e, from := s.put(t, p, rows, b)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scan, err := e.scan(ctx, b, from)
	if err != nil {
		return nil, err
	}
	out := map[int64]int64{}
	return out, scan(func(v, n int64) bool { out[v] += n; return true })
}

// PostgreSQL means what the scripts say.
func TestConforms(t *testing.T) {
	enginetest.Conform(t, subject{emptyBench(t, enginetest.PolicyText("add-remove"))})
}
