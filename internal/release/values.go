package release

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// publicValues caches the values of public tables' columns, which are read once for each sealed version.
type publicValues struct {
	mu    sync.Mutex
	known map[policy.Origin][]value.Value
}

// Reasons why the values of a public table's column are not known.
var (
	ErrUnread   = errors.New("its sealed version is unreadable")
	ErrNotNoted = errors.New(
		"that table is on a server, and was sealed before the policy used its values, or under an earlier " +
			"declaration: seal it again",
	)
)

// Values returns the values of a public table's column, and the version that they are from.
func (k *Kernel) Values(o policy.Origin) ([]value.Value, int, error) {
	t := k.policy.Table(o.Table)
	if t == nil || !t.Public || t.Column(o.Column) == nil {
		return nil, 0, fmt.Errorf("defect: values of a column that is not public")
	}
	table, err := k.Current(o.Table)
	if err != nil {
		return nil, 0, err
	}
	o.Version, o.Trouble = table.Number, ""
	k.values.mu.Lock()
	defer k.values.mu.Unlock()
	if values, ok := k.values.known[o]; ok {
		return values, o.Version, nil
	}
	values, err := k.readValues(table, t.Column(o.Column))
	if errors.Is(err, ErrNotNoted) || errors.As(err, new(*seal.DamagedError)) {
		return nil, 0, err
	}
	if err != nil {
		k.tellOwner(err)
		return nil, 0, ErrUnread
	}
	if k.values.known == nil {
		k.values.known = map[policy.Origin][]value.Value{}
	}
	k.values.known[o] = values
	return values, o.Version, nil
}

// readValues reads the values of a column from a sealed version. For a live table read in place, it returns the
// values that sealing recorded. Releases about a version are decoded by its values, and the table's values may have
// changed since.
func (k *Kernel) readValues(v seal.Version, column *policy.Column) ([]value.Value, error) {
	if v.Live && v.Copy == nil {
		values, noted, err := seal.Values(v, column)
		if err == nil && !noted {
			err = ErrNotNoted
		}
		return values, err
	}
	if values, ok := kept(v, column); ok {
		return values, nil
	}
	ctx, release, err := k.holdPublic(v)
	if err != nil {
		return nil, err
	}
	defer release()
	values, err := k.engine.Values(ctx, bounded.PublicColumn(column), k.known(v), policy.MaxKeys+1)
	if err == nil {
		keep(v, column, values)
	}
	return values, err
}

// holdPublic holds a sealed version of a public table. The context ends after DefaultTimeout, because no question's limit
// applies to rows that are kept for all of them. The caller must call release.
func (k *Kernel) holdPublic(v seal.Version) (ctx context.Context, release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), DefaultTimeout)
	held, err := k.hold(ctx, []seal.Version{v})
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return ctx, func() { held(); cancel() }, nil
}
