package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// What a server says of time, memory and disk is told apart from a statement that it blames, and from a server that is
// not there.
func TestExceeds(t *testing.T) {
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	said := func(code string) error { return fmt.Errorf("rehearsing: %w", &pgconn.PgError{Code: code}) }
	for _, x := range []struct {
		ctx  context.Context
		err  error
		want bool
	}{
		{t.Context(), said("57014"), true},
		{t.Context(), said("53200"), true},
		{t.Context(), said("53100"), true},
		{t.Context(), said("22003"), false},
		{t.Context(), said("57P01"), false},
		{over, said("57P01"), false},
		{over, errors.New("read: i/o timeout"), true},
		{given, errors.New("cancelled"), false},
		{t.Context(), errors.New("connection reset"), false},
		{over, nil, false},
	} {
		if got := exceeds(x.ctx, x.err); got != x.want {
			t.Errorf("%v: %t", x.err, got)
		}
		if x.want && blames(x.err) {
			t.Errorf("%v is blamed on the statement", x.err)
		}
	}
}
