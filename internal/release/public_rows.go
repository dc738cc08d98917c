package release

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// Limits on the rows of a public table that a question reads whole.
const (
	MostPublicRows  = policy.MaxKeys
	mostPublicBytes = 16 << 20
)

// Reasons why the rows of a public table are not read whole.
var (
	ErrManyRows = fmt.Errorf("it has more than %d rows, or too long texts", MostPublicRows)
	ErrInPlace  = errors.New("it is on a server, and its rows may change: ask the owner to seal it with --copy")
)

// publicRows caches the rows of public tables, which are read once for each sealed version.
type publicRows struct {
	mu    sync.Mutex
	known map[string]versionRows
}

type versionRows struct {
	version int
	rows    [][]value.Value
}

// PublicRows returns the cleaned rows of a public table's newest sealed version, with a value for each column of the policy,
// in an order that depends on the rows alone. A public table has no unit: its rows are not secret, so they have no noise, no
// price and no entry in the ledger. The table must be public: PublicRows refuses any other as a defect.
func (k *Kernel) PublicRows(table string) ([][]value.Value, error) {
	t := k.policy.Table(table)
	if t == nil || !t.Public {
		return nil, fmt.Errorf("defect: rows of a table that is not public")
	}
	v, err := k.Current(table)
	if err != nil {
		return nil, err
	}
	if v.Live && v.Copy == nil {
		return nil, ErrInPlace
	}
	k.rows.mu.Lock()
	defer k.rows.mu.Unlock()
	if known, ok := k.rows.known[table]; ok && known.version == v.Number {
		return known.rows, nil
	}
	rows, err := k.readPublicRows(t, v)
	if errors.Is(err, ErrManyRows) || errors.As(err, new(*seal.DamagedError)) {
		return nil, err
	}
	if err != nil {
		k.tellOwner(err)
		return nil, ErrUnread
	}
	if k.rows.known == nil {
		k.rows.known = map[string]versionRows{}
	}
	k.rows.known[table] = versionRows{v.Number, rows}
	return rows, nil
}

func (k *Kernel) readPublicRows(t *policy.Table, v seal.Version) ([][]value.Value, error) {
	ctx, release, err := k.holdPublic(v)
	if err != nil {
		return nil, err
	}
	defer release()
	columns := make([]bounded.Column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = bounded.PublicColumn(c)
	}
	rows, err := k.engine.PublicRows(ctx, columns, k.known(v), MostPublicRows+1)
	if err != nil {
		return nil, err
	}
	bytes := 0
	for _, row := range rows {
		for _, x := range row {
			bytes += len(x.Text)
		}
	}
	if len(rows) > MostPublicRows || bytes > mostPublicBytes {
		return nil, ErrManyRows
	}
	slices.SortFunc(rows, func(a, b []value.Value) int { return slices.CompareFunc(a, b, value.Compare) })
	return rows, nil
}
