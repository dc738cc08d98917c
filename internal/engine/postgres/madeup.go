package postgres

import (
	"context"

	"dither/internal/policy"
)

// MakeUp runs statements on the server whose URL an environment variable holds. They make and drop tables of made-up
// rows for audits. No statement about real people's rows uses it.
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
