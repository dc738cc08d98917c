package postgres

import (
	"context"
	"math/big"
	"testing"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// subject puts a script's rows into tables of one database.
type subject struct{ *bench }

func (s subject) put(t testing.TB, p *policy.Policy, rows []enginetest.Row, b *plan.Bounded) {
	t.Helper()
	s.policy = p
	s.exec(t, "DROP TABLE IF EXISTS "+identifier(b.Table)+"; "+s.create(p.Table(b.Table), nil))
	s.write(t, b.Table, rows)
}

func (s subject) Sums(t testing.TB, p *policy.Policy, rows []enginetest.Row, b *plan.Bounded, add func([]value.Value, []*big.Int)) error {
	s.put(t, p, rows, b)
	if err := s.engine(b.Table).Rehearse(context.Background(), b, engine.Sealed{}); err != nil {
		return err
	}
	return s.engine(b.Table).sums(context.Background(), b, engine.Sealed{}, add)
}

func (s subject) Order(t testing.TB, p *policy.Policy, rows []enginetest.Row, b *plan.Bounded) (map[int64]int64, error) {
	s.put(t, p, rows, b)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scan, err := s.engine(b.Table).scan(ctx, b, engine.Sealed{})
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
