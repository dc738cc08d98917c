package postgres

import (
	"context"

	"dither/internal/policy"
)

// MakeUp runs statements on the server whose URL an environment variable holds. They make tables of made-up rows for
// audits, and drop them: no statement about anybody's rows comes this way.
func MakeUp(ctx context.Context, variable, sql string) error {
	config, err := configure(policy.Source{Format: policy.Postgres, URLEnv: variable})
	if err != nil {
		return err
	}
	s, err := connect(ctx, config)
	if err != nil {
		return err
	}
	defer s.end()
	return s.run(ctx, sql)
}
