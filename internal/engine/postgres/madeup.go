package postgres

import (
	"context"

	"dither/internal/policy"
)

// MakeUp runs SQL statements on the server whose URL the environment variable holds. Audits use it to create and
// drop tables of made-up rows. It is never used for rows about real people.
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
