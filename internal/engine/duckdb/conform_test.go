package duckdb

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

// subject seals a script's rows into files.
type subject struct{ *bench }

func (s subject) put(t testing.TB, p *policy.Policy, rows enginetest.Tables, b *bounded.Statement) engine.Sealed {
	t.Helper()
	s.policy = p
	if b.Source == nil {
		return engine.Sealed{File: s.write(t, b.Table, rows[b.Table])}
	}
	from := engine.Sealed{Tables: map[string]engine.Sealed{}}
	for _, table := range b.Tables() {
		from.Tables[table] = engine.Sealed{File: s.write(t, table, rows[table])}
	}
	return from
}

func (s subject) Sums(
	t testing.TB, p *policy.Policy, rows enginetest.Tables, b *bounded.Statement, add func([]value.Value, []*big.Int),
) error {
	from := s.put(t, p, rows, b)
	if err := s.Rehearse(context.Background(), b, engine.Sealed{}); err != nil {
		return err
	}
	sql, err := statement(b, from)
	if err != nil {
		return err
	}
	return s.run(context.Background(), sql, collect(b, add))
}

func (s subject) Order(
	t testing.TB, p *policy.Policy, rows enginetest.Tables, b *bounded.Statement,
) (map[int64]int64, error) {
	scan, err := s.scan(context.Background(), b, s.put(t, p, rows, b))
	if err != nil {
		return nil, err
	}
	out := map[int64]int64{}
	return out, scan(func(v, n int64) bool { out[v] += n; return true })
}

// DuckDB means what the scripts say.
func TestConforms(t *testing.T) { enginetest.Conform(t, subject{newBench(t)}) }
